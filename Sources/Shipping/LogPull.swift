public import EventLog

/// Brings a log up to a tree that `LogShipment` wrote, wherever its files came from: nothing of them is believed that does not fit the
/// root of the checkpoint. See `docs/ship.md`.
public struct LogPull {
    /// What is taken, and from whom.
    public struct Request: Sendable {
        /// Keys of which one must have signed the checkpoint; none for any checkpoint.
        public var verifiers: [VerifierKey] = []
        /// Whether the log lets go of what compactions of the other one dropped.
        public var followsCompactions = false
        /// Whether the notes that recorders resume from are taken. Nothing proves them.
        public var takesBookmarks = false

        /// A request for the events, of whoever signed them.
        public init() {}
    }

    /// What a pull did.
    public struct Result: Sendable {
        /// The checkpoint up to which the log is whole.
        public let checkpoint: SignedCheckpoint
        /// The log's head before.
        public let before: UInt64
        /// The log's head now; beyond the checkpoint if the tree is older than the log.
        public internal(set) var head: UInt64
        /// How many acts of rewrites the log has followed.
        public internal(set) var rewrites = 0
    }

    /// The tree is of a log that was compacted since, and the log here may hold what that one dropped.
    public struct CompactionRefused: Error, Sendable {
        /// The head of the other log when the compaction was decided.
        public let decidedAt: SequenceNumber
    }

    /// Opens what is pulled, beside the log that is here.
    private let log: (_ request: Request, _ store: EventStore?) throws -> any ShippedLog
    private let path: String
    private let options: EventStore.Options

    /// - Parameters:
    ///   - source: the tree.
    ///   - path: the log, which is made if nothing is there.
    public init(from source: any TreeSource, into path: String, options: EventStore.Options = .init()) {
        self.init(into: path, options: options) { request, _ in
            try TreeState(of: source, verifiers: request.verifiers)
        }
    }

    init(
        into path: String,
        options: EventStore.Options,
        from log: @escaping (_ request: Request, _ store: EventStore?) throws -> any ShippedLog
    ) {
        (self.path, self.options, self.log) = (path, options, log)
    }

    /// Takes what the log lacks.
    ///
    /// Events are durable block by block, in order, so that the next run goes on where one was cut short. After rewrites of the other
    /// log the whole tree is read, and takes effect at once.
    ///
    /// Cost: the bundles with events behind the head, and a tile for each level of the tree. Memory: two blocks.
    ///
    /// - Parameter report: called now and then with the last event that was taken, and the size of the tree.
    /// - Throws: `CompactionRefused`; `EventLogError`: `notFound` if the tree is not whole yet, `invalidArgument` if the log forks off (at
    ///   `sequence`), is another one or a part, and for files that are not those of the checkpoint; `locked`, `io` or `damaged`.
    public func run(
        _ request: Request = Request(),
        _ report: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws -> Result {
        let store = try store()
        let tree = try log(request, store)
        let local = try store.map { try there($0, tree) }
        var result = Result(checkpoint: tree.checkpoint, before: local?.head ?? 0, head: local?.head ?? 0)
        guard result.head < tree.size else {
            // A pull that was killed may have left what was redacted since.
            try store?.removeLeftoversIfAny()
            return result
        }
        let rewrites = tree.manifest.acts.count - (local?.acts.count ?? 0)
        let bookmarks = request.takesBookmarks ? tree.manifest.bookmarks : [:]
        if tree.manifest.acts == local?.acts ?? [] {
            try append(tree, behind: result.head, bookmarks, report)
        } else {
            if let local, local.head > 0, tree.manifest.decidedAt > local.decidedAt, !request.followsCompactions {
                throw CompactionRefused(decidedAt: SequenceNumber(tree.manifest.decidedAt))
            }
            try rewrite(tree, bookmarks, report)
            result.rewrites = rewrites
        }
        result.head = tree.size
        return result
    }

    // MARK: - The log

    /// What the pull needs to know of the log that is there.
    private struct Local {
        let head: UInt64
        let decidedAt: UInt64
        let acts: [UInt64]
    }

    /// The log at the path; `nil` if there is none.
    func store() throws -> EventStore? {
        do {
            return try EventStore.open(at: path, options: options)
        } catch let error as EventLogError where error.code == .noLog {
            return nil
        }
    }

    /// What the log is.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` unless the log and the tree have the same beginning.
    private func there(_ store: EventStore, _ tree: any ShippedLog) throws -> Local {
        try store.read { session in
            guard try session.identity() == tree.manifest.identity else {
                throw refused("the log there has another identity than the one that was shipped")
            }
            if try session.isPart() { throw refused("the log there is a part of another one") }
            if let sequence = try tree.firstDifference(session) {
                throw fork(at: sequence)
            }
            return Local(
                head: session.head.rawValue,
                decidedAt: session.decidedAt.rawValue,
                acts: try session.acts().map(\.rawValue)
            )
        }
    }

    /// The error of a log that goes on otherwise than the one that was shipped.
    func fork(at sequence: SequenceNumber) -> EventLogError {
        refused("fork at sequence \(sequence): the log there goes on otherwise", at: sequence)
    }

    func refused(_ reason: String, at sequence: SequenceNumber? = nil) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "pull into",
            object: path,
            reason: reason,
            advice: "name a path where nothing is to make a log of its own",
            sequence: sequence
        )
    }

    // MARK: - Events

    /// Appends the events behind the head. The first bundle makes the log if there is none.
    private func append(
        _ tree: any ShippedLog,
        behind head: UInt64,
        _ bookmarks: [String: [UInt8]],
        _ report: (UInt64, UInt64) -> Void
    ) throws {
        var head = head
        if head == 0, let first = tree.manifest.bundles.first {
            try makeLog(of: first, tree, first.last == tree.size ? bookmarks : [:], report)
            head = first.last
        }
        let store = try EventStore.open(at: path, options: options)
        var batch = CopyBatch(store: store, head: head, size: tree.size, bookmarks: try Self.bookmarks(bookmarks))
        do {
            try tree.forEachPiece(behind: head) { piece in
                // A bundle may begin before the head, with events that a rewrite took here, too.
                if piece.last <= head { return }
                guard case .event(let event) = piece, event.salt != nil else {
                    throw TreeFault.error(
                        tree.name,
                        "it lacks events behind \(batch.head), and no rewrite is known that took them"
                    )
                }
                if try batch.add(event) { report(batch.head, tree.size) }
            }
            try batch.commit()
        } catch {
            // After this the events handed over are durable or absent, so that nobody sees a log that still changes.
            try? batch.finish()
            throw error
        }
        try batch.finish()
    }

    private static func bookmarks(_ values: [String: [UInt8]]) throws -> [Bookmark] {
        try values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { Bookmark(source: try SourceName($0.key), bytes: $0.value) }
    }

    /// Makes the log of the events of the first bundle.
    private func makeLog(
        of bundle: TreeManifest.Bundle,
        _ tree: any ShippedLog,
        _ bookmarks: [String: [UInt8]],
        _ report: (UInt64, UInt64) -> Void
    ) throws {
        var frontier = MerkleFrontier()
        for (subtree, hash) in zip(SubtreeCover(of: bundle.leaves), bundle.hashes) {
            frontier.append(hash, level: subtree.level)
        }
        var header = LogHeader(identity: tree.manifest.identity, size: bundle.last, root: frontier.root)
        header.bookmarks = bookmarks
        _ = try EventStore.importLog(at: path, header: header, options: options) { log in
            var count = 0
            try tree.forEachPiece(of: bundle) { piece in
                try log.add(piece)
                Self.pass(piece, &count) { report($0, tree.size) }
            }
        }
    }

    /// Makes the log anew of everything that the tree has, in place of what is there.
    private func rewrite(
        _ tree: any ShippedLog,
        _ bookmarks: [String: [UInt8]],
        _ report: (UInt64, UInt64) -> Void
    ) throws {
        let manifest = tree.manifest
        let header = LogHeader(
            identity: manifest.identity,
            size: manifest.size,
            root: manifest.root,
            decidedAt: SequenceNumber(manifest.decidedAt),
            acts: manifest.acts.map { SequenceNumber($0) },
            facts: try tree.facts(),
            bookmarks: bookmarks
        )
        _ = try EventStore.importLog(at: path, header: header, options: options, followsRewrites: true) { log in
            var count = 0
            try tree.forEachPiece(behind: 0) { piece in
                try log.add(piece)
                Self.pass(piece, &count) { report($0, tree.size) }
            }
            try tree.forEachKeyChunk { try log.add($0) }
        }
    }
}

extension LogPiece {
    /// The last sequence that it covers; 0 for keys.
    fileprivate var last: UInt64 {
        switch self {
        case .event(let event): event.envelope.sequence.rawValue
        case .dropped(let run): run.first.rawValue + UInt64(run.leafHashes.count) - 1
        case .missing(let run): run.last.rawValue
        case .keys: 0
        }
    }
}

extension LogPull {
    /// Reports an event once in a while.
    private static func pass(_ piece: LogPiece, _ count: inout Int, _ report: (UInt64) -> Void) {
        count += 1
        if count.isMultiple(of: 4096), case .event(let event) = piece { report(event.envelope.sequence.rawValue) }
    }
}

/// Copies of events on their way into a log, so many at a time: while some become durable, the next are read and proved.
private struct CopyBatch {
    let store: EventStore
    /// The last event that was handed over.
    private(set) var head: UInt64
    let size: UInt64
    /// Stored with the last event.
    let bookmarks: [Bookmark]
    private var events: [RecordedEvent] = []
    private var bytes = 0
    private let behind = WorkBehind()

    /// Bounds one write transaction.
    private static let eventsMax = 8192
    private static let bytesMax = 16 << 20

    init(store: EventStore, head: UInt64, size: UInt64, bookmarks: [Bookmark]) {
        (self.store, self.head, self.size, self.bookmarks) = (store, head, size, bookmarks)
    }

    /// Takes the next event, if the log lacks it. Returns whether some were handed over.
    mutating func add(_ event: RecordedEvent) throws -> Bool {
        guard event.envelope.sequence.rawValue > head else { return false }
        events.append(event)
        bytes += event.payload.count
        guard events.count >= Self.eventsMax || bytes >= Self.bytesMax else { return false }
        try commit()
        return true
    }

    mutating func commit() throws {
        guard let last = events.last?.envelope.sequence.rawValue else { return }
        let (store, copies, bookmarks) = (store, events, last == size ? bookmarks : [])
        try behind.run { try store.append(copies: copies, bookmarks: bookmarks) }
        (events, bytes, head) = ([], 0, last)
    }

    /// Waits until everything is durable.
    func finish() throws { try behind.finish() }
}
