#if Recorders
import EventLog
import Foundation
import Ingest
import Logging
import Synchronization

/// Frames that come steadily, 2,000 a second, recorded from one source and from five: the bytes that reach the disk for a
/// frame, the commits, and the time from the arrival of a commit's first frame until it is durable, of 99 commits in 100.
struct SteadyBenchmark {
    let count: Int
    let scratch: Scratch
    private static let framesPerSecond = 2_000

    func run() async throws -> [Figure] {
        try await measure(sources: 1) + measure(sources: 5)
    }

    private func measure(sources: Int) async throws -> [Figure] {
        let path = scratch.fresh("steady.eventlog")
        let store = try EventStore.openOrCreate(at: path)
        let http = try HTTPAccess()
        let tools = LiveTools(
            clock: .machine(now: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }),
            random: { 0.5 },
            http: http,
            log: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        )
        let share = count / sources
        let watch = ArrivalWatch()
        let before = try (written: Self.writtenBytes(), commits: Self.lastTransaction(of: path))
        try await withThrowingTaskGroup { group in
            for number in 0..<sources {
                let source = try SteadySource(
                    name: SourceName("steady-\(number)"),
                    count: share,
                    pause: .seconds(1) * sources / Self.framesPerSecond,
                    watch: watch
                )
                group.addTask {
                    _ = try await LiveRecorder.record(source, into: store, with: tools) { summary in
                        watch.durable(summary.appended, of: source.name)
                    }
                }
            }
            try await group.waitForAll()
        }
        let written = try Double(Self.writtenBytes() - before.written)
        let commits = try Double(Self.lastTransaction(of: path) - before.commits)
        try await http.shutdown()
        let frames = share * sources
        let label = "\(Self.framesPerSecond) frames/s from \(sources) source\(sources == 1 ? "" : "s")"
        let seconds = Double(frames) / Double(Self.framesPerSecond)
        return [
            Figure("\(label), bytes written for each", events: frames, found: written / Double(frames), allowed: 2_048),
            Figure("\(label), ms until durable, of 99 in 100", events: frames, found: watch.milliseconds, allowed: 50),
            Figure("\(label), commits a second", events: frames, found: commits / seconds, allowed: 100),
        ]
    }

    /// The bytes of pages that this process has had written, or has still to be written, to a disk.
    private static func writtenBytes() throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("write_bytes: ") }
        return line.flatMap { Int($0.dropFirst(13)) } ?? 0
    }

    /// The number of the last commit of a log of one generation: the greater of those in the two meta pages.
    private static func lastTransaction(of path: String) throws -> UInt64 {
        let file = try FileHandle(forReadingFrom: URL(filePath: "\(path)/gen-000001/data.mdb"))
        defer { try? file.close() }
        let bytes = [UInt8](try file.read(upToCount: 8_192) ?? Data())
        return [144, 4_096 + 144].map { start in
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }.max() ?? 0
    }
}

/// A source whose frames come at equal intervals, each taken by itself as a socket's are.
private struct SteadySource: LiveSource {
    let name: SourceName
    let count: Int
    let pause: Duration
    let watch: ArrivalWatch

    func run(_ recording: Recording) async throws {
        let content = String(repeating: "tea at 4 ", count: 27)
        let text = #"{"op":0,"t":"MESSAGE_CREATE","s":1,"d":{"content":"\#(content)"}}"#
        let payload = Array(text.utf8)
        let start = ContinuousClock.now
        for number in 0..<count {
            try await Task.sleep(until: start + pause * number, tolerance: .zero, clock: .continuous)
            let draft = DraftEvent(
                recordedAt: recording.clock.now(),
                source: name,
                kind: EventKind("gateway.frame/1" as StaticString),
                key: try EventKey("c1/\(number + 1)"),
                attributes: ["connection": "c1", "dir": "in"],
                payload: payload
            )
            watch.arrived(at: name)
            try await recording.append([.draft(draft, bookmark: Array("c1/\(number + 1)".utf8))])
        }
    }
}

/// When frames came, and how long it took until the first one of each commit was durable.
private final class ArrivalWatch: Sendable {
    private struct State {
        var arrivals: [SourceName: [ContinuousClock.Instant]] = [:]
        var durable: [SourceName: Int] = [:]
        var delays: [Duration] = []
    }

    private let state = Mutex(State())

    func arrived(at source: SourceName) {
        state.withLock { $0.arrivals[source, default: []].append(.now) }
    }

    func durable(_ count: Int, of source: SourceName) {
        state.withLock { state in
            let first = state.durable.updateValue(count, forKey: source) ?? 0
            guard count > first, let arrival = state.arrivals[source]?[first] else { return }
            state.delays.append(.now - arrival)
        }
    }

    /// The time that 99 of 100 commits did not exceed.
    var milliseconds: Double {
        state.withLock { state in
            let sorted = state.delays.sorted()
            return sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100] / .milliseconds(1)
        }
    }
}
#endif
