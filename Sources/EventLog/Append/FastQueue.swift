import Dispatch
import Synchronization

/// Batches under `fast` durability: taken at once, committed and synced soon, in their order (I5).
///
/// What cannot be committed stays, and every later append and flush says why, until a flush succeeds.
final class FastQueue: Sendable {
    /// A commit begins so long after the first batch that waits, so that it is done within 100 ms.
    private static let delay = DispatchTimeInterval.milliseconds(80)
    private static let waitingBytesMax = 16 << 20
    /// Bounds one commit.
    private static let groupBytesMax = 8 << 20

    private struct State {
        var waiting: [AppendTicket] = []
        var waitingBytes = 0
        var isScheduled = false
        var failure: (any Error)?
        var done = AppendResult(sequences: [], appended: 0, first: 0)
    }

    private let commit: AppendQueue.Commit
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "eventlog.fast")

    /// - Parameter commit: commits batches and separates keys that are held with another payload.
    init(commit: @escaping AppendQueue.Commit) {
        self.commit = commit
    }

    /// Takes a batch. Waits only where 16 MiB are waiting already.
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

    /// Waits until everything is durable; answers with what was done since the last flush.
    func flush() throws -> AppendResult {
        state.withLock { $0.failure = nil }
        thread.sync { commitAll() }
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            defer { state.done = AppendResult(sequences: [], appended: 0, first: 0) }
            return state.done
        }
    }

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

    private static func group(of waiting: [AppendTicket]) -> [AppendTicket] {
        var bytes = 0
        return Array(
            waiting.prefix { ticket in
                defer { bytes += ticket.batch.byteCount }
                return bytes < groupBytesMax
            }
        )
    }

    /// What was committed is done; from the first failure on the batches stay.
    private func take(_ results: [Result<AppendResult, any Error>], of group: [AppendTicket]) {
        state.withLock { state in
            for (ticket, result) in zip(group, results) {
                switch result {
                case .success(let result):
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
