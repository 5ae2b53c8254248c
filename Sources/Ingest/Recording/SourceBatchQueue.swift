#if Recorders
import Dispatch
import EventLog
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The queue between the tasks that record and the thread that appends.
///
/// Bounded by bytes and by number: a task that adds to a full queue waits until the appending thread has taken from it,
/// so the remote is read no faster than the log is written. Memory stays within the limits plus one batch a task. The
/// thread takes batches as large as the recorder appends them; what it leaves still counts. Any task may call `append`,
/// `flush`, `renewBookmark` and `finish`; the methods of the appending thread's side belong to that thread.
final class SourceBatchQueue: Sendable {
    /// The number of waiting pieces from which producers must wait.
    static let itemsMax = 32_768
    /// The weight of waiting pieces (`SourceBatch.weight`), in bytes, from which producers must wait.
    static let bytesMax = 16 << 20
    /// A batch with this many pieces or bytes is taken at once.
    private static let dueItems = 4_000
    private static let dueBytes = 1 << 20
    /// The longest that the first piece of a batch waits for others.
    private static let lingerMax = Duration.milliseconds(20)
    /// The interval at which a timed wait polls, in microseconds. A semaphore with a date as its timeout is no choice:
    /// if the wall clock is stepped back, that wait grows by the step.
    private static let lookMicroseconds: UInt32 = 2_000

    private struct State {
        /// The batches that the thread has not taken yet, oldest first.
        var waiting: [SourceBatch] = []
        /// The pieces in `waiting`.
        var waitingCount = 0
        /// The weight of `waiting`.
        var waitingBytes = 0
        /// When the first of `waiting` was added, or one before it that was taken; means nothing while nothing waits.
        var firstCameAt = ContinuousClock.now
        var isFinished = false
        /// The error that ended the queue; set once.
        var failure: (any Error)?
        /// The pieces ever added; only grows.
        var accepted: UInt64 = 0
        /// The pieces that are durable; at most `accepted`.
        var stored: UInt64 = 0
        /// The bookmark that is valid once everything accepted is stored.
        var lastBookmark: [UInt8]?
        /// The tasks that wait for room. Whoever removes one, under the lock, resumes it, so each is resumed once.
        var producers: [CheckedContinuation<Void, Never>] = []
        /// The tasks that wait until `upTo` pieces are durable.
        var flushers: [(upTo: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        /// True while the appending thread waits for `changed`; the semaphore is signalled only then.
        var isAwaited = false

        var isFull: Bool { waitingCount >= itemsMax || waitingBytes >= bytesMax }

        /// True if the batch should be taken now.
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

        /// Takes from the front until it has as much as a recorder appends at once, or everything.
        mutating func takeFront() -> [SourceBatch] {
            var (draftCount, payloadBytes) = (0, 0)
            let taken = waiting.prefix { pieces in
                defer {
                    draftCount += pieces.drafts.count
                    payloadBytes += pieces.drafts.payloadByteCount
                }
                return draftCount < Recorder.batchEventsMax && payloadBytes < Recorder.batchBytesMax
            }
            waiting.removeFirst(taken.count)
            for pieces in taken {
                waitingCount -= pieces.count
                waitingBytes -= pieces.weight
            }
            assert(!waiting.isEmpty || waitingCount == 0 && waitingBytes == 0, "only what waits counts")
            return Array(taken)
        }

        /// Takes the tasks that wait for room, for the caller to resume outside of the lock.
        mutating func takeProducers() -> [CheckedContinuation<Void, Never>] {
            defer { producers = [] }
            return producers
        }
    }

    private let state = Mutex(State())
    /// Wakes the appending thread; signalled once per wait.
    private let changed = DispatchSemaphore(value: 0)

    /// Adds pieces in order, and returns once the queue has room again.
    ///
    /// The pieces are taken at once; cancelling the task while it waits for room does not take them back.
    ///
    /// - Throws: the error of an earlier append that failed.
    func append(_ pieces: SourceBatch) async throws {
        guard try add(pieces) else { return }
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                // Looked at again: the thread may have taken everything since `add`, and would not come back for this
                // task.
                guard state.isFull, state.failure == nil else { return true }
                state.producers.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
        try throwFailure()
    }

    /// Returns once everything added before the call is durable.
    ///
    /// - Throws: the error of the append that failed.
    func flush() async throws {
        await withCheckedContinuation { continuation in
            let isReady = change { state in
                // Waiting flushers make a batch due, so the thread need not linger.
                guard state.stored < state.accepted, state.failure == nil else { return true }
                state.flushers.append((state.accepted, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
        try throwFailure()
    }

    /// Ends the queue: no more pieces will be added. The thread still takes those that wait.
    func finish() {
        change { $0.isFinished = true }
    }

    /// Adds pieces; returns true if the queue is full now.
    private func add(_ pieces: SourceBatch) throws -> Bool {
        try change { state in
            if let failure = state.failure { throw failure }
            state.add(pieces)
            return state.isFull
        }
    }

    /// The number of pieces ever added.
    var acceptedCount: UInt64 { state.withLock { $0.accepted } }

    /// Replaces the bookmark if exactly `count` pieces were ever added and all are stored. Later pieces bring a newer
    /// bookmark of their own, which must not be overwritten.
    ///
    /// - Parameter renewed: makes the new bookmark from the last one, under the queue's lock; `nil` leaves it.
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

    /// Changes the state, and wakes the appending thread if it waits.
    @discardableResult
    private func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        // Cleared together with the change, so that two changes do not signal one wait twice.
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

extension SourceBatchQueue {
    /// Takes the next batch once it is due or its first piece has lingered long enough; `nil` at the end. Blocks the
    /// thread, which joins the pieces outside of the lock.
    func takeBatch() -> SourceBatch? {
        waitForOne()
        let deadline = state.withLock { $0.firstCameAt } + Self.lingerMax
        wait(until: deadline) { $0.isDue }
        let (taken, freed) = state.withLock { state in
            let taken = state.takeFront()
            return (taken, state.isFull ? [] : state.takeProducers())
        }
        for producer in freed { producer.resume() }
        return taken.isEmpty ? nil : SourceBatch(joining: taken)
    }

    /// True if nothing waits.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Marks `count` more pieces as durable, and resumes the flushes that this completes.
    func noteStored(_ count: Int) {
        let reached = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.stored += UInt64(count)
            assert(state.stored <= state.accepted, "no more pieces become durable than were added")
            let stored = state.stored
            let reached = state.flushers.filter { $0.upTo <= stored }.map(\.continuation)
            state.flushers.removeAll { $0.upTo <= stored }
            return reached
        }
        for flusher in reached { flusher.resume() }
    }

    /// Ends the queue with an error: drops the waiting batches and resumes every waiting task, which then throws.
    func fail(_ error: any Error) {
        let all = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.failure = error
            (state.waiting, state.waitingCount, state.waitingBytes) = ([], 0, 0)
            let all = state.takeProducers() + state.flushers.map(\.continuation)
            state.flushers = []
            return all
        }
        for continuation in all { continuation.resume() }
    }

    /// Waits before another attempt; returns false, possibly early, once the queue was finished.
    func pause(_ duration: Duration) -> Bool {
        wait(until: .now + duration) { $0.isFinished }
        return state.withLock { !$0.isFinished }
    }

    /// Blocks until a batch waits or the queue was finished.
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

    /// Polls until the deadline, or until `isOver` is true. Blocks the thread.
    private func wait(until deadline: ContinuousClock.Instant, orFor isOver: (borrowing State) -> Bool) {
        while !state.withLock({ isOver($0) }), ContinuousClock.now < deadline { usleep(Self.lookMicroseconds) }
    }
}
#endif
