import EventLog

/// What batches of a stream make of a log here: the log's own events, and those that follow, up to the checkpoint of the last batch.
struct CourierLog: ShippedLog {
    let name: String
    let checkpoint: SignedCheckpoint
    let manifest: TreeManifest
    private let view: CourierView
    /// The batch of each bundle, by its first event.
    private var batches: [UInt64: BatchName] = [:]
    /// Pieces that were read to prove them, while there is room.
    private var pieces: [UInt64: [LogPiece]] = [:]
    private let remains: Remains?

    /// Bounds what is in memory, and how much of a stream is taken at once.
    private static let batchesMax = 64
    private static let bytesMax = 64 << 20

    /// Takes batches that follow one another.
    ///
    /// - Parameters:
    ///   - chain: the batches; the first may begin within the log here.
    ///   - store: the log here, whose events stand before the chain; `nil` if the chain begins with the first event.
    ///   - isWhole: whether all of the chain is taken, as after a rewrite, and not so much as fits into memory.
    /// - Throws: `CourierFault`: `fork` if the events before the chain are others than the log's; `untrue` for a batch that is not proved.
    ///   `EventLogError` with code `invalidArgument` for a checkpoint without a right signature.
    init(
        _ chain: [BatchName],
        remains: BatchName?,
        _ view: CourierView,
        behind store: EventStore?,
        isWhole: Bool,
        verifiers: [VerifierKey],
        name: String
    ) throws {
        (self.view, self.name) = (view, name)
        var bundles: [TreeManifest.Bundle] = []
        var bookmarks: [String: [UInt8]] = [:]
        var last: BatchHeader?
        var bytes = 0
        for batch in chain.prefix(isWhole ? chain.count : Self.batchesMax) where isWhole || bytes < Self.bytesMax {
            let read = try view.read(batch)
            let header = read.header
            try CourierView.proving(batch) {
                if !verifiers.isEmpty { try header.checkpoint.check(verifiers) }
            }
            if let store, bundles.isEmpty { bundles = try Self.own(before: batch, header, in: store) }
            try CourierView.proving(batch) {
                // Each batch is proved by its checkpoint; two of them may still be of logs that part.
                if let last, last.acts != header.acts || !header.follows(last) {
                    throw ExportFault("it does not follow the batch before it")
                }
            }
            let pieces = try CourierView.proving(batch) {
                let pieces = try read.pieces()
                try Self.check(header, pieces)
                return pieces
            }
            if bytes < Self.bytesMax { self.pieces[batch.first] = pieces }
            bytes += pieces.reduce(0) { $0 + $1.byteCount }
            bookmarks = try CourierView.proving(batch) { try read.bookmarks() }
            batches[batch.first] = batch
            bundles.append(
                TreeManifest.Bundle(
                    first: batch.first,
                    last: batch.last,
                    file: TreeManifest.File(name: "", bytes: 0),
                    hashes: header.hashes
                )
            )
            last = header
        }
        guard let last else { throw CourierFault.stale }
        checkpoint = last.checkpoint
        manifest = TreeManifest(
            identity: last.identity,
            size: last.last,
            root: last.checkpoint.checkpoint.root,
            decidedAt: last.decidedAt,
            acts: last.acts,
            hasEntries: false,
            remains: nil,
            bundles: bundles,
            bookmarks: bookmarks
        )
        self.remains = try remains.map { Remains(file: try view.read($0).remains, name: "\(name)/remains") }
        do {
            try manifest.check()
        } catch {
            throw CourierFault.fork(chain[0], before: chain[0].first)
        }
    }

    /// - Throws: `ExportFault` if an act of the batch's log is none.
    private static func check(_ header: BatchHeader, _ pieces: [LogPiece]) throws {
        for act in header.acts where header.first <= act && act <= header.last {
            let isAct = pieces.contains { piece in
                guard case .event(let event) = piece else { return false }
                return event.envelope.sequence.rawValue == act && event.envelope.source == .logtool
            }
            guard isAct else { throw ExportFault("event \(act) is no act") }
        }
    }

    /// The log's own events before a batch.
    private static func own(
        before batch: BatchName,
        _ header: BatchHeader,
        in store: EventStore
    ) throws -> [TreeManifest.Bundle] {
        guard header.first > 1 else { return [] }
        return try store.read { session in
            let hashes = try session.subtreeRoots(of: 0..<header.first - 1)
            guard hashes == header.before else { throw CourierFault.fork(batch, before: header.first) }
            let file = TreeManifest.File(name: "", bytes: 0)
            return [TreeManifest.Bundle(first: 1, last: header.first - 1, file: file, hashes: hashes)]
        }
    }

    /// The last comparison and the head that it was made for, because the caller that takes the log asks again.
    private final class Comparison {
        var found: (head: SequenceNumber, difference: SequenceNumber?)?
    }

    private let comparison = Comparison()

    func firstDifference(_ session: borrowing ReadSession) throws -> SequenceNumber? {
        if let found = comparison.found, found.head == session.head { return found.difference }
        let difference = try difference(session)
        comparison.found = (session.head, difference)
        return difference
    }

    private func difference(_ session: borrowing ReadSession) throws -> SequenceNumber? {
        // The events before the first batch are the log's own; within it some may be.
        for bundle in manifest.bundles where batches[bundle.first] != nil && bundle.first <= session.head.rawValue {
            var sequence = bundle.first
            for piece in try pieces(of: bundle) {
                for hash in piece.leafHashes where sequence <= session.head.rawValue {
                    if try session.leafHash(at: SequenceNumber(sequence)) != hash { return SequenceNumber(sequence) }
                    sequence += 1
                }
            }
        }
        return nil
    }

    private func pieces(of bundle: TreeManifest.Bundle) throws -> [LogPiece] {
        if let known = pieces[bundle.first] { return known }
        guard let batch = batches[bundle.first] else { return [] }
        let read = try view.read(batch)
        return try CourierView.proving(batch) { try read.pieces() }
    }

    func forEachPiece(of bundle: TreeManifest.Bundle, _ body: (LogPiece) throws -> Void) throws {
        for piece in try pieces(of: bundle) { try body(piece) }
    }

    func facts() throws -> [String: [UInt8]] { try remains?.facts() ?? [:] }

    func forEachKeyChunk(_ body: (LogPiece) throws -> Void) throws { try remains?.forEachKeyChunk(body) }
}

extension BatchHeader {
    /// Whether the events before this batch are those up to the end of another one.
    fileprivate func follows(_ other: BatchHeader) -> Bool {
        first == other.last + 1 && rootBefore == other.checkpoint.checkpoint.root
    }

    /// The root over the events before this batch.
    var rootBefore: Hash256 {
        var frontier = MerkleFrontier()
        for (subtree, hash) in zip(SubtreeCover(of: 0..<first - 1), before) {
            frontier.append(hash, level: subtree.level)
        }
        return frontier.root
    }
}

extension LogPiece {
    /// About the memory that it takes.
    fileprivate var byteCount: Int {
        switch self {
        case .event(let event): event.payload.count + 256
        case .dropped(let run): run.leafHashes.count * 32
        case .missing, .keys: 0
        }
    }
}
