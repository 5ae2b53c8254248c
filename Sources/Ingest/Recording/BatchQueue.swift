#if Recorders
import EventLog
import Foundation

/// What waits between the tasks that record and the thread that appends.
///
/// Bounded by bytes and by number: who adds to a full queue waits until the disk has taken what was there, and so the
/// remote is read no faster than the log is written. Memory is bounded by the limits and one more piece a task.
final class BatchQueue: @unchecked Sendable {
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

    private let condition = NSCondition()
    // All guarded by `condition`.
    private var waiting: [SourceBatch] = []
    private var waitingCount = 0
    private var waitingBytes = 0
    private var firstCameAt = ContinuousClock.now
    private var isFinished = false
    private var failure: (any Error)?
    private var accepted: UInt64 = 0
    private var stored: UInt64 = 0
    /// The bookmark that is valid once everything accepted is stored.
    private var lastBookmark: [UInt8]?
    private var producers: [CheckedContinuation<Void, Never>] = []
    private var flushers: [(upTo: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

    /// Adds pieces in order, and returns when there is room for more.
    ///
    /// Once this is called the pieces are taken, also if the task is cancelled while it waits for room.
    ///
    /// - Throws: what made an append fail before.
    func append(_ pieces: SourceBatch) async throws {
        guard try add(pieces) else { return }
        await withCheckedContinuation { continuation in
            let isReady = condition.withLock {
                guard isFull, failure == nil else { return true }
                producers.append(continuation)
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
            let isReady = condition.withLock {
                guard stored < accepted, failure == nil else { return true }
                flushers.append((accepted, continuation))
                condition.signal()
                return false
            }
            if isReady { continuation.resume() }
        }
        try throwFailure()
    }

    /// Says that nothing more comes.
    func finish() {
        condition.withLock {
            isFinished = true
            condition.signal()
        }
    }

    /// Adds, and says whether the queue is full now.
    private func add(_ pieces: SourceBatch) throws -> Bool {
        try condition.withLock {
            if let failure { throw failure }
            if waiting.isEmpty { firstCameAt = .now }
            waiting.append(pieces)
            waitingCount += pieces.count
            waitingBytes += pieces.weight
            accepted += UInt64(pieces.count)
            lastBookmark = pieces.bookmark ?? lastBookmark
            condition.signal()
            return isFull
        }
    }

    /// The number of pieces that were ever added.
    var acceptedCount: UInt64 { condition.withLock { accepted } }

    /// Replaces the bookmark where everything is stored and nothing was added beyond a count: what was added meanwhile
    /// has a newer one.
    func renewBookmark(ifAccepted count: UInt64, _ renewed: ([UInt8]) -> [UInt8]?) {
        condition.withLock {
            guard failure == nil, waiting.isEmpty, accepted == count, stored == count,
                let bookmark = lastBookmark.flatMap(renewed)
            else { return }
            lastBookmark = bookmark
            firstCameAt = .now
            waiting.append(SourceBatch(bookmark: bookmark))
            condition.signal()
        }
    }

    private func throwFailure() throws {
        if let failure = condition.withLock({ failure }) { throw failure }
    }

    private var isFull: Bool { waitingCount >= Self.itemsMax || waitingBytes >= Self.bytesMax }

    /// Whether a batch should not wait for more.
    private var isDue: Bool {
        isFinished || !flushers.isEmpty || waitingCount >= Self.dueItems || waitingBytes >= Self.dueBytes
    }
}

// MARK: - The appending thread's side

extension BatchQueue {
    /// Everything that waits, as soon as that is much or old enough; `nil` at the end. Blocks the thread.
    func takeBatches() -> [SourceBatch]? {
        let (batches, freed) = condition.withLock { () -> ([SourceBatch]?, [CheckedContinuation<Void, Never>]) in
            while waiting.isEmpty, !isFinished { condition.wait() }
            wait(until: firstCameAt + Self.lingerMax) { isDue }
            guard !waiting.isEmpty else { return (nil, []) }
            let batches = clear()
            return (batches, takeProducers())
        }
        for producer in freed { producer.resume() }
        return batches
    }

    /// Whether nothing waits.
    var isEmpty: Bool { condition.withLock { waiting.isEmpty } }

    private func clear() -> [SourceBatch] {
        defer { (waiting, waitingCount, waitingBytes) = ([], 0, 0) }
        return waiting
    }

    /// Says that so many more pieces are durable.
    func noteStored(_ count: Int) {
        let reached = condition.withLock { () -> [CheckedContinuation<Void, Never>] in
            stored += UInt64(count)
            let reached = flushers.filter { $0.upTo <= stored }.map(\.continuation)
            flushers.removeAll { $0.upTo <= stored }
            return reached
        }
        for flusher in reached { flusher.resume() }
    }

    /// Says that nothing more can be appended, and lets everyone who waits know.
    func fail(_ error: any Error) {
        let all = condition.withLock { () -> [CheckedContinuation<Void, Never>] in
            failure = error
            _ = clear()
            let all = takeProducers() + flushers.map(\.continuation)
            flushers = []
            return all
        }
        for continuation in all { continuation.resume() }
    }

    /// Waits before an attempt is made again; false once the end was asked for.
    func pause(_ duration: Duration) -> Bool {
        condition.withLock {
            wait(until: .now + duration) { isFinished }
            return !isFinished
        }
    }

    /// Waits, with `condition` held before and after.
    private func wait(until deadline: ContinuousClock.Instant, orFor isOver: () -> Bool) {
        while !isOver(), ContinuousClock.now < deadline {
            condition.unlock()
            usleep(Self.lookMicroseconds)
            condition.lock()
        }
    }

    private func takeProducers() -> [CheckedContinuation<Void, Never>] {
        defer { producers = [] }
        return producers
    }
}
#endif
