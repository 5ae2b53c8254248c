import Dispatch
import EventLog
import Synchronization

/// Some consecutive events with what they changed in a trie, and its digest after each of them, once that is known.
///
/// Unchecked: it is filled by one thread, then worked off by another, and then read by the first.
final class DigestBatch: @unchecked Sendable {
    private static let countMax = 256

    private(set) var events: [Envelope] = []
    fileprivate(set) var digests: [Hash256] = []
    private var changes: [StateDigest.Change] = []
    /// Where the changes of each event end.
    private var ends: [Int] = []

    var isFull: Bool { events.count == Self.countMax }

    /// Adds an event; the batch must not be full.
    func add(_ event: Envelope, _ fill: (inout [StateDigest.Change]) -> Void) {
        events.append(event)
        fill(&changes)
        ends.append(changes.count)
    }

    fileprivate func apply(to trie: inout StateDigest) {
        var next = 0
        for end in ends {
            for change in changes[next..<end] { trie.apply(change) }
            digests.append(trie.root())
            next = end
        }
    }

    func empty() {
        events.removeAll(keepingCapacity: true)
        digests.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }
}

/// Keeps a trie on a thread of its own.
///
/// Unchecked: only blocks of the serial queue touch the trie.
final class DigestQueue: @unchecked Sendable {
    private static let batchCountMax = 4

    private var trie: StateDigest
    private let queue = DispatchQueue(label: "eventlog.digest")
    private let finished = Mutex<[DigestBatch]>([])
    private let isAnyFinished = DispatchSemaphore(value: 0)
    /// How many batches were handed over and not given back.
    private var underWay = 0

    init(_ trie: StateDigest) {
        self.trie = trie
    }

    func work(on batch: DigestBatch) {
        underWay += 1
        queue.async { [self] in
            batch.apply(to: &trie)
            finished.withLock { $0.append(batch) }
            isAnyFinished.signal()
        }
    }

    /// The next batch that is worked off, in the order in which they were handed over; `nil` where none is under way, or,
    /// unless all are wanted, no more than may be.
    func next(all: Bool) -> DigestBatch? {
        guard underWay >= (all ? 1 : Self.batchCountMax) else { return nil }
        isAnyFinished.wait()
        underWay -= 1
        return finished.withLock { $0.removeFirst() }
    }
}
