import Dispatch

/// What the writer of this process knows of the log from its last commit. Whoever holds the lock touches it, nobody
/// else.
final class LogWriter: @unchecked Sendable {
    /// What the next append builds on; `nil` where nothing is known.
    var state: WriterState?
    private var lock: FileLock?
    /// A file lock is one for all threads of a process; this one is among them.
    private let turn = DispatchSemaphore(value: 1)

    init() {}

    /// Runs a body under the log's write lock.
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

/// The writer's knowledge of one generation at one point.
struct WriterState {
    let generation: Generation
    var edge: TreeEdge
    var reserve = FileReserve()
    /// Made by the first batch with keys.
    private(set) var keys: HeldKeys?
    /// How many keys stand in memory; `nil` where they may not be stored, since the generation is not certain to stay.
    private let keysInMemory: Int?

    init(_ reader: LogReader, generation: Generation, keysInMemory: Int?) throws {
        self.generation = generation
        self.keysInMemory = keysInMemory
        if try reader.isPart() { throw EventLogError.isPart("append to", reader.logPath) }
        edge = try TreeEdge(lastNodeOf: reader, head: reader.head())
    }

    /// Takes up what other processes have appended, and the lanes that the last commit of this one added.
    mutating func catchUp(_ reader: LogReader) throws {
        if try reader.view.count(of: reader.tables.lanes) != reader.lanes.count { try reader.lanes.load(from: reader) }
        let head = try reader.head()
        if let keys, keys.isForeign { self.keys = nil }
        guard head >= edge.head else { throw reader.damaged("the log became shorter") }
        if head == edge.head { return }
        let first = edge.head + 1
        try reader.forEachLeaf(in: first...head) { _ = edge.append($0.hash, clock: $0.clock) }
        try keys?.catchUp(to: head, reader)
    }

    /// The keys of the log up to a head; the first time by a look at the log.
    mutating func heldKeys(_ reader: LogReader, head: UInt64) throws -> HeldKeys {
        if let keys { return keys }
        let made = try HeldKeys(reader, of: generation, committed: head, capacity: keysInMemory)
        try made.catchUp(to: head, reader)
        keys = made
        return made
    }
}
