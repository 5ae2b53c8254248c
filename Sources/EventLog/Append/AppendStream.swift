import Dispatch
import Synchronization

/// The batches of one producer that goes on before they are durable, such as a recorder.
///
/// Batches enter the log in the order in which they were added. If one cannot be committed, none behind it is (I5);
/// `remedy` decides what becomes of them. A draft whose key is held with another payload gets a key of its own: `KEY~`
/// and 16 hex digits of its payload's hash. Any thread or task may call the methods.
package final class AppendStream: Sendable {
    /// How batches are gathered into commits.
    package struct Gathering: Sendable {
        /// How long a batch may wait for others before its commit begins.
        package var linger: Duration
        /// The batches, pieces and bytes on their way into the log with which the producer must wait.
        package var batchesMax = Int.max
        package var piecesMax = 32_768
        package var bytesMax = 16 << 20

        package init(linger: Duration) {
            self.linger = linger
        }

        /// What `fast` durability promises: with the commit, a batch is durable within 100 ms.
        package static let fast = Gathering(linger: .milliseconds(80))
    }

    /// What becomes of a batch that was not committed, and of those behind it.
    package enum Remedy: Sendable {
        /// The batch goes. The others do not wait for it; the next addition and the next flush throw.
        case passOver
        /// All stay, and additions throw, until a flush tries again.
        case hold
        /// All stay, and are tried again after a while, or once only if the stream has been finished.
        case retry(after: Duration)
        /// All go, and additions and flushes throw from then on.
        case end
    }

    /// What a producer waits for.
    package enum Need: Sendable {
        /// That another batch may be added.
        case room
        /// That everything added before is durable, or passed over.
        case everything
    }

    /// The batches of one commit that belong to a stream, and their results.
    struct Part {
        let stream: AppendStream
        let duration: Duration
        private(set) var settled: [QueuedBatch] = []
        private(set) var stored = AppendResult(sequences: [], appended: 0, first: 0)
        private(set) var storedPieces = 0
        private(set) var failed: [(batch: QueuedBatch, error: any Error)] = []

        init(of stream: AppendStream, in duration: Duration) {
            (self.stream, self.duration) = (stream, duration)
        }

        mutating func add(_ batch: QueuedBatch, _ result: Result<AppendResult, any Error>) {
            switch result {
            case .success(let result):
                settled.append(batch)
                stored.add(result)
                storedPieces += batch.pieceCount
            case .failure(let error): failed.append((batch, error))
            }
        }
    }

    private struct State {
        /// The batches that the log has not taken yet and that were not given up, with their pieces and bytes.
        var batches = 0
        var pieces = 0
        var bytes = 0
        /// The batches and the pieces ever added.
        var accepted: UInt64 = 0
        var acceptedPieces: UInt64 = 0
        /// The counts of everything committed since the last successful flush.
        var done = AppendResult(sequences: [], appended: 0, first: 0)
        /// The batches that wait here because one before them failed; `nil` while batches pass.
        var held: [QueuedBatch]?
        /// Why `held` waits.
        var reason: (any Error)?
        /// What additions and flushes throw.
        var failure: (any Error)?
        /// Why a batch was passed over, until a flush has thrown it.
        var refusal: (any Error)?
        var hasEnded = false
        var isFinished = false
        /// Called once the first `upTo` batches are settled, or once there is room where it is `nil`. Whoever removes one,
        /// under the lock, calls it.
        var waiters: [(upTo: UInt64?, wake: @Sendable () -> Void)] = []

        /// Uncounts a batch that is committed or gone.
        mutating func settle(_ batch: QueuedBatch) {
            batches -= 1
            pieces -= batch.pieceCount
            bytes -= batch.batch.byteCount
            assert(batches >= 0 && (batches > 0 || pieces == 0 && bytes == 0), "a batch is settled once")
        }

        /// Whether a waiter need not wait.
        func isMet(_ upTo: UInt64?, _ gathering: Gathering) -> Bool {
            if failure != nil { return true }
            guard let upTo else {
                return batches < gathering.batchesMax && pieces < gathering.piecesMax && bytes < gathering.bytesMax
            }
            return accepted - UInt64(batches) >= upTo
        }

        /// Takes the waiters whose need is met, for the caller to wake outside of the lock.
        mutating func takeWaiters(_ gathering: Gathering) -> [@Sendable () -> Void] {
            let met = waiters.map { isMet($0.upTo, gathering) }
            defer { waiters = zip(waiters, met).filter { !$0.1 }.map(\.0) }
            return zip(waiters, met).filter(\.1).map(\.0.wake)
        }
    }

    private let writer: LogCommit
    private let gathering: Gathering
    private let remedy: @Sendable (any Error) -> Remedy
    private let stored: @Sendable (AppendResult, _ pieces: Int, Duration) -> Void
    private let state = Mutex(State())

    private var queue: AppendQueue { writer.core.queue }

    /// - Parameter stored: called on the commit thread after each commit and before those who wait are woken, with the
    ///   counts of this stream's batches, their pieces and the commit's duration.
    init(
        _ writer: LogCommit,
        gathering: Gathering,
        remedy: @escaping @Sendable (any Error) -> Remedy,
        stored: @escaping @Sendable (AppendResult, _ pieces: Int, Duration) -> Void = { _, _, _ in }
    ) {
        self.writer = writer
        self.gathering = gathering
        self.remedy = remedy
        self.stored = stored
    }

    /// Takes a batch at once. Afterwards wait for `room`, so that memory is bounded.
    ///
    /// - Throws: as `EventStore.append`, for the limits of this batch; why batches are held, or the stream has ended.
    package func add(_ drafts: DraftBatch, bookmark: Bookmark? = nil, pieces: Int? = nil) throws {
        let batch = QueuedBatch(
            try writer.prepared(drafts),
            bookmark: bookmark,
            writer: writer,
            pieceCount: pieces ?? drafts.count,
            linger: gathering.linger,
            receiver: .stream(self)
        )
        try state.withLock { state in
            if let failure = state.failure ?? state.refusal { throw failure }
            state.batches += 1
            state.pieces += batch.pieceCount
            state.bytes += batch.batch.byteCount
            state.accepted += 1
            state.acceptedPieces += UInt64(batch.pieceCount)
        }
        queue.add(batch)
    }

    /// The pieces ever added.
    package var acceptedPieces: UInt64 { state.withLock { $0.acceptedPieces } }

    /// True if pieces are on their way into the log, or can no longer come there.
    package var isBusy: Bool { state.withLock { $0.pieces > 0 || $0.failure != nil } }

    /// The counts of what was committed since the last flush that was successful.
    package var done: AppendResult { state.withLock { $0.done } }

    /// Blocks until a need is met.
    ///
    /// - Throws: why batches are held, or the stream has ended.
    package func wait(for need: Need) throws {
        let semaphore = DispatchSemaphore(value: 0)
        when(need) { semaphore.signal() }
        semaphore.wait()
        try throwFailure()
    }

    /// Suspends the task until a need is met. Cancelling the task does not end it.
    ///
    /// - Throws: why batches are held, or the stream has ended.
    package func reach(_ need: Need) async throws {
        await withCheckedContinuation { continuation in when(need) { continuation.resume() } }
        try throwFailure()
    }

    /// Tries what is held again, and blocks until everything is committed or passed over.
    ///
    /// - Returns: the counts of everything committed since the last flush.
    /// - Throws: why batches are held, or the stream has ended; else why a batch was passed over, once.
    package func flush() throws -> AppendResult {
        retry()
        try wait(for: .everything)
        return try state.withLock { state in
            if let refusal = state.refusal {
                state.refusal = nil
                throw refusal
            }
            defer { state.done = AppendResult(sequences: [], appended: 0, first: 0) }
            return state.done
        }
    }

    /// Nothing more will be added: what is on its way is tried once more at most.
    package func finish() {
        let reason = state.withLock { state in
            state.isFinished = true
            return state.reason
        }
        if let reason { end(reason) }
    }

    /// Drops everything that is not being committed. Additions and flushes throw from then on.
    package func end(_ failure: any Error) {
        queue.withdraw(self) { withdrawn in
            state.withLock { state in
                for batch in withdrawn + (state.held ?? []) { state.settle(batch) }
                (state.held, state.reason) = (nil, nil)
                (state.failure, state.hasEnded) = (state.failure ?? failure, true)
            }
        }
        wakeWaiters()
    }

    /// Lets what is held be tried again.
    private func retry() {
        state.withLock { state in
            if !state.hasEnded { state.failure = nil }
        }
        queue.release(self)
    }

    /// Calls `wake` once a need is met or cannot be.
    private func when(_ need: Need, _ wake: @escaping @Sendable () -> Void) {
        let isMet = state.withLock { state in
            let upTo = need == .room ? nil : state.accepted
            if state.isMet(upTo, gathering) { return true }
            state.waiters.append((upTo, wake))
            return false
        }
        if isMet { return wake() }
        if need == .everything { queue.hurry() }
    }

    private func throwFailure() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}

// MARK: - The queue's side

extension AppendStream {
    /// Keeps a batch that must not be queued; false if it may be. The caller has the queue's lock.
    func keep(_ batch: QueuedBatch) -> Bool {
        state.withLock { state in
            if state.hasEnded { state.settle(batch) }
            state.held?.append(batch)
            return state.hasEnded || state.held != nil
        }
    }

    /// Gives out the batches that were kept, in order. The caller has the queue's lock.
    func release() -> [QueuedBatch] {
        state.withLock { state in
            defer { (state.held, state.reason) = (nil, nil) }
            return state.held ?? []
        }
    }

    /// Takes the results of a commit; returns what wakes those who need not wait any longer. Called on the commit thread, so that no
    /// other commit can begin.
    func settle(_ part: Part) -> [@Sendable () -> Void] {
        if !part.settled.isEmpty { stored(part.stored, part.storedPieces, part.duration) }
        var kept: [QueuedBatch] = []
        var stop: (error: any Error, remedy: Remedy)?
        state.withLock { state in
            state.done.add(part.stored)
            for batch in part.settled { state.settle(batch) }
            for (batch, error) in part.failed {
                let remedy = remedy(error)
                if case .passOver = remedy {
                    state.refusal = state.refusal ?? error
                    state.settle(batch)
                } else {
                    kept.append(batch)
                    stop = stop ?? (error, remedy)
                }
            }
        }
        if let stop { hold(kept, stop.error, stop.remedy) }
        return state.withLock { $0.takeWaiters(gathering) }
    }

    /// Keeps batches that were not committed, and all behind them.
    private func hold(_ batches: [QueuedBatch], _ error: any Error, _ remedy: Remedy) {
        let isFinished = queue.withdraw(self) { behind in
            state.withLock { state in
                assert(state.held == nil, "a stream whose batches are held commits none")
                state.held = batches + behind
                state.reason = error
                if case .hold = remedy { state.failure = error }
                return state.isFinished
            }
        }
        switch remedy {
        case .passOver, .hold: break
        case .retry(let pause) where !isFinished:
            let deadline = DispatchTime.now() + .milliseconds(Int(pause.wholeMilliseconds))
            DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in self?.retry() }
        case .retry, .end: end(error)
        }
    }

    private func wakeWaiters() {
        for wake in state.withLock({ $0.takeWaiters(gathering) }) { wake() }
    }
}
