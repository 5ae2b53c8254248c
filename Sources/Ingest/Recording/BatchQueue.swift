#if Recorders
import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What waits between the tasks that record and the thread that appends.
///
/// Bounded by bytes and by number: who adds to a full queue waits until the disk has taken what was there, and so the
/// remote is read no faster than the log is written. Memory is bounded by the limits and one more piece a task.
final class BatchQueue: Sendable {
    /// How many events may wait before who adds must wait too.
    static let itemsMax = 32_768
    /// The same in bytes of payload.
    static let bytesMax = 16 << 20
    /// From so many events or bytes on a batch waits for no more.
    private static let dueItems = 4_000
    private static let dueBytes = 1 << 20
    /// The longest that the first event of a batch waits for others.
    private static let lingerMax = Duration.milliseconds(20)
    /// How often a wait looks whether it is over. Not a wait for a signal until a date: the wall clock may be stepped
    /// back, and such a wait then lasts as long as the step.
    private static let lookMicroseconds: UInt32 = 2_000

    private struct State {
        var waiting: [SourceBatch] = []
        var waitingCount = 0
        var waitingBytes = 0
        var firstCameAt = ContinuousClock.now
        var isFinished = false
        var failure: (any Error)?
        var accepted: UInt64 = 0
        var stored: UInt64 = 0
        /// The bookmark that is valid once everything accepted is stored.
        var lastBookmark: [UInt8]?
        var producers: [CheckedContinuation<Void, Never>] = []
        var flushers: [(upTo: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        /// Whether the appending thread waits for `changed`.
        var isAwaited = false

        var isFull: Bool { waitingCount >= itemsMax || waitingBytes >= bytesMax }

        /// Whether a batch should not wait for more.
        var isDue: Bool {
            isFinished || !flushers.isEmpty || waitingCount >= dueItems || waitingBytes >= dueBytes
        }

        mutating func add(_ pieces: SourceBatch) {
            if waiting.isEmpty { firstCameAt = .now }
            waiting.append(pieces)
            waitingCount += pieces.count
            waitingBytes += pieces.weight
            accepted += UInt64(pieces.count)
            lastBookmark = pieces.bookmark ?? lastBookmark
        }

        mutating func takeBatches() -> [SourceBatch] {
            defer { (waiting, waitingCount, waitingBytes) = ([], 0, 0) }
            return waiting
        }

        mutating func takeProducers() -> [CheckedContinuation<Void, Never>] {
            defer { producers = [] }
            return producers
        }
    }

    private let state = Mutex(State())
    /// Signalled once when there is something to do for the thread that waits for it.
    private let changed = DispatchSemaphore(value: 0)

    /// Adds pieces in order, and returns when there is room for more.
    ///
    /// Once this is called the pieces are taken, also if the task is cancelled while it waits for room.
    ///
    /// - Throws: what made an append fail before.
    func append(_ pieces: SourceBatch) async throws {
        guard try add(pieces) else { return }
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.isFull, state.failure == nil else { return true }
                state.producers.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
        try throwFailure()
    }

    /// Returns when everything that was added before is durable.
    ///
    /// - Throws: what made an append fail.
    func flush() async throws {
        await withCheckedContinuation { continuation in
            let isReady = change { state in
                guard state.stored < state.accepted, state.failure == nil else { return true }
                state.flushers.append((state.accepted, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
        try throwFailure()
    }

    /// Says that nothing more comes.
    func finish() {
        change { $0.isFinished = true }
    }

    /// Adds, and says whether the queue is full now.
    private func add(_ pieces: SourceBatch) throws -> Bool {
        try change { state in
            if let failure = state.failure { throw failure }
            state.add(pieces)
            return state.isFull
        }
    }

    /// The number of pieces that were ever added.
    var acceptedCount: UInt64 { state.withLock { $0.accepted } }

    /// Replaces the bookmark where everything is stored and nothing was added beyond a count: what was added meanwhile
    /// has a newer one.
    func renewBookmark(ifAccepted count: UInt64, _ renewed: ([UInt8]) -> [UInt8]?) {
        change { state in
            guard state.failure == nil, state.waiting.isEmpty, state.accepted == count, state.stored == count,
                let bookmark = state.lastBookmark.flatMap(renewed)
            else { return }
            state.add(SourceBatch(bookmark: bookmark))
        }
    }

    private func throwFailure() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Changes the state, and wakes the appending thread where it waits.
    @discardableResult
    private func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        let (value, isAwaited) = try state.withLock { state in
            let value = try body(&state)
            defer { state.isAwaited = false }
            return (value, state.isAwaited)
        }
        if isAwaited { changed.signal() }
        return value
    }
}

// MARK: - The appending thread's side

extension BatchQueue {
    /// Everything that waits, as soon as that is much or old enough; `nil` at the end. Blocks the thread.
    func takeBatches() -> [SourceBatch]? {
        waitForOne()
        let deadline = state.withLock { $0.firstCameAt } + Self.lingerMax
        wait(until: deadline) { $0.isDue }
        let (batches, freed) = state.withLock { state in
            state.waiting.isEmpty ? (nil, []) : (state.takeBatches(), state.takeProducers())
        }
        for producer in freed { producer.resume() }
        return batches
    }

    /// Whether nothing waits.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Says that so many more pieces are durable.
    func noteStored(_ count: Int) {
        let reached = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.stored += UInt64(count)
            let stored = state.stored
            let reached = state.flushers.filter { $0.upTo <= stored }.map(\.continuation)
            state.flushers.removeAll { $0.upTo <= stored }
            return reached
        }
        for flusher in reached { flusher.resume() }
    }

    /// Says that nothing more can be appended, and lets everyone who waits know.
    func fail(_ error: any Error) {
        let all = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.failure = error
            _ = state.takeBatches()
            let all = state.takeProducers() + state.flushers.map(\.continuation)
            state.flushers = []
            return all
        }
        for continuation in all { continuation.resume() }
    }

    /// Waits before an attempt is made again; false once the end was asked for.
    func pause(_ duration: Duration) -> Bool {
        wait(until: .now + duration) { $0.isFinished }
        return state.withLock { !$0.isFinished }
    }

    /// Waits until something waits to be appended, or nothing more comes.
    private func waitForOne() {
        while true {
            let isThere = state.withLock { state in
                let isThere = !state.waiting.isEmpty || state.isFinished
                state.isAwaited = !isThere
                return isThere
            }
            if isThere { return }
            changed.wait()
        }
    }

    private func wait(until deadline: ContinuousClock.Instant, orFor isOver: (borrowing State) -> Bool) {
        while !state.withLock({ isOver($0) }), ContinuousClock.now < deadline { usleep(Self.lookMicroseconds) }
    }
}
#endif
