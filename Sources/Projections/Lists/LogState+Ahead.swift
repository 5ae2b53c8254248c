import Dispatch
package import EventLog
import Synchronization

extension LogState {
    /// Makes something of the rows of lists and hands it to `body`, in order. A second thread calls `make`, about a
    /// thousand results ahead of `body`, which the calling thread calls. The second thread reads a copy of the state.
    ///
    /// - Parameter make: Calls its last argument with what it makes of a row: once, several times or not at all.
    /// - Throws: what `body` throws; the second thread has ended by then.
    package func forEachMade<Made: Sendable>(
        of lists: [StateList],
        asOf: Timestamp,
        by make: @escaping @Sendable (StateList, JSONValue, (Made) -> Void) -> Void,
        _ body: (Made) throws -> Void
    ) throws {
        let line = AssemblyLine<Made>()
        let state = self
        line.start {
            for list in lists {
                try state.forEachRow(of: list, asOf: asOf) { row in
                    make(list, row) { line.add($0) }
                    try line.goOn()
                }
            }
        }
        defer { line.stop() }
        while let batch = line.next() {
            for made in batch { try body(made) }
        }
    }
}

/// Hands batches from one thread, which makes them, to another, which takes them. For one run: `start`, then `next`
/// until `nil`, then `stop`.
///
/// `@unchecked Sendable` holds because only the maker's thread touches `batch` and `isOver`; everything else is
/// constant or guarded by the mutex.
private final class AssemblyLine<Made: Sendable>: @unchecked Sendable {
    /// Thrown in the maker once nothing more is wanted.
    private struct Stopped: Error {}

    /// Results in a batch, and batches that may wait: about a thousand results ahead.
    private static var batchCount: Int { 256 }
    private static var batchesMax: Int { 4 }

    private let queue = DispatchQueue(label: "eventlog.rows")
    /// Counts the batches that may still be handed over. See `init` for its first value.
    private let room = DispatchSemaphore(value: 0)
    /// Counts the batches that wait.
    private let ready = DispatchSemaphore(value: 0)
    /// The batches that wait, and whether no more are wanted. An empty batch is the last one.
    private let state = Mutex((batches: [[Made]](), isStopped: false))
    private var batch: [Made] = []
    /// True once the maker has seen `isStopped`.
    private var isOver = false

    init() {
        // Dispatch traps if a semaphore is destroyed with less than the value that it was made with, so it is made with
        // 0.
        for _ in 0..<Self.batchesMax { room.signal() }
    }

    /// Runs `work`, which makes everything, on the queue. Then hands over the last results, and an empty batch as the
    /// end.
    func start(_ work: @escaping @Sendable () throws -> Void) {
        queue.async { [self] in
            // `work` throws nothing but `Stopped`.
            try? work()
            handOver()
            put([])
        }
    }

    /// Adds a result; waits while `batchesMax` batches have not been taken, unless nothing more is wanted. Called by
    /// the maker.
    func add(_ made: Made) {
        assert(isOver || batch.count < Self.batchCount, "a full batch is handed over at once")
        batch.append(made)
        if batch.count == Self.batchCount { handOver() }
    }

    /// Throws once nothing more is wanted. Called by the maker.
    func goOn() throws {
        if isOver { throw Stopped() }
    }

    /// The next batch, for which it waits; `nil` after the last one.
    func next() -> [Made]? {
        ready.wait()
        let batch = state.withLock { $0.batches.removeFirst() }
        room.signal()
        return batch.isEmpty ? nil : batch
    }

    /// Tells the maker to end and waits until it has. Called by the taker, also after the last batch.
    func stop() {
        state.withLock { $0.isStopped = true }
        // The maker may be waiting for room.
        room.signal()
        queue.sync {}
    }

    /// Hands the batch over as soon as there is room. After `stop` it passes on at most one batch more, which nobody
    /// takes.
    private func handOver() {
        guard !batch.isEmpty, !isOver else { return }
        room.wait()
        isOver = state.withLock { $0.isStopped }
        put(batch)
        batch = []
        batch.reserveCapacity(Self.batchCount)
    }

    private func put(_ batch: [Made]) {
        state.withLock { $0.batches.append(batch) }
        ready.signal()
    }
}
