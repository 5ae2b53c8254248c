#if Recorders
import Synchronization

/// A queue of what happens during a playback, from the event loops to the one task that plays.
///
/// The mutex guards all state, so any thread may push. One task at a time may wait.
final class PlayInbox: Sendable {
    enum Event: Sendable {
        /// A client has connected.
        case opened(PlayWire)
        /// A client sent a message.
        case message(wire: Int, [UInt8])
        /// A client has left.
        case closed(wire: Int)
        /// A client requested a route with a recorded answer.
        case asked
        /// This many more events may be given.
        case stepped(Int)
    }

    /// What the mutex guards.
    private struct State {
        var events: [Event] = []
        /// The suspended task and the number of its wait; `nil` while no task waits.
        var waiter: (ticket: Int, continuation: CheckedContinuation<Void, Never>)?
        var tickets = 0
        /// True once the waiting task was cancelled; later waits return at once.
        var isEnded = false
    }

    private let state = Mutex(State())
    /// The most events that wait. A client that sends more messages is disconnected. Other events are few and always
    /// taken.
    private static let countMax = 10_000

    /// Adds an event; false for a message that finds the queue full.
    @discardableResult
    func push(_ event: Event) -> Bool {
        let (waiter, isTaken) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            if case .message = event, state.events.count >= Self.countMax { return (nil, false) }
            state.events.append(event)
            defer { state.waiter = nil }
            return (state.waiter?.continuation, true)
        }
        // Outside the lock, because resuming may run the task's code.
        waiter?.resume()
        return isTaken
    }

    /// Takes everything that came since the last call, in order of arrival.
    func takeAll() -> [Event] {
        state.withLock { state in
            guard !state.events.isEmpty else { return [] }
            defer { state.events.removeAll(keepingCapacity: true) }
            return state.events
        }
    }

    /// Returns when an event has come, when the limit has passed, or when the task is cancelled. Returns at once if an
    /// event waits already.
    ///
    /// - Parameter limit: `nil` waits without a limit.
    func wait(upTo limit: Duration?) async {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    // An event that came since `takeAll` must not be slept over, so this is tested under the lock that
                    // registers the waiter.
                    guard state.events.isEmpty, !state.isEnded else { return true }
                    assert(state.waiter == nil, "one task waits at a time")
                    state.waiter = (ticket, continuation)
                    return false
                }
                if goesOn { return continuation.resume() }
                // Only now: a limit that passed before the waiter is registered would end nothing.
                timer = limit.map { limit in
                    Task {
                        try? await Task.sleep(for: limit)
                        self.wake(ticket)
                    }
                }
            }
        } onCancel: {
            state.withLock { $0.isEnded = true }
            wake(nil)
        }
    }

    /// Resumes the waiter with this ticket, or any waiter for `nil`. Thanks to the ticket, a timer that fires late ends
    /// only its own wait.
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
