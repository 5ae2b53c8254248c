import Dispatch
package import EventLog
import Synchronization

/// What a thread makes of some rows, handed over as a whole.
package protocol RowBatch: Sendable {
    /// Makes an empty batch.
    init()

    var isEmpty: Bool { get }
    /// Whether the batch should be handed over.
    var isFull: Bool { get }

    /// Empties the batch and keeps its room.
    mutating func removeAll()
}

/// A batch of values.
package struct RowList<Element: Sendable>: RowBatch {
    /// The values in order.
    package var elements: [Element] = []

    package init() {}

    package var isEmpty: Bool { elements.isEmpty }
    package var isFull: Bool { elements.count >= 256 }
    package mutating func removeAll() { elements.removeAll(keepingCapacity: true) }
}

extension LogState {
    /// Makes batches of the rows of lists, histories of messages merged, and hands them to `body`, in order. A second
    /// thread makes them, some batches ahead of `body`, which the calling thread calls. The second thread reads a copy of
    /// the state.
    ///
    /// - Parameter maker: Gives the function that adds to a batch what it makes of a row of a list.
    /// - Throws: what `body` throws; the second thread has ended by then.
    package func forEachBatch<Batch: RowBatch>(
        of lists: [StateList],
        asOf: Timestamp,
        by maker: @escaping @Sendable (StateList) -> (ListedRow, inout Batch) -> Void,
        _ body: (Batch) throws -> Void
    ) throws {
        let line = AssemblyLine<Batch>()
        let state = self
        line.start {
            for list in lists {
                let make = maker(list)
                try state.forEachListedRow(of: list, asOf: asOf, mergesHistories: true) { row in
                    try line.add { make(row, &$0) }
                }
            }
        }
        defer { line.stop() }
        while let batch = line.next() {
            try body(batch)
            line.giveBack(batch)
        }
    }
}

/// Hands batches from one thread, which makes them, to another, which takes them. For one run: `start`, then `next`
/// until `nil`, then `stop`.
///
/// `@unchecked Sendable` holds because only the maker's thread touches `batch`; everything else is constant or guarded
/// by the mutex.
private final class AssemblyLine<Batch: RowBatch>: @unchecked Sendable {
    /// Thrown in the maker once nothing more is wanted.
    private struct Stopped: Error {}

    private struct State {
        /// The batches that wait; an empty one is the last.
        var waiting: [Batch] = []
        /// Batches to use again.
        var free: [Batch] = []
        var isStopped = false
    }

    /// How many batches may wait.
    private static var batchesMax: Int { 4 }

    private let queue = DispatchQueue(label: "eventlog.rows")
    /// Counts the batches that may still be handed over. See `init` for its first value.
    private let room = DispatchSemaphore(value: 0)
    /// Counts the batches that wait.
    private let ready = DispatchSemaphore(value: 0)
    private let state = Mutex(State())
    private var batch = Batch()

    init() {
        // Dispatch traps if a semaphore is destroyed with less than the value that it was made with, so it is made with
        // 0.
        for _ in 0..<Self.batchesMax { room.signal() }
    }

    /// Runs `work`, which makes everything, on the queue. Then hands over the last results, and an empty batch as the
    /// end.
    func start(_ work: @escaping @Sendable () throws -> Void) {
        queue.async { [self] in
            // `work` throws nothing but `Stopped`, and then nobody takes what follows.
            try? work()
            try? handOver()
            put(Batch())
        }
    }

    /// Adds what `make` makes; waits while `batchesMax` batches have not been taken. Throws once nothing more is wanted.
    /// Called by the maker.
    func add(_ make: (inout Batch) -> Void) throws {
        make(&batch)
        if batch.isFull { try handOver() }
    }

    /// The next batch, for which it waits; `nil` after the last one.
    func next() -> Batch? {
        ready.wait()
        let batch = state.withLock { $0.waiting.removeFirst() }
        room.signal()
        return batch.isEmpty ? nil : batch
    }

    /// Takes back a batch that was read.
    func giveBack(_ batch: Batch) {
        state.withLock { $0.free.append(batch) }
    }

    /// Tells the maker to end and waits until it has. Called by the taker, also after the last batch.
    func stop() {
        state.withLock { $0.isStopped = true }
        // The maker may be waiting for room.
        room.signal()
        queue.sync {}
    }

    /// Hands the batch over as soon as there is room.
    private func handOver() throws {
        guard !batch.isEmpty else { return }
        room.wait()
        let (isStopped, free) = state.withLock { ($0.isStopped, $0.free.popLast()) }
        if isStopped { throw Stopped() }
        put(batch)
        batch = free ?? Batch()
        batch.removeAll()
    }

    private func put(_ batch: Batch) {
        state.withLock { $0.waiting.append(batch) }
        ready.signal()
    }
}
