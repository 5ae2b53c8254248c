#if Recorders
import EventLog
import NIOCore
import Synchronization

/// Makes the events of all connections of a proxy, in the order in which they passed. Thread-safe.
///
/// It only queues events; one task takes and appends them. Connections must stop reading while it is full.
final class ProxyJournal: Sendable {
    private struct State {
        var batch = SourceBatch()
        var number: UInt64
        var gaps: OpenGaps
        /// The counts of gaps and other events that belong to no connection of this run.
        var runCounters: ConnectionCounters?
        var lastHeard: Timestamp?
        /// Bytes that were made and are not appended yet.
        var heldBytes = 0
        /// Those of `batch`.
        var newBytes = 0
        var waiting: [@Sendable () -> Void] = []
        /// True once nothing is recorded any more.
        var isOver = false
        /// Drafts that could not be made.
        var failures = 0
    }

    /// The most bytes that may wait for the log.
    static let heldBytesMax = 64 << 20
    /// The most gaps of single paths that are open.
    private static let gapsMax = 64

    let source: SourceName
    private let secrets: KnownSecrets
    private let clock: LiveClock
    private let isFirstRun: Bool
    private let lastAlive: Timestamp?
    private let state: Mutex<State>
    private let signal: AsyncStream<Void>.Continuation
    /// Yields when there is something to take.
    let signals: AsyncStream<Void>

    init(_ recording: Recording) throws {
        (source, secrets, clock) = (recording.source, recording.secrets, recording.clock)
        let start = try JournalStart(recording.history)
        isFirstRun = start.isFirstRun
        lastAlive = [start.bookmark?.lastInbound, start.bookmark?.alive].compactMap { $0 }.max()
        state = Mutex(State(number: start.number, gaps: start.gaps(of: source, steps: clock.steps)))
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var now: Timestamp { clock.now() }

    /// Opens and closes the gap since the last run.
    func beginRun() {
        let time = now
        edit { state in
            guard !isFirstRun else { return }
            if !state.gaps.hasGoing(nil) {
                try open("stopped", topic: nil, from: min(lastAlive ?? time, time), nil, &state, at: time)
            }
            try close(&state, at: time) { $0.topic == nil }
        }
    }

    /// Opens the gap that goes on until the next run.
    func endRun() {
        let time = now
        edit { state in
            guard !isFirstRun || state.number > 0 else { return }
            guard !state.gaps.hasGoing(nil) else { return }
            try open("stopped", topic: nil, from: time, nil, &state, at: time)
        }
    }

    /// The next connection. It is numbered over all runs.
    func connection() -> ConnectionCounters {
        state.withLock { state in
            state.number += 1
            return ConnectionCounters(number: state.number)
        }
    }

    /// Takes what was made, with the bookmark that is valid once it is stored.
    func take() -> (pieces: SourceBatch, heldBytes: Int) {
        state.withLock { state in
            if !state.batch.drafts.isEmpty { mark(&state) }
            defer { (state.batch, state.newBytes) = (SourceBatch(), 0) }
            return (state.batch, state.newBytes)
        }
    }

    /// Notes that what was taken is appended.
    func appended(_ bytes: Int) {
        let waiting = state.withLock { state in
            state.heldBytes -= bytes
            guard state.heldBytes < Self.heldBytesMax / 2 else { return [@Sendable () -> Void]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    /// Records nothing from now on; nobody waits for room any more.
    func stop() {
        let waiting = state.withLock { state in
            (state.isOver, state.batch, state.heldBytes) = (true, SourceBatch(), 0)
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    var isFull: Bool { state.withLock { $0.heldBytes >= Self.heldBytesMax && !$0.isOver } }

    /// Calls once when there is room; at once if there is.
    func whenRoom(_ resume: @escaping @Sendable () -> Void) {
        let hasRoom = state.withLock { state in
            guard state.heldBytes >= Self.heldBytesMax, !state.isOver else { return true }
            state.waiting.append(resume)
            return false
        }
        if hasRoom { resume() }
    }

    /// The events that could not be made so far.
    var failureCount: Int { state.withLock { $0.failures } }
}

extension ProxyJournal {
    /// Records a link that was opened, and closes the gaps of its path.
    func open(_ counters: ConnectionCounters, path: String) {
        let time = now
        edit { state in
            state.lastHeard = time
            try add(
                .recorderLink,
                "\(counters.name)/open",
                [("link", "open"), ("connection", counters.name), ("path", path)],
                &state,
                at: time
            )
            mark(&state)
            try close(&state, at: time) { $0.topic == Self.topic(path) }
        }
    }

    /// Records the end of a link.
    ///
    /// - Parameters:
    ///   - code: the WebSocket's close code; `nil` if it has none.
    ///   - isLoss: whether something may be missed from now on: opens a gap.
    func close(_ counters: ConnectionCounters, path: String, code: UInt16?, reason: String, isLoss: Bool) {
        let time = now
        edit { state in
            let pairs = [("link", "close"), ("reason", reason), ("connection", counters.name), ("path", path)]
            let codes = code.map { [("code", String($0))] } ?? []
            try add(.recorderLink, "\(counters.name)/close", pairs + codes, &state, at: time)
            mark(&state)
            let topic = Self.topic(path)
            guard isLoss, state.gaps.all.count < Self.gapsMax, !state.gaps.hasGoing(topic) else { return }
            try open("disconnected", topic: topic, from: time, counters, &state, at: time)
        }
    }

    /// Records a gap around a message that the proxy dropped.
    func dropped(_ counters: ConnectionCounters, path: String) {
        let time = now
        edit { state in
            try open("dropped", topic: Self.topic(path), from: time, counters, &state, at: time)
            let key = state.gaps.all.last?.key
            try close(&state, at: time) { $0.key == key }
        }
    }

    /// Records messages that came together. Thousands of them take one lock and one look at the clock.
    ///
    /// - Parameters:
    ///   - counters: of their connection.
    ///   - add: adds them, in order.
    ///   - time: when they came; `nil` for now.
    func record(
        _ kind: EventKind,
        _ counters: ConnectionCounters,
        _ attributes: Attributes,
        _ add: (inout ProxyDrafts) -> Void,
        at time: Timestamp? = nil
    ) {
        let time = time ?? now
        var made = ProxyDrafts(counters, source: source, kind: kind, attributes: attributes, at: time)
        add(&made)
        guard !made.batch.isEmpty || made.failures > 0 else { return }
        let bytes = made.batch.payloadByteCount + 256 * made.batch.count
        edit { state in
            state.lastHeard = time
            state.failures += made.failures
            state.heldBytes += bytes
            state.newBytes += bytes
            state.batch.drafts.append(contentsOf: made.batch)
        }
    }

    /// Records a content.
    func record(
        _ kind: EventKind,
        _ counters: ConnectionCounters,
        _ content: KeptContent.Result,
        _ pairs: [(String, String)],
        at time: Timestamp? = nil
    ) {
        guard let attributes = attributes(pairs) else { return }
        record(kind, counters, attributes, { made in content.lend { made.add($0) } }, at: time)
    }

    /// Attributes of pairs; `nil`, and counted as a failure, where they break a rule.
    func attributes(_ pairs: [(String, String)]) -> Attributes? {
        do {
            return try Attributes(pairs.map { Attributes.Pair(name: $0.0, value: $0.1) })
        } catch {
            state.withLock { $0.failures += 1 }
            return nil
        }
    }

    /// The path without its query.
    private static func topic(_ path: String) -> String { String(path.prefix { $0 != "?" }) }

    private func edit(_ body: (inout State) throws -> Void) {
        let isNew = state.withLock { state in
            guard !state.isOver else { return false }
            do { try body(&state) } catch { state.failures += 1 }
            return true
        }
        if isNew { signal.yield() }
    }

    private func add(
        _ kind: EventKind,
        _ key: String,
        _ pairs: [(String, String)],
        _ state: inout State,
        at time: Timestamp
    ) throws {
        let attributes = try Attributes(pairs.map { Attributes.Pair(name: $0.0, value: $0.1) })
        let frame = FrameDraft(recordedAt: time, source: source, kind: kind, key: key, attributes: attributes)
        state.batch.drafts.append(try frame.draft(payload: []))
    }

    private func mark(_ state: inout State) {
        let bookmark = JournalBookmark(
            number: state.number,
            gaps: state.gaps.all,
            lastInbound: state.lastHeard ?? lastAlive ?? now,
            session: nil
        )
        state.batch.mark(bookmark.bytes)
    }

    private func open(
        _ reason: String,
        topic: String?,
        from: Timestamp,
        _ counters: ConnectionCounters?,
        _ state: inout State,
        at time: Timestamp
    ) throws {
        if counters == nil, state.runCounters == nil {
            state.number += 1
            state.runCounters = ConnectionCounters(number: state.number)
        }
        guard let counters = counters ?? state.runCounters else { return }
        state.batch.drafts.append(
            try state.gaps.open(reason, topic: topic, from: from, closes: "nothing", counters, at: time)
        )
        mark(&state)
    }

    private func close(_ state: inout State, at time: Timestamp, where isMeant: (RecordedGap) -> Bool) throws {
        while let draft = try state.gaps.closeFirst(by: "nothing", connection: nil, at: time, where: isMeant) {
            state.batch.drafts.append(draft)
            mark(&state)
        }
    }
}
#endif
