#if Recorders
import EventLog
import Foundation
import Logging
import NIOCore
import Synchronization
import TestSupport

@testable import Ingest

/// A log of one test and runs of live sources on it, through the machinery that logtool uses.
final class LiveBench: Sendable {
    let log: TemporaryLog
    let tools: LiveTools
    /// What the recorders waited for, in order.
    let waits: Waits
    let messages = LogCatcher()

    /// Everything that a test's recorders wait for is over at once.
    final class Waits: Sendable {
        private let list = Mutex<[Duration]>([])
        var all: [Duration] { list.withLock { $0 } }
        func add(_ duration: Duration) { list.withLock { $0.append(duration) } }
    }

    /// - Parameters:
    ///   - log: a log that is there already; `nil` for an empty one.
    ///   - time: what all waiting and every look at the time goes by; without it nobody looks whether something came.
    init(
        trustFile: String? = nil,
        log: TemporaryLog? = nil,
        time: SteppedTime? = nil,
        now: (@Sendable () -> Timestamp)? = nil
    ) throws {
        self.log = try log ?? TemporaryLog()
        let waits = Waits()
        self.waits = waits
        let start = ContinuousClock.now
        let wallClock: @Sendable () -> Timestamp = {
            Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
        }
        let sinceStart: @Sendable () -> Duration = { ContinuousClock.now - start }
        var clock = LiveClock(
            now: now ?? time?.now ?? wallClock,
            elapsed: time?.elapsed ?? sinceStart,
            sleep: { duration in
                waits.add(duration)
                try Task.checkCancellation()
                time?.pass(duration)
                try await Task.sleep(for: .milliseconds(1))
            }
        )
        clock.tick = { duration in
            guard let time else { return try await Task.sleep(for: .seconds(3_600)) }
            time.pass(duration)
            try await Task.sleep(for: .milliseconds(1))
        }
        let catcher = messages
        tools = LiveTools(
            clock: clock,
            random: { 0 },
            // A server of a test may wait long for its turn among thousands of tests.
            http: try HTTPAccess(trustFile: trustFile, readTimeout: .minutes(10)),
            log: Logger(label: "test") { _ in catcher }
        )
    }

    /// Records until the source ends by itself.
    @discardableResult
    func record(_ source: any LiveSource) async throws -> IngestSummary {
        try await LiveRecorder.record(source, into: log.store, with: tools)
    }

    /// Records until a condition on the log holds, then cancels.
    @discardableResult
    func record(_ source: any LiveSource, until condition: @escaping ([RecordedEvent]) -> Bool) async throws
        -> IngestSummary
    {
        let task = Task { try await record(source) }
        for _ in 0..<Self.turnsMax {
            if condition(try log.events()) { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        task.cancel()
        return try await task.value
    }

    func stop() async {
        try? await tools.http.shutdown()
    }

    /// The log as a kill leaves it now: another log with the same events and bookmark.
    func killed(_ source: SourceName) throws -> TemporaryLog {
        let copy = try TemporaryLog()
        let drafts = try events().map { event in
            let envelope = event.envelope
            return DraftEvent(
                recordedAt: envelope.recordedAt,
                source: envelope.source,
                kind: envelope.kind,
                key: envelope.key,
                attributes: envelope.attributes,
                payload: event.payload
            )
        }
        let bookmark = try log.store.read { try $0.bookmark(of: source) }
        _ = try copy.store.append(drafts, bookmark: bookmark.map { Bookmark(source: source, bytes: $0) })
        return copy
    }

    /// The bookmark of a source, as text.
    func bookmark(_ source: SourceName) throws -> String {
        String(decoding: try log.store.read { try $0.bookmark(of: source) } ?? [], as: UTF8.self)
    }

    /// How often a condition is looked at before it is given up. Counted and not timed: while other tests hold all threads,
    /// nothing here goes on.
    private static let turnsMax = 20_000

    func events() throws -> [RecordedEvent] { try log.events() }

    /// Payloads of a kind, as text.
    func texts(_ kind: String) throws -> [String] {
        try events().filter { $0.kind == kind }.map(\.text)
    }

    /// Everything in the log and in the messages, to look for secrets in.
    func everything() throws -> String {
        let events = try events().map { "\($0.key) \($0.envelope.attributes) \($0.text)" }
        return (events + messages.all).joined(separator: "\n")
    }
}

/// A time that goes on by what is waited for, and by a second with each look at it.
final class SteppedTime: Sendable {
    private let state = Mutex((now: Int64(1_000_000), elapsed: Duration.zero))

    var now: @Sendable () -> Timestamp {
        { [self] in
            state.withLock { state in
                state.now += 1
                return Timestamp(seconds: state.now)
            }
        }
    }

    var elapsed: @Sendable () -> Duration { { [self] in state.withLock { $0.elapsed } } }

    func pass(_ duration: Duration) {
        state.withLock { state in
            state.now += duration.components.seconds
            state.elapsed += duration
        }
    }
}

/// Keeps the pieces that a source hands over; stores nothing.
final class CollectingSink: PieceSink {
    private let batches = Mutex<[SourceBatch]>([])

    var items: [SourceItem] { batches.withLock { $0.flatMap(\.items) } }
    var takenCount: UInt64 { batches.withLock { $0.reduce(0) { $0 + UInt64($1.count) } } }

    func take(_ pieces: SourceBatch) async throws { batches.withLock { $0.append(pieces) } }
    func flush() async throws {}
    func renewBookmark(ifTaken count: UInt64, _ renewed: ([UInt8]) -> [UInt8]?) {}
}

/// Keeps what is logged.
final class LogCatcher: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }

    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    func log(event: LogEvent) {
        lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}
#endif
