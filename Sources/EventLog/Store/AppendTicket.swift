import Dispatch
import Synchronization

/// One batch on its way into the log, and whoever waits for it.
final class AppendTicket: Sendable {
    /// What the waiting thread wakes up to.
    enum Outcome {
        case done(Result<AppendResult, any Error>)
        /// The thread is to commit what waits, its own batch with it.
        case lead
    }

    let events: [PreparedEvent]
    let bookmark: Bookmark?
    let byteCount: Int
    private let outcome = Mutex<Outcome?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    init(events: [PreparedEvent], bookmark: Bookmark?) {
        self.events = events
        self.bookmark = bookmark
        byteCount = events.reduce(0) { $0 + $1.recordByteCount }
    }

    func settle(_ result: Outcome) {
        outcome.withLock { $0 = result }
        semaphore.signal()
    }

    func wait() -> Outcome {
        while true {
            semaphore.wait()
            let settled = outcome.withLock { outcome in
                defer { outcome = nil }
                return outcome
            }
            if let settled { return settled }
        }
    }
}

/// Batches that wait to be committed together. Whoever comes first commits for all who come meanwhile, so that threads
/// share the cost of a sync; nobody else holds the writer.
final class AppendQueue: Sendable {
    private struct State {
        var waiting: [AppendTicket] = []
        var isLed = false
    }

    /// Bounds the length of one commit.
    private static let groupBytesMax = 8 << 20
    private static let groupTicketsMax = 256
    private let state = Mutex(State())

    /// Waits until the batch is committed or refused; `commit` settles every ticket that it gets.
    func submit(_ ticket: AppendTicket, commit: ([AppendTicket]) -> Void) throws -> AppendResult {
        let leads = state.withLock { state in
            state.waiting.append(ticket)
            if state.isLed { return false }
            state.isLed = true
            return true
        }
        if leads { lead(commit) }
        while true {
            switch ticket.wait() {
            case .done(let result): return try result.get()
            case .lead: lead(commit)
            }
        }
    }

    /// Commits one group, of which the caller's own batch is the first, then hands the lead on.
    private func lead(_ commit: ([AppendTicket]) -> Void) {
        commit(state.withLock { Self.takeGroup(from: &$0.waiting) })
        let next = state.withLock { state in
            state.isLed = !state.waiting.isEmpty
            return state.waiting.first
        }
        next?.settle(.lead)
    }

    private static func takeGroup(from waiting: inout [AppendTicket]) -> [AppendTicket] {
        var bytes = 0
        let count = waiting.prefix(groupTicketsMax).prefix { ticket in
            defer { bytes += ticket.byteCount }
            return bytes == 0 || bytes + ticket.byteCount <= groupBytesMax
        }.count
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }
}
