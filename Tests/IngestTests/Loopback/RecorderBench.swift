#if Recorders
import EventLog
import Foundation
import Logging
import Synchronization
import TestSupport

@testable import Ingest

/// A log of one test, ports that write into it, and runs of a recorder on them.
final class RecorderBench: Sendable {
    let log: TemporaryLog
    let source: SourceName
    /// The wall clock's error, for tests that step it.
    let clockOffset = Mutex<Int64>(0)
    private let time: CountedTime

    /// - Parameter speed: how much faster than the world the recorder's waiting goes.
    init(source: String = "chat", speed: Double = 50) throws {
        log = try TemporaryLog()
        self.source = try SourceName(source)
        time = CountedTime(speed: speed)
    }

    /// What a run's waiting goes by.
    private var clock: LiveClock {
        let start = ContinuousClock.now
        var clock = LiveClock(
            now: { [self] in
                let time = Date().timeIntervalSince1970 * 1e6
                return Timestamp(microseconds: Int64(time) + clockOffset.withLock { $0 })
            },
            elapsed: { [time] in time.elapsed },
            sleep: { [time] in try await time.sleep(for: $0) }
        )
        clock.steady = { ContinuousClock.now - start }
        return clock
    }

    /// Records a source in a task of its own, as one process would, until that is cancelled.
    func start(_ source: any LiveSource, trustFile: String? = nil) throws -> Task<IngestSummary, any Error> {
        let http = try HTTPAccess(trustFile: trustFile)
        let tools = LiveTools(clock: clock, random: UnitRandom(seed: 1).next, http: http, log: Logger(label: "test"))
        return Task { [log] in
            let result: Result<IngestSummary, any Error>
            do {
                result = .success(try await LiveRecorder.record(source, into: log.store, with: tools))
            } catch {
                result = .failure(error)
            }
            try await http.shutdown()
            return try result.get()
        }
    }

    /// Records a source while a body runs, then stops as a signal would.
    func record(_ source: any LiveSource, trustFile: String? = nil, _ body: () async throws -> Void) async throws {
        let task = try start(source, trustFile: trustFile)
        defer { task.cancel() }
        try await body()
        task.cancel()
        _ = try await task.value
    }

    /// Every event of the log.
    func events() throws -> [RecordedEvent] { try log.events() }

    /// Returns the events once they fulfil a condition.
    @discardableResult
    func wait(until condition: ([RecordedEvent]) -> Bool) async throws -> [RecordedEvent] {
        while true {
            let events = try events()
            if condition(events) { return events }
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

extension RecordedEvent {
    var text: String { String(decoding: payload, as: UTF8.self) }
    var kind: String { envelope.kind.rawValue }
    var key: String { envelope.key?.rawValue ?? "" }
    func attribute(_ name: String) -> String? { envelope.attributes[name] }
}
#endif
