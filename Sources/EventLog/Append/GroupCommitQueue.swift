import Dispatch
import Synchronization

/// Commits batches that wait at the same time together, so that threads share the cost of a sync.
///
/// The thread whose batch completes a group commits it for all: no other thread has to be woken first. A group is
/// complete when as many batches wait as there were lately (those of the last commit and those that came meanwhile). A
/// thread that stays away costs the others a part of one commit's time, once; one thread alone never waits. See
/// `docs/decisions/0001-who-commits.md`.
///
/// Tasks must not block, so a thread of the queue's own commits their batches, under the same rules. It stays awake
/// while a group is about to complete, because waking it takes a part of a commit's time.
final class GroupCommitQueue: Sendable {
    /// Commits batches; returns one result for each, in their order. The batches may be those of other callers: the
    /// options of the store that commits count for all of them.
    typealias Commit = @Sendable ([AppendTicket]) -> [Result<AppendResult, any Error>]

    private struct State {
        /// Batches that no commit has taken yet, in the order in which they came.
        var waiting: [AppendTicket] = []
        /// The bytes of the records of all waiting batches.
        var waitingBytes = 0
        /// Whether a thread is committing now.
        var isLed = false
        /// How many batches make a group complete.
        var expected = 1
        /// Whether the queue's thread will commit the group that is forming; then no other thread leads.
        var isWatched = false
        /// How long a thread waits for others, in nanoseconds: half of what the last commit took.
        var patience = 0
    }

    /// The next step of a thread whose batch is not settled.
    ///
    /// Without a time, a thread waits until another one settles its batch or calls it.
    private enum Duty {
        case lead([AppendTicket])
        case wait(nanoseconds: Int?)
    }

    /// The most bytes and batches of one commit, so that its length is bounded.
    private static let groupBytesMax = 8 << 20
    private static let groupTicketsMax = 256
    /// From this number of waiting bytes on, the sync no longer decides how long a commit takes, so no thread waits for
    /// more.
    private static let waitingBytesEnough = 64 << 10
    /// In nanoseconds: 2 ms.
    private static let patienceMax = 2_000_000
    /// How long the queue's thread stays awake for a group; after that it sleeps 100 µs at a time.
    private static let wakefulness = Duration.microseconds(200)
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "eventlog.append")

    /// Waits until the batch is committed or refused.
    func submit(_ ticket: AppendTicket, commit: Commit) throws -> AppendResult {
        var duty = state.withLock { state in
            Self.add(ticket, to: &state)
            return Self.duty(&state, isDue: false)
        }
        while true {
            switch duty {
            case .lead(let group):
                lead(group, commit)
                if let result = ticket.result { return try result.get() }
                duty = state.withLock { Self.duty(&$0, isDue: false) }
            case .wait(let nanoseconds):
                switch ticket.wait(nanoseconds: nanoseconds) {
                case .settled(let result): return try result.get()
                case .called: duty = state.withLock { Self.duty(&$0, isDue: false) }
                case .timedOut: duty = state.withLock { Self.duty(&$0, isDue: true) }
                }
            }
        }
    }

    /// Queues a batch and returns at once; another thread commits it.
    ///
    /// - Parameter settled: called with the result, once, on the thread that commits; without it, wait for the ticket's
    ///   `settledResult`.
    @discardableResult
    func start(
        _ batch: PreparedBatch,
        bookmark: Bookmark?,
        commit: @escaping Commit,
        settled: (@Sendable (Result<AppendResult, any Error>) -> Void)? = nil
    ) -> AppendTicket {
        let ticket = AppendTicket(batch, bookmark: bookmark, settled: settled) { self.watch(commit) }
        state.withLock { Self.add(ticket, to: &$0) }
        watch(commit)
        return ticket
    }

    private static func add(_ ticket: AppendTicket, to state: inout State) {
        state.waiting.append(ticket)
        state.waitingBytes += ticket.batch.byteCount
    }

    /// Lets the queue's thread commit what waits, unless a thread leads or watches already. A thread that leads calls a
    /// waiting batch after its commit.
    private func watch(_ commit: @escaping Commit) {
        let isIdle = state.withLock { state in
            if state.isLed || state.isWatched || state.waiting.isEmpty { return false }
            state.isWatched = true
            return true
        }
        guard isIdle else { return }
        thread.async { while let group = self.nextGroup() { self.lead(group, commit) } }
    }

    /// Waits for the forming group until it is complete or due, and takes it; `nil` if none formed. No other thread
    /// leads while the queue's thread watches.
    private func nextGroup() -> [AppendTicket]? {
        let start = ContinuousClock.now
        let patience = state.withLock { Duration.nanoseconds($0.expected > 1 ? $0.patience : 0) }
        while true {
            let waited = ContinuousClock.now - start
            let isDue = waited >= patience
            let group = state.withLock { state -> [AppendTicket]? in
                if !state.waiting.isEmpty, isDue || Self.isComplete(state) { return Self.takeGroup(&state) }
                // If the time is up, nothing waits, and the thread ends. This is set under the lock, so that the next
                // batch sees that nobody watches.
                state.isWatched = !isDue
                return nil
            }
            if group != nil || isDue { return group }
            if waited < Self.wakefulness { yieldProcessor() } else { pause(microseconds: 100) }
        }
    }

    /// The next step of a thread whose batch waits. If it has to lead, the group is already taken.
    ///
    /// - Parameter isDue: whether the thread has waited as long as its patience allows.
    private static func duty(_ state: inout State, isDue: Bool) -> Duty {
        if state.isLed || state.isWatched || state.waiting.isEmpty { return .wait(nanoseconds: nil) }
        guard isDue || isComplete(state) else { return .wait(nanoseconds: state.patience) }
        return .lead(takeGroup(&state))
    }

    /// Whether a commit should begin now: as many batches wait as are expected, or so many bytes that the sync hardly
    /// counts.
    private static func isComplete(_ state: State) -> Bool {
        state.waiting.count >= state.expected || state.waitingBytes >= waitingBytesEnough
    }

    /// Commits one group. Its threads may come back at once, so the lead is given up before they are woken.
    ///
    /// The first batch that still waits is called last: it may have to lead the next group.
    private func lead(_ group: [AppendTicket], _ commit: Commit) {
        let clock = ContinuousClock()
        let start = clock.now
        let results = commit(group)
        let half = (clock.now - start) / 2
        assert(results.count == group.count, "a commit has one result for each batch")
        let next = state.withLock { state in
            assert(state.isLed, "a thread that commits has the lead")
            state.isLed = false
            state.expected = min(group.count + state.waiting.count, Self.groupTicketsMax)
            let nanoseconds = half.components.attoseconds / 1_000_000_000
            state.patience = half >= .nanoseconds(Self.patienceMax) ? Self.patienceMax : Int(nanoseconds)
            return state.waiting.first
        }
        // After the lock is released, because `settle` may run a callback that appends again.
        for (ticket, result) in zip(group, results) { ticket.settle(result) }
        next?.call()
    }

    /// Takes the lead, and the batches of one commit from the front. At least one batch must be waiting.
    private static func takeGroup(_ state: inout State) -> [AppendTicket] {
        var bytes = 0
        let count = state.waiting.prefix(groupTicketsMax).prefix { ticket in
            defer { bytes += ticket.batch.byteCount }
            return bytes == 0 || bytes + ticket.batch.byteCount <= groupBytesMax
        }.count
        assert(count > 0, "a thread leads only where a batch waits")
        assert(!state.isLed, "one thread leads at a time")
        let group = Array(state.waiting.prefix(count))
        state.waiting.removeFirst(count)
        state.isLed = true
        state.waitingBytes -= group.reduce(0) { $0 + $1.batch.byteCount }
        assert(!state.waiting.isEmpty || state.waitingBytes == 0, "only waiting batches count as waiting bytes")
        return group
    }
}
