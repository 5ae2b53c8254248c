import Dispatch
import Synchronization

/// Batches that wait to be committed together, so that threads share the cost of a sync.
///
/// The thread whose batch completes a group commits it for all: nobody else holds the writer, and nothing is handed to a
/// thread that sleeps. A group is complete when as many batches wait as there were lately (those of the last commit and
/// those that came meanwhile). A thread that stays away costs the others a part of one commit's time, once; one thread
/// alone never waits.
///
/// Tasks must not block: their batches are committed by a thread of the queue's own, under the same rules. It does not
/// sleep while a group is about to complete, since waking it takes a part of a commit's time.
final class AppendQueue: Sendable {
    /// Commits batches and answers with a result for each of them.
    typealias Commit = @Sendable ([AppendTicket]) -> [Result<AppendResult, any Error>]

    private struct State {
        var waiting: [AppendTicket] = []
        var waitingBytes = 0
        /// Whether a thread commits at this moment.
        var isLed = false
        /// How many batches make a group complete.
        var expected = 1
        /// Whether the queue's thread looks after the group that is forming.
        var isWatched = false
        /// How long a thread waits for the others, in nanoseconds: half of what the last commit took.
        var patience = 0
    }

    /// What a thread whose batch is not settled does next.
    private enum Duty {
        case lead([AppendTicket])
        case wait(nanoseconds: Int?)
    }

    /// Bounds the length of one commit.
    private static let groupBytesMax = 8 << 20
    private static let groupTicketsMax = 256
    /// From so many bytes on the sync no longer decides how long a commit takes: nobody waits for more.
    private static let waitingBytesEnough = 64 << 10
    private static let patienceMax = 2_000_000
    /// How long the queue's thread stays awake for a group.
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

    /// Returns at once; `settled` is told what became of the batch, on a thread of the queue's.
    func start(
        _ batch: PreparedBatch,
        bookmark: Bookmark?,
        commit: @escaping Commit,
        settled: @escaping @Sendable (Result<AppendResult, any Error>) -> Void
    ) {
        let called: @Sendable () -> Void = { self.watch(commit) }
        let ticket = AppendTicket(batch, bookmark: bookmark, settled: settled, called: called)
        state.withLock { Self.add(ticket, to: &$0) }
        watch(commit)
    }

    private static func add(_ ticket: AppendTicket, to state: inout State) {
        state.waiting.append(ticket)
        state.waitingBytes += ticket.batch.byteCount
    }

    /// Lets the queue's thread look after what waits, where it does not yet. Whoever leads looks for waiting batches after
    /// its commit.
    private func watch(_ commit: @escaping Commit) {
        let isIdle = state.withLock { state in
            if state.isLed || state.isWatched || state.waiting.isEmpty { return false }
            state.isWatched = true
            return true
        }
        guard isIdle else { return }
        thread.async { while let group = self.nextGroup() { self.lead(group, commit) } }
    }

    /// The group that is forming, once it is complete or has waited long enough; `nil` where nothing comes. Nobody else
    /// leads while the queue's thread watches.
    private func nextGroup() -> [AppendTicket]? {
        let start = ContinuousClock.now
        let patience = state.withLock { Duration.nanoseconds($0.expected > 1 ? $0.patience : 0) }
        while true {
            let waited = ContinuousClock.now - start
            let isDue = waited >= patience
            let group = state.withLock { state -> [AppendTicket]? in
                if !state.waiting.isEmpty, isDue || Self.isComplete(state) { return Self.takeGroup(&state) }
                state.isWatched = !isDue
                return nil
            }
            if group != nil || isDue { return group }
            if waited < Self.wakefulness { yieldProcessor() } else { pause(microseconds: 100) }
        }
    }

    private static func duty(_ state: inout State, isDue: Bool) -> Duty {
        if state.isLed || state.isWatched || state.waiting.isEmpty { return .wait(nanoseconds: nil) }
        guard isDue || isComplete(state) else { return .wait(nanoseconds: state.patience) }
        return .lead(takeGroup(&state))
    }

    private static func isComplete(_ state: State) -> Bool {
        state.waiting.count >= state.expected || state.waitingBytes >= waitingBytesEnough
    }

    /// Commits one group. Those who were in it may come back at once, so the lead is free before they are woken.
    private func lead(_ group: [AppendTicket], _ commit: Commit) {
        let clock = ContinuousClock()
        let start = clock.now
        let results = commit(group)
        let half = (clock.now - start) / 2
        let next = state.withLock { state in
            state.isLed = false
            state.expected = min(group.count + state.waiting.count, Self.groupTicketsMax)
            let nanoseconds = half.components.attoseconds / 1_000_000_000
            state.patience = half >= .nanoseconds(Self.patienceMax) ? Self.patienceMax : Int(nanoseconds)
            return state.waiting.first
        }
        for (ticket, result) in zip(group, results) { ticket.settle(result) }
        next?.call()
    }

    /// Takes the lead, and the batches that are to be committed.
    private static func takeGroup(_ state: inout State) -> [AppendTicket] {
        var bytes = 0
        let count = state.waiting.prefix(groupTicketsMax).prefix { ticket in
            defer { bytes += ticket.batch.byteCount }
            return bytes == 0 || bytes + ticket.batch.byteCount <= groupBytesMax
        }.count
        let group = Array(state.waiting.prefix(count))
        state.waiting.removeFirst(count)
        state.isLed = true
        state.waitingBytes -= group.reduce(0) { $0 + $1.batch.byteCount }
        return group
    }
}
