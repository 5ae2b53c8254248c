import Dispatch
import EventLog
import Synchronization

/// Some consecutive events with their changes of a trie and, once worked off, the digest after each event.
///
/// `@unchecked Sendable` is right because only one thread at a time uses a batch: the caller fills it and hands it
/// over, the queue's thread works it off, and the caller gets it back from `DigestQueue.next`.
final class DigestBatch: @unchecked Sendable {
    /// How many events are handed over at once: enough to make waking a thread cheap, few enough to keep the delay
    /// short.
    private static let countMax = 256

    /// The events, and the digest after each, in the order of the log. `digests` is empty until the queue has worked.
    private(set) var events: [Envelope] = []
    fileprivate(set) var digests: [Hash256] = []
    private var changes: [StateDigest.Change] = []
    /// For each event, the index in `changes` behind its last change.
    private var ends: [Int] = []

    var isFull: Bool { events.count == Self.countMax }

    /// Adds an event; the batch must not be full.
    func add(_ event: Envelope, _ fill: (inout [StateDigest.Change]) -> Void) {
        assert(!isFull, "a full batch is handed over")
        events.append(event)
        fill(&changes)
        ends.append(changes.count)
    }

    /// Brings the trie up to date event by event, and notes its root after each.
    fileprivate func apply(to trie: inout StateDigest) {
        assert(digests.isEmpty, "a batch is worked off once")
        assert(ends.count == events.count, "each event has its changes")
        var next = 0
        for end in ends {
            for change in changes[next..<end] { trie.apply(change) }
            digests.append(trie.root())
            next = end
        }
    }

    /// Clears the batch for reuse, keeping its memory.
    func empty() {
        events.removeAll(keepingCapacity: true)
        digests.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }
}

/// Keeps a trie on a thread of its own. For one caller, which folds meanwhile.
///
/// `@unchecked Sendable` is right because only blocks of the serial queue touch `trie`, a mutex guards `finished`, and
/// `underWay` belongs to the one caller, which calls `work` and `next` one after another.
final class DigestQueue: @unchecked Sendable {
    /// Limits memory: with so many batches under way, the caller waits.
    private static let batchCountMax = 4

    private var trie: StateDigest
    private let queue = DispatchQueue(label: "eventlog.digest")
    /// Finished batches, oldest first, because the queue is serial.
    private let finished = Mutex<[DigestBatch]>([])
    /// Signalled once for each batch in `finished`.
    private let isAnyFinished = DispatchSemaphore(value: 0)
    /// The number of batches handed over and not returned yet.
    private var underWay = 0

    init(_ trie: StateDigest) {
        self.trie = trie
    }

    /// Hands a batch over. The caller must not touch it until `next` returns it.
    func work(on batch: DigestBatch) {
        underWay += 1
        assert(underWay <= Self.batchCountMax, "the caller takes a batch back before it hands over one more")
        queue.async { [self] in
            batch.apply(to: &trie)
            finished.withLock { $0.append(batch) }
            isAnyFinished.signal()
        }
    }

    /// Waits for the oldest batch that was handed over and returns it. Without waiting, returns `nil` if no batch is
    /// under way or, unless `all` is true, if fewer than `batchCountMax` are.
    func next(all: Bool) -> DigestBatch? {
        guard underWay >= (all ? 1 : Self.batchCountMax) else { return nil }
        isAnyFinished.wait()
        underWay -= 1
        return finished.withLock { $0.removeFirst() }
    }
}
