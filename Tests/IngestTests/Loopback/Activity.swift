#if Recorders
import Synchronization

/// What reaches a loopback server and what it sends, and a place to step in at any moment of it.
final class Activity: Sendable {
    private struct State {
        var count = 0
        var step: Step?
        var sent: Set<[UInt8]> = []
        var openCount = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// What is done once so many things have reached the server.
    private struct Step {
        let number: Int
        /// Where the server waits before it goes on, and then ends the connection instead; `nil` goes on at once.
        let gate: Gate?
        let action: @Sendable () -> Void
    }

    private let state = Mutex(State())
    /// Frames that a WebSocket begins with.
    let greeting: [[UInt8]]

    init(greeting: [[UInt8]] = []) {
        self.greeting = greeting
    }

    /// Requests, handshakes and messages so far.
    var count: Int { state.withLock { $0.count } }
    /// Bodies and messages that were sent.
    var sent: Set<[UInt8]> { state.withLock { $0.sent } }

    /// Acts when the `number`th thing from now on reaches the server; with a gate, that one and all after it are held
    /// there.
    func step(in number: Int, gate: Gate?, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.step = Step(number: $0.count + number, gate: gate, action: action) }
    }

    /// Goes on without a step.
    func clearStep() {
        state.withLock { $0.step = nil }
    }

    /// Something reached the server; where it is held, if it is.
    func happened() -> Gate? {
        let (step, isNow) = state.withLock { state -> (Step?, Bool) in
            state.count += 1
            guard let step = state.step, state.count >= step.number else { return (nil, false) }
            return (step, state.count == step.number)
        }
        if isNow { step?.action() }
        return step?.gate
    }

    func note(sent bytes: [UInt8]) {
        state.withLock { _ = $0.sent.insert(bytes) }
    }

    /// A connection was opened.
    func opened() {
        state.withLock { $0.openCount += 1 }
    }

    /// A connection was closed.
    func closed() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.openCount -= 1
            guard state.openCount == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once no connection is open.
    func waitUntilAllAreClosed() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state -> Bool in
                guard state.openCount > 0 else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

/// Lets nobody through until it is opened, and then everybody.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func open() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state -> Bool in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
#endif
