import Dispatch
package import EventLog
import Synchronization

extension Workspace {
    /// Lends what is made of the rows of some lists, in their order. A thread of its own makes it, about a thousand rows ahead of `body`.
    ///
    /// - Parameter make: Gives what it makes of a row to its last argument: once, several times or not at all.
    /// - Throws: what `body` throws; nothing more is made then.
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

/// Hands batches from one thread, which makes them, to another one, which takes them.
///
/// Unchecked: the maker's thread alone touches `batch` and `isOver`; the mutex guards all else.
private final class AssemblyLine<Made: Sendable>: @unchecked Sendable {
    /// Nobody wants more.
    private struct Stopped: Error {}

    private static var batchCount: Int { 256 }
    private static var batchesMax: Int { 4 }

    private let queue = DispatchQueue(label: "eventlog.rows")
    private let room = DispatchSemaphore(value: 0)
    private let ready = DispatchSemaphore(value: 0)
    /// The batches that wait, and whether more are wanted. An empty batch is the last one.
    private let state = Mutex((batches: [[Made]](), isStopped: false))
    private var batch: [Made] = []
    private var isOver = false

    init() {
        // A semaphore that began with a value would have to have it again in the end.
        for _ in 0..<Self.batchesMax { room.signal() }
    }

    /// Lets `work` make everything, on a thread of its own.
    func start(_ work: @escaping @Sendable () throws -> Void) {
        queue.async { [self] in
            // It throws nothing but `Stopped`.
            try? work()
            handOver()
            put([])
        }
    }

    /// Takes what was made; waits while too much of it is not taken.
    func add(_ made: Made) {
        batch.append(made)
        if batch.count == Self.batchCount { handOver() }
    }

    /// Throws once nothing more is wanted.
    func goOn() throws {
        if isOver { throw Stopped() }
    }

    /// The next batch; `nil` after the last one.
    func next() -> [Made]? {
        ready.wait()
        let batch = state.withLock { $0.batches.removeFirst() }
        room.signal()
        return batch.isEmpty ? nil : batch
    }

    /// Ends the making, and waits until it has ended.
    func stop() {
        state.withLock { $0.isStopped = true }
        room.signal()
        queue.sync {}
    }

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
