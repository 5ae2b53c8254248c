import Dispatch
import Synchronization

/// Takes batches at once and commits them soon, in their order: `fast` durability (I5).
///
/// A batch that cannot be committed stays queued, and so do all after it. Every later append and flush throws the
/// reason, until a flush succeeds. Any thread may call the methods; the queue `thread` runs one commit at a time.
final class FastQueue: Sendable {
    /// How long after the first waiting batch a commit begins, so that it is done within 100 ms.
    private static let delay = DispatchTimeInterval.milliseconds(80)
    /// With this many bytes waiting, the caller that adds a batch waits for the commit.
    private static let waitingBytesMax = 16 << 20
    /// Bounds one commit; its last batch may pass it.
    private static let groupBytesMax = 8 << 20

    private struct State {
        /// Batches that are not committed, in the order in which they came.
        var waiting: [AppendTicket] = []
        var waitingBytes = 0
        /// Whether a commit of what waits is due, so that each group has one timer.
        var isScheduled = false
        /// Why the first waiting batch was not committed; `nil` again once `flush` tries anew.
        var failure: (any Error)?
        /// The sum of all commits since the last successful flush.
        var done = AppendResult(sequences: [], appended: 0, first: 0)
    }

    private let commit: AppendQueue.Commit
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "eventlog.fast")

    /// - Parameter commit: commits batches, and separates keys that are held with another payload.
    init(commit: @escaping AppendQueue.Commit) {
        self.commit = commit
    }

    /// Takes a batch. Blocks for a commit only if 16 MiB are waiting.
    func add(_ batch: PreparedBatch, bookmark: Bookmark?) throws {
        let ticket = AppendTicket(batch, bookmark: bookmark, settled: { _ in }, called: {})
        let (isFull, schedules) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.waiting.append(ticket)
            state.waitingBytes += batch.byteCount
            defer { state.isScheduled = true }
            return (state.waitingBytes >= Self.waitingBytesMax, !state.isScheduled)
        }
        if isFull {
            thread.sync { commitAll() }
        } else if schedules {
            thread.asyncAfter(deadline: .now() + Self.delay) { self.commitAll() }
        }
    }

    /// Waits until everything is durable; returns the counts of all commits since the last flush.
    func flush() throws -> AppendResult {
        state.withLock { $0.failure = nil }
        thread.sync { commitAll() }
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            defer { state.done = AppendResult(sequences: [], appended: 0, first: 0) }
            return state.done
        }
    }

    /// Commits until nothing waits or a commit fails. Runs on `thread` only, so that batches keep their order.
    private func commitAll() {
        while true {
            let group = state.withLock { state in
                state.isScheduled = false
                return state.failure == nil ? Self.group(of: state.waiting) : []
            }
            if group.isEmpty { return }
            take(commit(group), of: group)
        }
    }

    /// The batches of the next commit, from the front; none if nothing waits.
    private static func group(of waiting: [AppendTicket]) -> [AppendTicket] {
        var bytes = 0
        return Array(
            waiting.prefix { ticket in
                defer { bytes += ticket.batch.byteCount }
                return bytes < groupBytesMax
            }
        )
    }

    /// Removes the committed batches; from the first failure on, batches stay.
    private func take(_ results: [Result<AppendResult, any Error>], of group: [AppendTicket]) {
        state.withLock { state in
            for (ticket, result) in zip(group, results) {
                switch result {
                case .success(let result):
                    assert(state.waiting.first === ticket, "batches are committed in the order in which they came")
                    state.done.add(result)
                    state.waiting.removeFirst()
                    state.waitingBytes -= ticket.batch.byteCount
                case .failure(let failure):
                    state.failure = failure
                    return
                }
            }
        }
    }
}
