import ArgumentParser
import EventLog
import Foundation

/// A replay of each kind of traffic, in a process of its own, beside a Python script (`families.py`) that keeps the same events in
/// dictionaries (`json.loads` and `dict.update`) or folds them to the same messages, beside JSON readers that drop what they read,
/// and beside itself with a quarter of the events. Processor time of whole processes.
struct FamiliesBenchmark {
    let count: Int
    let scratch: Scratch
    /// The logtool that replays.
    let program: String?

    func run() throws -> [Figure] {
        guard let program else { throw ValidationError("families needs --program, a logtool") }
        let traffic = Traffic.allCases.filter { $0 != .general }
        return try traffic.flatMap { try figures(of: $0, program) } + decoded(program) + commits(program)
    }

    /// A chat whose frames a decoder file reads, beside the built-in decoder, which reads each of them on its general way, and beside
    /// a Python script that folds them.
    ///
    /// - Throws: `ValidationError` unless script and replay have the same messages.
    private func decoded(_ program: String) throws -> [Figure] {
        let traffic = Traffic.general
        let count = max(500, count / traffic.share)
        let capture = scratch.fresh("capture.ndjson")
        try traffic.write(count, to: capture)
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Fixtures/decoders/retrocast.decoder.yaml").standardizedFileURL.path
        let (log, builtIn) = (scratch.fresh("family.eventlog"), scratch.fresh("family.eventlog"))
        _ = try use(program, ["ingest", log, "capture", capture, "--kind", "ws", "--decoder", file, "-q"])
        _ = try use(program, ["ingest", builtIn, "capture", capture, "--kind", traffic.kind, "-q"])
        let state = scratch.fresh("state.json")
        _ = try Child.use(program, ["replay", log, "--json", "--no-snapshots", "-q"], output: state)
        _ = try use("python3", [FamilyLog.script, FamilyLog.foldingPeer, capture, state])
        try? FileManager.default.removeItem(atPath: state)
        let family = FamilyLog(
            name: "chat, by a decoder file",
            log: log,
            count: count,
            peer: (FamilyLog.foldingPeer, capture),
            goal: 2,
            builtIn: builtIn,
            held: nil,
            program: program,
            scratch: scratch
        )
        defer { family.remove() }
        return try family.figures()
    }

    private func figures(of traffic: Traffic, _ program: String) throws -> [Figure] {
        let count = max(500, count / traffic.share)
        let capture = scratch.fresh("capture.ndjson")
        try traffic.write(count, to: capture)
        let log = scratch.fresh("family.eventlog")
        _ = try use(program, ["ingest", log, "capture", capture, "--kind", traffic.kind, "-q"])
        let family = FamilyLog(
            name: traffic.rawValue,
            log: log,
            count: count,
            peer: (traffic.kind, capture),
            goal: traffic.goal,
            held: traffic.held,
            program: program,
            scratch: scratch
        )
        defer { family.remove() }
        return try family.figures()
    }

    /// A branch on which each commit changes the file of one chat message.
    private func commits(_ program: String) throws -> [Figure] {
        let count = max(500, min(50_000, count / 20))
        let repository = try GitIngestBenchmark(commits: count, scratch: scratch).makeRepository()
        let log = scratch.fresh("family.eventlog")
        _ = try use(program, ["ingest", log, "git", repository, "--branch", "vibechannel", "-q"])
        let payloads = scratch.fresh("payloads.ndjson")
        try writePayloads(of: log, to: payloads)
        let family = FamilyLog(
            name: "git commits",
            log: log,
            count: count,
            peer: ("git", payloads),
            goal: nil,
            rateGoal: 60_000,
            held: .commits,
            program: program,
            scratch: scratch
        )
        defer { family.remove() }
        return try family.figures()
    }

    /// Writes the payloads of a log, a line each: the Python script reads the recorded commits, not the repository.
    private func writePayloads(of log: String, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try EventStore.open(at: log).read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                try file.write(contentsOf: event.withPayload { Data($0) } + Data("\n".utf8))
                return true
            }
        }
        try file.close()
    }

    private func use(_ program: String, _ arguments: [String]) throws -> Child.Usage {
        try Child.use(program, arguments, output: scratch.file("out"))
    }
}
