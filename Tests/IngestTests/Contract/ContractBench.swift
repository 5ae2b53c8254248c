#if Recorders
import EventLog
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// Runs recorders of one remote, each as one process would, and sees to it that nothing is left of them.
final class ContractBench: Sendable {
    let remote: any ContractRemote
    private let messages = LogCatcher()
    private let errors = Mutex<[String]>([])

    init(_ remote: any ContractRemote) {
        self.remote = remote
    }

    /// Records until the source ends by itself, or is stopped.
    ///
    /// Returns once the connections that the recorder lived in are closed, and all that it kept is gone.
    @discardableResult
    func run(
        _ store: EventStore,
        follows: Bool = false,
        stop: StopSignal = StopSignal()
    ) async throws -> IngestSummary {
        let isGone = Gate()
        let result = try await runOnce(store, follows: follows, stop: stop, isGone)
        await isGone.pass()
        return try result.get()
    }

    private func runOnce(
        _ store: EventStore,
        follows: Bool,
        stop: StopSignal,
        _ isGone: Gate
    ) async throws -> Result<IngestSummary, any Error> {
        let http = try HTTPAccess()
        let task = start(try remote.source(follows: follows), store, http, stop, Lease(isGone))
        stop.attach(task)
        let result = await task.result
        stop.gate?.open()
        if remote.isConnected { await remote.activity.waitUntilAllAreClosed() }
        try await http.shutdown()
        await remote.activity.waitUntilAllAreClosed()
        if case .failure(let error) = result {
            errors.withLock { $0 += ["\(error)", String(reflecting: error)] }
        }
        return result
    }

    private func start(
        _ source: any LiveSource,
        _ store: EventStore,
        _ http: HTTPAccess,
        _ stop: StopSignal,
        _ lease: Lease
    ) -> Task<IngestSummary, any Error> {
        let tools = tools(http, stop, lease)
        return Task {
            try await LiveRecorder.record(source, into: store, with: tools) { stop.appended($0.appended) }
        }
    }

    private func tools(_ http: HTTPAccess, _ stop: StopSignal, _ lease: Lease) -> LiveTools {
        let messages = messages
        return LiveTools(
            clock: Self.clock(stop, lease),
            random: { 0 },
            http: http,
            log: Logger(label: "test") { _ in messages }
        )
    }

    /// A clock whose waits are 20 times as short as in the world.
    private static func clock(_ stop: StopSignal, _ lease: Lease) -> LiveClock {
        LiveClock(
            now: {
                let step = stop.clockWasRead()
                return Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6) - step)
            },
            elapsed: { lease.time.elapsed },
            sleep: { duration in
                _ = stop.clockWasRead()
                try await lease.time.sleep(for: duration)
            }
        )
    }

    /// What an uninterrupted run hands over.
    struct Whole {
        let source: SourceName
        /// Events with their bookmarks.
        let items: [SourceItem]
        /// The remote's own bytes, in order.
        let own: [[UInt8]]
        /// How many events hold them.
        let eventCount: Int

        /// Appends the first so many events as one run that was killed.
        @discardableResult
        func append(to log: TemporaryLog, count: Int = .max) throws -> IngestSummary {
            let recorder = try Recorder(store: log.store, source: source)
            for item in items.prefix(count) { try recorder.accept(item) }
            return try recorder.finish()
        }
    }

    /// One run without interruption.
    func whole() async throws -> Whole {
        let items = try await items()
        let log = try TemporaryLog()
        let name = try remote.source(follows: false).name
        try Whole(source: name, items: items, own: [], eventCount: 0).append(to: log)
        let events = try log.events()
        let count = events.count { remote.kinds.contains($0.kind) }
        return Whole(source: name, items: items, own: own(events), eventCount: count)
    }

    private func items() async throws -> [SourceItem] {
        let sink = CollectingSink()
        let source = try remote.source(follows: false)
        let http = try HTTPAccess()
        let tools = tools(http, StopSignal(), Lease(Gate()))
        try await source.run(Recording(source.name, history: .empty, tools: tools, sink: sink))
        try await http.shutdown()
        return sink.items
    }
}

// MARK: - What must hold

extension ContractBench {
    /// The remote's own bytes in a log, in order.
    func own(_ events: [RecordedEvent]) -> [[UInt8]] {
        events.filter { remote.kinds.contains($0.kind) }.flatMap { remote.own($0) }
    }

    /// That a log is whole: verified, nothing of the truth missing, nothing twice under one key, every gap closed but one
    /// that began after all of it, and no secret anywhere.
    func expectWhole(_ log: TemporaryLog, _ context: Comment) throws {
        let events = try log.events()
        #expect(try log.store.verify().isIntact, context)
        let texts = own(events).map { String(decoding: $0, as: UTF8.self) }
        for truth in remote.truths { #expect(texts.contains { $0.contains(truth) }, "\(truth) is missing: \(context)") }
        let keys = events.map(\.key).filter { !$0.isEmpty }
        #expect(Set(keys).count == keys.count, context)
        #expect(!keys.contains { $0.contains("~") }, context)
        expectGapsClosed(events, context)
        expectNoSecret(events, context)
    }

    private func expectGapsClosed(_ events: [RecordedEvent], _ context: Comment) {
        let last = events.lastIndex { remote.kinds.contains($0.kind) && !remote.own($0).isEmpty } ?? 0
        for (place, event) in events.enumerated() where event.attribute("gap") == "open" && place < last {
            let isClosed = events.contains { $0.key == "\(event.key)/closed" }
            #expect(isClosed, "\(event.key) \(event.text) is open: \(context)")
        }
    }

    /// That no secret stands in the log, in what was logged or in what was thrown.
    func expectNoSecret(_ events: [RecordedEvent], _ context: Comment) {
        let texts = events.map { "\($0.key) \($0.envelope.attributes) \($0.text)" } + messages.all
        let all = (texts + errors.withLock { $0 }).joined(separator: "\n")
        for secret in remote.secrets { #expect(!all.contains(secret), "\(secret): \(context)") }
    }
}

extension SourceBatch {
    /// The drafts one by one, each with its bookmark.
    var items: [SourceItem] {
        drafts.drafts.enumerated().map { place, draft in
            .draft(draft, bookmark: marks.first { $0.count == place + 1 }?.bookmark)
        }
    }
}

/// Says by its end that nothing holds it any more.
final class Lease: Sendable {
    let time = CountedTime(speed: 20)
    private let gate: Gate

    init(_ gate: Gate) {
        self.gate = gate
    }

    deinit {
        gate.open()
    }
}

/// Cancels a recorder, or sets its clock back, at a chosen moment.
final class StopSignal: Sendable {
    private struct State {
        var readings: Int?
        var isDue = false
        var task: Task<IngestSummary, any Error>?
    }

    private let state: Mutex<State>
    private let events: Int?
    private let stepsBack: Bool
    /// Opened once the recorder has ended.
    let gate: Gate?

    /// - Parameters:
    ///   - readings: how often the clock is read before; `nil` for as often as it likes.
    ///   - stepsBack: whether the clock is then set back by an hour, instead.
    ///   - events: how many events are appended before, at least; `nil` likewise.
    init(readings: Int? = nil, stepsBack: Bool = false, events: Int? = nil, gate: Gate? = nil) {
        state = Mutex(State(readings: readings))
        self.stepsBack = stepsBack
        self.events = events
        self.gate = gate
    }

    /// Whether the moment came.
    var hasFired: Bool { state.withLock { $0.isDue } }

    func attach(_ task: Task<IngestSummary, any Error>) {
        let isDue = state.withLock { state in
            state.task = task
            return state.isDue
        }
        if isDue { task.cancel() }
    }

    func fire() {
        let task = state.withLock { state in
            state.isDue = true
            return state.task
        }
        task?.cancel()
    }

    /// How far the clock is set back, in microseconds.
    func clockWasRead() -> Int64 {
        let left = state.withLock { state -> Int in
            guard let readings = state.readings else { return .max }
            state.readings = readings - 1
            return readings - 1
        }
        if left == 0, !stepsBack { fire() }
        return stepsBack && left < 0 ? 3_600_000_000 : 0
    }

    func appended(_ count: Int) {
        if let events, count >= events { fire() }
    }
}
#endif
