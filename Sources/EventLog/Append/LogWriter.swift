import Dispatch

/// This process's writer of one log: the write lock, and what is known of the log after the last commit.
///
/// `@unchecked Sendable` is right because `state` and `lock` are touched in `locked` only, by the thread that has the
/// turn.
final class LogWriter: @unchecked Sendable {
    /// What the next append builds on; `nil` if nothing is known. Only for bodies of `locked`.
    var state: WriterState?
    private var lock: FileLock?
    /// All threads share the one file lock; this semaphore keeps them apart. It is no mutex: a mutex cannot wait with a
    /// timeout.
    private let turn = DispatchSemaphore(value: 1)

    init() {}

    /// Runs a body under the log's write lock, which keeps out other threads and processes (I6). First waits for the
    /// threads of this process, then for other processes, each time for at most `wait`.
    ///
    /// - Throws: `EventLogError` with code `locked` if the lock stays taken for longer than `wait`.
    func locked<Result>(
        _ directory: LogDirectory,
        wait: Duration,
        _ body: () throws -> Result
    ) throws -> Result {
        try takeTurn(directory, wait)
        defer { turn.signal() }
        let held = try lock ?? FileLock(LogDirectory.writeLock, in: directory.folder)
        lock = held
        try held.acquire(wait: wait, operation: "append to", object: directory.path)
        defer { held.release() }
        return try body()
    }

    private func takeTurn(_ directory: LogDirectory, _ wait: Duration) throws {
        let milliseconds = Int(min(max(wait.wholeMilliseconds, 0), 1 << 40))
        guard turn.wait(timeout: .now() + .milliseconds(milliseconds)) == .timedOut else { return }
        throw EventLogError(
            .locked,
            operation: "append to",
            object: directory.path,
            reason: "this process (\(processNumber)) is writing, waited \(wait)",
            advice: "allow more time"
        )
    }
}

/// The writer's knowledge of one generation at one head: a cache of the log, which `catchUp` extends by what other
/// processes have appended.
struct WriterState {
    let generation: Generation
    /// The right edge of the tree at the head that the writer knows.
    var edge: TreeEdge
    var reserve = FileReserve()
    /// The held keys; made for the first batch that has keys.
    private(set) var keys: HeldKeys?
    /// How many keys are kept in memory; `nil` if none may be stored, because the generation may be discarded.
    private let keysInMemory: Int?

    /// Reads the last complete node; `catchUp` must add the leaves after it.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` for a part, to which nothing is appended.
    init(_ reader: LogReader, generation: Generation, keysInMemory: Int?) throws {
        self.generation = generation
        self.keysInMemory = keysInMemory
        if try reader.isPart() { throw EventLogError.isPart("append to", reader.logPath) }
        edge = try TreeEdge(lastNodeOf: reader, head: reader.head())
    }

    /// Reads what other processes have appended, and the lanes that this process's last commit added.
    mutating func catchUp(_ reader: LogReader) throws {
        if try reader.view.count(of: reader.tables.lanes) != reader.lanes.count { try reader.lanes.load(from: reader) }
        let head = try reader.head()
        // Its hashes fit no run. `heldKeys` makes the table anew, with the secret of the runs.
        if let keys, keys.isForeign { self.keys = nil }
        guard head >= edge.head else { throw reader.damaged("the log became shorter") }
        if head == edge.head { return }
        let first = edge.head + 1
        try reader.forEachLeaf(in: first...head) { _ = edge.append($0.hash, clock: $0.clock) }
        try keys?.catchUp(to: head, reader)
    }

    /// The keys of the log up to a head. The first call reads the stored runs, and each record that they do not cover.
    mutating func heldKeys(_ reader: LogReader, head: UInt64) throws -> HeldKeys {
        if let keys { return keys }
        let made = try HeldKeys(reader, of: generation, committed: head, capacity: keysInMemory)
        try made.catchUp(to: head, reader)
        keys = made
        return made
    }
}
