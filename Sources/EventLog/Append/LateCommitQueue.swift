import Dispatch
import Synchronization

/// Takes batches at once and commits them soon, in their order: `fast` durability (I5).
///
/// If a commit fails, its batches stay queued, and so do all after them. Every later append and flush throws the reason,
/// until a flush succeeds. A batch that the log refuses for a key can never be committed: it goes, the batches after it do
/// not wait for it, and appends and the next flush throw the reason. Any thread may call the methods; the queue `thread`
/// runs one commit at a time.
final class LateCommitQueue: Sendable {
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
        /// Why a batch was refused; `nil` again once a flush has thrown it.
        var refusal: (any Error)?
        /// The sum of all commits since the last successful flush.
        var done = AppendResult(sequences: [], appended: 0, first: 0)
    }

    private let commit: GroupCommitQueue.Commit
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "eventlog.fast")

    /// - Parameter commit: commits batches, and separates keys that are held with another payload.
    init(commit: @escaping GroupCommitQueue.Commit) {
        self.commit = commit
    }

    /// Takes a batch. Blocks for a commit only if 16 MiB are waiting.
    func add(_ batch: PreparedBatch, bookmark: Bookmark?) throws {
        let ticket = AppendTicket(batch, bookmark: bookmark, settled: { _ in }, called: {})
        let (isFull, schedules) = try state.withLock { state in
            if let failure = state.failure ?? state.refusal { throw failure }
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

    /// Waits until everything but refused batches is durable; returns the counts of all commits since the last flush.
    func flush() throws -> AppendResult {
        state.withLock { $0.failure = nil }
        thread.sync { commitAll() }
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            if let refusal = state.refusal {
                state.refusal = nil
                throw refusal
            }
            defer { state.done = AppendResult(sequences: [], appended: 0, first: 0) }
            return state.done
        }
    }

    /// The counts of all commits since the last successful flush, also after one that failed.
    func committed() -> AppendResult { thread.sync { state.withLock { $0.done } } }

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

    /// Removes what was committed or refused. What failed stays, in its order.
    ///
    /// A commit that refuses one batch has committed the others, those behind it as well: they must not be appended again.
    private func take(_ results: [Result<AppendResult, any Error>], of group: [AppendTicket]) {
        state.withLock { state in
            assert(state.waiting.starts(with: group, by: ===), "batches are committed in the order in which they came")
            var failed: [AppendTicket] = []
            for (ticket, result) in zip(group, results) {
                switch result {
                case .success(let result): state.done.add(result)
                case .failure(let error as EventLogError) where error.code == .keyConflict:
                    state.refusal = state.refusal ?? error
                case .failure(let failure):
                    state.failure = state.failure ?? failure
                    failed.append(ticket)
                    continue
                }
                state.waitingBytes -= ticket.batch.byteCount
            }
            state.waiting.replaceSubrange(..<group.count, with: failed)
        }
    }
}
