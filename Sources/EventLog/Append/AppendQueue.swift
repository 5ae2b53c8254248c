import Dispatch
import Synchronization

/// One batch on its way into a log.
struct QueuedBatch: Sendable {
    /// Who learns of the result.
    enum Receiver: Sendable {
        /// Called once, on the commit thread.
        case caller(@Sendable (Result<AppendResult, any Error>) -> Void)
        /// The stream that the batch belongs to.
        case stream(AppendStream)
    }

    let batch: PreparedBatch
    let bookmark: Bookmark?
    /// Commits the batch, and those that wait with it, with the options of its store.
    let writer: LogCommit
    /// The pieces of input that the batch stands for: its events, and pieces that gave none.
    let pieceCount: Int
    /// How long the batch may wait for others before its commit begins; zero if somebody waits for it.
    let linger: Duration
    /// When its commit must begin.
    let due: ContinuousClock.Instant
    let receiver: Receiver

    init(
        _ batch: PreparedBatch,
        bookmark: Bookmark?,
        writer: LogCommit,
        pieceCount: Int = 0,
        linger: Duration = .zero,
        receiver: Receiver
    ) {
        self.batch = batch
        self.bookmark = bookmark
        self.writer = writer
        self.pieceCount = pieceCount
        self.linger = linger
        due = .now + linger
        self.receiver = receiver
    }

    /// Whether a commit should begin at once.
    var isPrompt: Bool { linger == .zero }

    /// The stream that the batch belongs to; `nil` if a caller receives its result.
    var stream: AppendStream? {
        if case .stream(let stream) = receiver { stream } else { nil }
    }
}

/// The way of every append into one log: batches wait here, and one thread commits what waits together.
///
/// Batches are committed in the order in which they were added (I1), each as a whole or not at all (I5). A commit begins
/// once its first batch is due; what else waits goes along. Batches that came together lately are expected to do so
/// again: the thread waits for as many, at most half as long as the last commit took. The queue has no bound of its own:
/// a caller waits for its batch, and a stream for room. See `docs/decisions/0034-one-way-into-the-log.md`.
final class AppendQueue: Sendable {
    private struct State {
        /// Batches that no commit has taken yet, in the order in which they came.
        var waiting: [QueuedBatch] = []
        /// The bytes of the records of `waiting`.
        var waitingBytes = 0
        /// The number of prompt batches in `waiting`.
        var promptCount = 0
        /// When the next commit must begin; `nil` while nothing waits.
        var due: ContinuousClock.Instant?
        /// Whether the thread is committing, or is about to.
        var isRunning = false
        /// The earliest time for which a look at `due` is scheduled.
        var alarm: ContinuousClock.Instant?
        /// How many prompt batches make a group complete.
        var expected = 1
        /// How long the thread stays for prompt batches after a commit.
        var patience = Duration.zero
    }

    /// The next step of the thread.
    private enum Step {
        case commit([QueuedBatch])
        case stay
        case leave(ContinuousClock.Instant?)
    }

    /// The most bytes and batches of one commit, so that its length is bounded. A single batch may be larger.
    private static let groupBytesMax = 8 << 20
    private static let groupBatchesMax = 4_096
    /// With so many bytes or batches waiting, a commit begins at once.
    private static let groupBytesEnough = 1 << 20
    private static let groupBatchesEnough = 1_024
    /// From this number of waiting bytes on, the sync no longer decides how long a commit takes, so the thread does not
    /// wait for more.
    private static let promptBytesEnough = 64 << 10
    private static let patienceMax = Duration.milliseconds(2)
    /// How long the thread stays for one caller's next batch: waking it takes a part of a commit's time.
    private static let patienceForOne = Duration.microseconds(50)
    /// How long the thread stays awake; after that it sleeps 100 µs at a time.
    private static let wakefulness = Duration.microseconds(200)

    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "eventlog.append")

    /// Queues a batch and returns at once. A batch of a held stream waits in the stream.
    func add(_ batch: QueuedBatch) {
        change { state in
            if let stream = batch.stream, stream.keep(batch) { return }
            Self.add(batch, to: &state)
        }
    }

    /// Queues the batches that a held stream has kept; later ones come behind them.
    func release(_ stream: AppendStream) {
        change { state in
            for batch in stream.release() { Self.add(batch, to: &state) }
        }
    }

    /// Takes the batches of a stream out of the queue, in order; `body` receives them before others can be added.
    func withdraw<Value>(_ stream: AppendStream, _ body: ([QueuedBatch]) -> Value) -> Value {
        state.withLock { state in
            let withdrawn = state.waiting.filter { $0.stream === stream }
            state.waiting.removeAll { $0.stream === stream }
            Self.forget(withdrawn, &state)
            return body(withdrawn)
        }
    }

    /// Lets the next commit begin at once.
    func hurry() {
        change { if $0.due != nil { $0.due = .now } }
    }

    private static func add(_ batch: QueuedBatch, to state: inout State) {
        state.waiting.append(batch)
        state.waitingBytes += batch.batch.byteCount
        if batch.isPrompt { state.promptCount += 1 }
        state.due = min(state.due ?? batch.due, batch.due)
    }

    /// Forgets batches that were taken out of `waiting`.
    private static func forget(_ taken: [QueuedBatch], _ state: inout State) {
        for batch in taken {
            state.waitingBytes -= batch.batch.byteCount
            if batch.isPrompt { state.promptCount -= 1 }
        }
        state.due = state.waiting.lazy.map(\.due).min()
        assert(!state.waiting.isEmpty || state.waitingBytes == 0 && state.promptCount == 0, "only what waits counts")
    }
}

// MARK: - The commit thread

extension AppendQueue {
    /// Changes the state, and wakes the thread if something is due, or later, when it will be.
    private func change(_ body: (inout State) -> Void) {
        let (due, now) = state.withLock { state in
            body(&state)
            let now = ContinuousClock.now
            return (Self.wake(&state, now), now)
        }
        if let due { wake(at: due, now) }
    }

    /// When the thread must be woken; `nil` if it is awake or will be in time.
    private static func wake(_ state: inout State, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard !state.isRunning, let due = state.due else { return nil }
        if due <= now || isEnough(state) {
            state.isRunning = true
            return now
        }
        if let alarm = state.alarm, alarm <= due { return nil }
        state.alarm = due
        return due
    }

    private func wake(at due: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
        guard due > now else { return thread.async { self.run() } }
        let (seconds, attoseconds) = (due - now).components
        let deadline = DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        thread.asyncAfter(deadline: deadline) { self.change { $0.alarm = nil } }
    }

    private func run() {
        while let receivers = commitNext() { for tell in receivers { tell() } }
    }

    /// The next group once it is due; `nil` if none is, and then the thread sleeps.
    private func nextGroup() -> [QueuedBatch]? {
        let begin = ContinuousClock.now
        while true {
            let now = ContinuousClock.now
            switch state.withLock({ Self.step(&$0, now, waited: now - begin) }) {
            case .commit(let group): return group
            case .leave(let due):
                if let due { wake(at: due, now) }
                return nil
            case .stay: if now - begin < Self.wakefulness { yieldProcessor() } else { pause(microseconds: 100) }
            }
        }
    }

    private static func step(_ state: inout State, _ now: ContinuousClock.Instant, waited: Duration) -> Step {
        let isLate = waited >= state.patience
        if let due = state.due, isEnough(state) || due <= now {
            // A caller is expected to come along with others.
            let isComplete = state.promptCount >= state.expected || state.waitingBytes >= promptBytesEnough
            if isLate || isComplete || state.promptCount == 0 { return .commit(takeGroup(&state)) }
        }
        if !isLate { return .stay }
        // Set under the lock, so that the next batch wakes the thread.
        state.isRunning = false
        return .leave(wake(&state, now))
    }

    private static func isEnough(_ state: State) -> Bool {
        state.waiting.count >= groupBatchesEnough || state.waitingBytes >= groupBytesEnough
    }

    /// Takes the batches of one commit from the front. At least one must be waiting.
    private static func takeGroup(_ state: inout State) -> [QueuedBatch] {
        var bytes = 0
        let front = state.waiting.prefix(groupBatchesMax).prefix { waiting in
            defer { bytes += waiting.batch.byteCount }
            return bytes == 0 || bytes + waiting.batch.byteCount <= groupBytesMax
        }
        let group = Array(front)
        assert(!group.isEmpty, "a commit has a batch")
        state.waiting.removeFirst(group.count)
        forget(group, &state)
        return group
    }

    /// Commits the next group once it is due; returns what tells everybody, for the caller to do without a lock: who is told may
    /// append again. `nil` if the thread sleeps.
    ///
    /// Nothing of the log is held any more when they are told, so that a log whose last store then goes is closed at once.
    private func commitNext() -> [@Sendable () -> Void]? {
        guard let group = nextGroup() else { return nil }
        let clock = ContinuousClock()
        let start = clock.now
        let results = group.first?.writer.commit(group) ?? []
        let duration = clock.now - start
        assert(results.count == group.count, "a commit has one result for each batch")
        state.withLock { state in
            let promptCount = group.count(where: \.isPrompt)
            if promptCount > 0 { state.expected = min(promptCount + state.promptCount, Self.groupBatchesMax) }
            state.patience =
                promptCount == 0
                ? .zero : state.expected == 1 ? Self.patienceForOne : min(duration / 2, Self.patienceMax)
        }
        var parts: [AppendStream.Part] = []
        var receivers: [@Sendable () -> Void] = []
        for (batch, result) in zip(group, results) {
            switch batch.receiver {
            case .caller(let told): receivers.append { @Sendable in told(result) }
            case .stream(let stream):
                let place = parts.firstIndex { $0.stream === stream } ?? parts.endIndex
                if place == parts.endIndex { parts.append(AppendStream.Part(of: stream, in: duration)) }
                parts[place].add(batch, result)
            }
        }
        for part in parts { receivers += part.stream.settle(part) }
        return receivers
    }
}

/// A value that one thread waits for, and another one sets once.
final class Awaited<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func set(_ new: Value) {
        value.withLock { value in
            assert(value == nil, "a value is set once")
            value = new
        }
        semaphore.signal()
    }

    /// Blocks until the value is set. Called once.
    func wait() -> Value {
        while true {
            semaphore.wait()
            if let value = value.withLock({ $0 }) { return value }
        }
    }
}
