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

    private struct State {
        var events: [Event] = []
        var waiter: (ticket: Int, continuation: CheckedContinuation<Void, Never>)?
        var tickets = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    /// The most events that wait. A client that sends more messages is disconnected.
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
        waiter?.resume()
        return isTaken
    }

    /// Takes everything that came since the last call, in order.
    func takeAll() -> [Event] {
        state.withLock { state in
            guard !state.events.isEmpty else { return [] }
            defer { state.events.removeAll(keepingCapacity: true) }
            return state.events
        }
    }

    /// Returns when an event has come, when the limit has passed, or when the task is cancelled.
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
                    assert(state.waiter == nil, "one task waits at a time")
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

    /// Resumes the waiter with this ticket, or any waiter for `nil`. A late timer so ends only its own wait.
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
