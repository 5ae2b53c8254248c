import Clients
import EventLog
import Foundation
import Projections
import TestSupport

/// Two builds of the program, which must read random streams of one app as the same states, byte for byte.
///
/// A batch is a log with many streams, each from a source of its own that bears its seed. Starting a process takes longer than
/// reading a stream.
struct ProgramComparison {
    let old: URL
    let new: URL
    let app: String
    /// The events of the app's scenarios, which the streams are made of.
    let lists: [[RecordedEvent]]
    /// What comes between the halves of the streams, so that states are kept there.
    private let filler: [DraftEvent]
    /// The clients whose readings are compared as well; the first two of the app.
    private let profiles: [Profile]

    init(old: URL, new: URL, app: String, lists: [[RecordedEvent]]) throws {
        (self.old, self.new, self.app, self.lists) = (old, new, app, lists)
        filler = try Self.plainFrames()
        profiles = Array(Profile.allCases.filter { $0.rawValue.hasPrefix(app + "-") }.prefix(2))
    }

    /// Compares the streams of these seeds; says where the programs first differ, with the least seed that shows it alone.
    func firstDifference(_ seeds: Range<UInt64>) throws -> String? {
        guard let difference = try difference(seeds) else { return nil }
        guard seeds.count > 1 else { return "\(app), seed \(seeds.lowerBound): \(difference)" }
        let middle = seeds.lowerBound + UInt64(seeds.count / 2)
        return try firstDifference(seeds.lowerBound..<middle) ?? firstDifference(middle..<seeds.upperBound)
            ?? "\(app), seeds \(seeds.lowerBound) to \(seeds.upperBound - 1) together: \(difference)"
    }

    private func difference(_ seeds: Range<UInt64>) throws -> String? {
        let directory = try TemporaryDirectory()
        let streams = seeds.map { drafts(of: $0) }
        try write(streams.flatMap { $0 }, to: directory.path("streams"))
        let halves = [true, false].map { isFirst in
            streams.flatMap { isFirst ? $0.prefix($0.count / 2) : $0.dropFirst($0.count / 2) }
        }
        try write(halves[0] + filler + halves[1], to: directory.path("filled"))
        for log in ["streams", "filled"] {
            for arguments in log == "streams" ? commands : keptCommands {
                if let found = try difference(arguments, log, in: directory) { return found }
            }
        }
        return nil
    }

    /// One stream; every second one has payloads with faults in their bytes.
    private func drafts(of seed: UInt64) -> [DraftEvent] {
        EventStream(of: lists, seed: seed, mutatingBytes: seed.isMultiple(of: 2)).events
            .map { $0.renamed(source: "seed-\(seed)").draft }
    }

    /// More than twice as many plain frames as lie between two kept states. They are so long that a state is worth keeping.
    private static func plainFrames() throws -> [DraftEvent] {
        let text = String(repeating: "tea and cake ", count: 40)
        let (source, kind) = (try SourceName("filler"), try EventKind("gateway.frame/1"))
        return (1...45_000).map { number in
            let frame =
                #"{"op":0,"s":\#(number),"t":"MESSAGE_CREATE","d":{"id":"\#(1000 + number)","channel_id":"\#(1 + number % 20)","#
                + #""author_id":"7","author_username":"ada","content":"\#(text)","created_at":"2026-01-01T00:00:00Z"}}"#
            return DraftEvent(
                recordedAt: Timestamp(seconds: 1_767_225_600),
                source: source,
                kind: kind,
                attributes: ["dir": "in"],
                payload: Array(frame.utf8)
            )
        }
    }

    private func write(_ drafts: [DraftEvent], to path: String) throws {
        let store = try EventStore.openOrCreate(at: path)
        _ = try store.append(drafts)
    }
}

// MARK: - What the programs are asked

extension ProgramComparison {
    /// From the first event on, and again once the log is compacted.
    private var commands: [[String]] {
        let readings = [[]] + profiles.map { ["--profile", $0.rawValue] }
        let questions = [["--digest", "--each"], ["--json"]]
        let replays = readings.flatMap { reading in
            questions.map { ["replay", "LOG", "--no-snapshots", "-q"] + $0 + reading }
        }
        return replays + [["compact", "LOG", "--keep", "2", "-q"]] + replays
    }

    /// The first replay keeps states, the later ones begin from them.
    private var keptCommands: [[String]] {
        let replay = ["replay", "LOG", "-q"]
        return [
            replay + ["--digest"], replay + ["--json"], replay + ["--digest", "--at", "head~10"],
            ["compact", "LOG", "--keep", "20", "-q"], replay + ["--json"],
        ]
    }

    /// Asks both programs, each about a copy of its own of the log. A program that fails differs, too: no question is wrong.
    private func difference(_ arguments: [String], _ log: String, in directory: TemporaryDirectory) throws -> String? {
        let question = "\(arguments.joined(separator: " ")) of \(log)"
        var outputs: [String] = []
        for (name, program) in [("old", old), ("new", new)] {
            let copy = "\(log)-\(name)"
            if !FileManager.default.fileExists(atPath: directory.path(copy)) {
                try FileManager.default.copyItem(atPath: directory.path(log), toPath: directory.path(copy))
            }
            let run = try ToolRun.run(arguments.map { $0 == "LOG" ? copy : $0 }, in: directory, program: program)
            guard run.exitCode == 0 else { return "\(question): \(name) exits with \(run.exitCode)\n\(run.errors)" }
            if arguments == keptCommands.first, !keptStates(of: copy, in: directory) {
                throw NoKeptState(program: program.path)
            }
            outputs.append(run.output)
        }
        // The report of a compaction tells sizes of files, which builds may lay out in different ways.
        guard arguments.first != "compact", !outputs[0].utf8.elementsEqual(outputs[1].utf8) else { return nil }
        return "\(question)\n" + Self.firstDifference(of: outputs[0], outputs[1])
    }

    /// Whether the derived data of a log are as large as only a kept state makes them.
    private func keptStates(of log: String, in directory: TemporaryDirectory) -> Bool {
        let file = directory.path("\(log)/cache-000001/data.mdb")
        let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
        return size ?? 0 > 1 << 20
    }

    /// A program kept no state, so that the later questions do not show whether it loads one.
    struct NoKeptState: Error {
        let program: String
    }

    /// The first line that differs, and of a long line the part around the difference.
    private static func firstDifference(of old: String, _ new: String) -> String {
        let lines = [old, new].map { $0.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) }
        let line = zip(lines[0], lines[1]).prefix { $0.elementsEqual($1) }.count
        let texts = lines.map { line < $0.count ? Array($0[line]) : [] }
        let place = zip(texts[0], texts[1]).prefix { $0 == $1 }.count
        let parts = texts.map { String(decoding: $0.dropFirst(max(0, place - 80)).prefix(200), as: UTF8.self) }
        return "line \(line + 1), byte \(place + 1)\nold: \(parts[0])\nnew: \(parts[1])"
    }
}
