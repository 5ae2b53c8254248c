#if Recorders
import Synchronization

/// What happens while a recording is played, in order, from the event loops to the one task that plays.
final class PlayInbox: Sendable {
    enum Event: Sendable {
        /// A client has connected.
        case opened(PlayWire)
        /// It sent a message.
        case message(wire: Int, [UInt8])
        /// It has gone.
        case closed(wire: Int)
        /// It asked for an answer that the recording has.
        case asked
        /// So many more events may be given.
        case stepped(Int)
    }

    private struct State {
        var events: [Event] = []
        var waiter: (ticket: Int, continuation: CheckedContinuation<Void, Never>)?
        var tickets = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    /// More than that wait for nobody: who floods is disconnected.
    private static let countMax = 10_000

    /// Adds an event; false where there are too many.
    @discardableResult
    func push(_ event: Event) -> Bool {
        let (waiter, isTaken) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            if case .message = event, state.events.count >= Self.countMax { return (nil, false) }
            state.events.append(event)
            defer { state.waiter = nil }
            return (state.waiter?.continuation, true)
        }
        waiter?.resume()
        return isTaken
    }

    /// Everything that came since the last call.
    func takeAll() -> [Event] {
        state.withLock { state in
            guard !state.events.isEmpty else { return [] }
            defer { state.events.removeAll(keepingCapacity: true) }
            return state.events
        }
    }

    /// Returns when there is an event, when the time is over, or when the task is cancelled.
    func wait(upTo limit: Duration?) async {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        let timer = limit.map { limit in
            Task {
                try? await Task.sleep(for: limit)
                self.wake(ticket)
            }
        }
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    guard state.events.isEmpty, !state.isEnded else { return true }
                    state.waiter = (ticket, continuation)
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.isEnded = true }
            wake(nil)
        }
    }

    /// Ends the wait with a number, or any.
    private func wake(_ ticket: Int?) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter, ticket == nil || waiter.ticket == ticket else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }
}
#endif
