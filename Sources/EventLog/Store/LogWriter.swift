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
        let held = try lock ?? FileLock.open(directory.writeLock)
        lock = held
        try held.acquire(wait: wait, operation: "append to", object: directory.path)
        defer { held.release() }
        return try body()
    }

    private func takeTurn(_ directory: LogDirectory, _ wait: Duration) throws {
        let milliseconds = wait.components.seconds.multipliedReportingOverflow(by: 1000)
        let limit = milliseconds.overflow ? Int.max / 2_000_000 : Int(clamping: milliseconds.partialValue)
        let part = Int(wait.components.attoseconds / 1_000_000_000_000_000)
        guard turn.wait(timeout: .now() + .milliseconds(min(limit, 1 << 40) + part)) == .timedOut else { return }
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
    let generation: UInt32
    var edge: TreeEdge
    /// Built by the first batch with keys.
    var index: KeyIndex?

    init(_ reader: LogReader, generation: UInt32) throws {
        self.generation = generation
        edge = try TreeEdge(lastNodeOf: reader, head: reader.head())
    }

    /// Takes up what other processes have appended.
    mutating func catchUp(_ reader: LogReader) throws {
        try reader.lanes.load(from: reader)
        let head = try reader.head()
        guard head >= edge.head else { throw reader.damaged("the log became shorter") }
        if head == edge.head { return }
        let first = edge.head + 1
        try reader.forEachLeaf(in: first...head) { _ = edge.append($0.hash, clock: $0.clock) }
        if index != nil { try indexKeys(in: first...head, of: reader) }
    }

    /// Makes the index of keys, by one scan of the log.
    mutating func makeIndex(_ reader: LogReader) throws {
        guard index == nil else { return }
        index = KeyIndex(capacity: Int(clamping: try reader.view.count(of: reader.tables.events)))
        if edge.head > 0 { try indexKeys(in: 1...edge.head, of: reader) }
    }

    private mutating func indexKeys(in range: ClosedRange<UInt64>, of reader: LogReader) throws {
        let lanes = reader.lanes.known
        try reader.forEachRecord(in: range) { sequence, record in
            guard let key = record.key else { return true }
            guard Int(record.laneNumber) < lanes.count else { throw reader.damaged("lane \(record.laneNumber)") }
            index?.insert(KeyHash.hash(key, seed: lanes[Int(record.laneNumber)].keySeed), sequence)
            return true
        }
    }
}
