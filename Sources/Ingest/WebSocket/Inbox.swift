#if Recorders
import Synchronization

/// A queue for one consumer: any thread pushes elements, the consumer takes all of them at once.
///
/// `push` never waits and never drops. It returns false when enough waits; the producer then stops reading until it is
/// called back, so memory is bounded by the limit plus one push a producer. Elements of weight 0 do not count, so
/// producers must bound those themselves.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        /// The sum of the weights of `waiting`.
        var weight = 0
        var isFinished = false
        /// True if a push returned false since the last take, so that the producer waits to be called back.
        var owesCall = false
        /// The consumer's continuation while it waits. Taken out under the lock by whoever resumes it, so it is resumed
        /// once.
        var consumer: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let weightMax: Int
    /// Called outside of both locks, so the call may push.
    private let onDrained: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

    /// - Parameter weightMax: the weight from which `push` returns false; in the unit of the weights.
    init(weightMax: Int) {
        self.weightMax = weightMax
    }

    /// Sets the closure that is called, on the consumer's task, after a full inbox was emptied. Replaces an earlier
    /// one.
    func whenDrained(_ call: @escaping @Sendable () -> Void) {
        onDrained.withLock { $0 = call }
    }

    /// Adds an element; returns false if the producer should read no further for now.
    @discardableResult
    func push(_ element: Element, weight: Int = 0) -> Bool {
        push([element], weight: weight)
    }

    /// Adds elements in order; returns false if the producer should read no further for now.
    @discardableResult
    func push(_ elements: [Element], weight: Int) -> Bool {
        let (consumer, hasRoom) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard !state.isFinished else { return (nil, true) }
            state.waiting += elements
            state.weight += weight
            let hasRoom = state.weight < weightMax
            state.owesCall = state.owesCall || !hasRoom
            defer { state.consumer = nil }
            return (state.consumer, hasRoom)
        }
        consumer?.resume()
        return hasRoom
    }

    /// True if nothing waits.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Ends the inbox: later pushes are ignored. The consumer can still take what waits.
    func finish() {
        let consumer = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isFinished = true
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume()
    }

    /// Waits for elements and takes all of them, in order; `nil` once the inbox has ended and is empty, or the task is
    /// cancelled.
    func take() async -> [Element]? {
        while true {
            if Task.isCancelled { return nil }
            let (taken, isFinished) = takeWaiting()
            if !taken.isEmpty { return taken }
            if isFinished { return nil }
            await waitForPush()
        }
    }

    private func takeWaiting() -> ([Element], Bool) {
        // All at once, so that the consumer can append everything that came together in one batch.
        let (taken, isFinished, owesCall) = state.withLock { state in
            let result = (state.waiting, state.isFinished, state.owesCall)
            state.waiting = []
            state.weight = 0
            state.owesCall = false
            return result
        }
        if owesCall { onDrained.withLock { $0 }?() }
        return (taken, isFinished)
    }

    private func waitForPush() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state -> Bool in
                    // Looked at again under the lock: a push, the end or a cancellation may have come since, and finds
                    // no consumer to resume.
                    if !state.waiting.isEmpty || state.isFinished || Task.isCancelled { return true }
                    assert(state.consumer == nil, "an inbox has one consumer")
                    state.consumer = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let consumer = state.withLock { state -> CheckedContinuation<Void, Never>? in
                defer { state.consumer = nil }
                return state.consumer
            }
            consumer?.resume()
        }
    }
}
#endif
