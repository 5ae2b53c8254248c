public import EventLog

/// Writes a log as a tree of files that any tool can carry: the layout of C2SP's tlog-tiles, and bundles with the events.
///
/// A round writes what is new, and the checkpoint last, so that whoever reads the tree finds what the checkpoint names, as soon as
/// all files have arrived. See `docs/ship.md`.
public struct LogShipment {
    /// What a tree is to be called, and who signs it.
    public struct Request: Sendable {
        /// The origin in the checkpoint; `nil` for that of the tree which is there, or else `eventlog/` and the log's identity.
        public var origin: String?
        /// Makes the key that signs the checkpoint, whose name is the origin; `nil` for no signature.
        public var key: (@Sendable (_ name: String) throws -> SigningKey)?

        /// Whether the tree gets entries, too, for programs that read tlog-tiles: what each leaf hash is of, without payloads. A tree that
        /// has them goes on with them.
        public var writesEntries = false

        /// A request without a key.
        public init() {}
    }

    /// What a round did.
    public struct Result: Sendable {
        /// The checkpoint that the tree has now.
        public let checkpoint: SignedCheckpoint
        /// The key that verifies it; `nil` without a signature.
        public let verifier: VerifierKey?
        /// The events that the tree had before.
        public let before: UInt64
        /// The bundles that were written, and their bytes.
        public let bundles: Int
        /// The bytes of the bundles that were written.
        public let bytes: UInt64
        /// Whether a rewrite of the log made all bundles new, so that copies of the old ones must go.
        public let isRewritten: Bool
        /// Whether the checkpoint before was signed, and this one is not.
        public let lostSignature: Bool
    }

    private let store: EventStore
    private let path: String

    /// - Parameters:
    ///   - store: the log.
    ///   - path: the folder of the tree; its parent must exist.
    public init(of store: EventStore, to path: String) {
        (self.store, self.path) = (store, path)
    }

    /// Writes what the tree lacks.
    ///
    /// Cost: the events behind the tree's own, those of smaller bundles before them, which one bundle then replaces, and
    /// a file for each 256 events; after a rewrite of the log, all events.
    ///
    /// - Parameter report: called after each bundle, with its last event and the log's head.
    /// - Throws: `EventLogError`: `locked` if another process writes the tree, `invalidArgument` if the tree is of another log, or
    ///   has events that this one has not; `damaged` or `io`. The tree then still has its last checkpoint.
    public func run(
        _ request: Request = Request(),
        _ report: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws -> Result {
        let tree = try TreeFolder(at: path)
        let lock = try tree.lock()
        return try withExtendedLifetime(lock) {
            try store.read { session in
                if try session.isPart() {
                    throw refused("the log is a part of another one, and only a whole log travels")
                }
                let before = try last(in: tree, session)
                return try ship(session, behind: before, to: tree, request, report)
            }
        }
    }

    private func refused(_ reason: String, _ advice: String = "", at sequence: UInt64? = nil) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: "ship to",
            object: path,
            reason: reason,
            advice: advice,
            sequence: sequence.map { SequenceNumber($0) }
        )
    }

    // MARK: - What is there

    /// What the tree has: its checkpoint, and what that names.
    private struct Shipped {
        var checkpoint: SignedCheckpoint
        var manifest: TreeManifest?
    }

    /// What the tree has; `nil` if it is empty.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` unless it is of a prefix of this log.
    private func last(in tree: TreeFolder, _ session: borrowing ReadSession) throws -> Shipped? {
        let elsewhere = "name a folder where nothing is, or a tree"
        guard let bytes = try tree.bytes(at: ["checkpoint"], bytesMax: SignedCheckpoint.bytesMax) else {
            // A first run that was cut short leaves a tree without a checkpoint.
            guard let other = try tree.names(at: []).first(where: { !TreeManifest.names.contains($0) }) else {
                return nil
            }
            throw refused("\"\(other)\" is there, and no tree", elsewhere)
        }
        let signed: SignedCheckpoint
        do {
            signed = try SignedCheckpoint(bytes)
        } catch let fault as ExportFault {
            throw refused("the checkpoint there is none: \(fault)", elsewhere)
        }
        let checkpoint = signed.checkpoint
        guard checkpoint.size <= session.head.rawValue, try session.root(size: checkpoint.size) == checkpoint.root
        else {
            throw refused(
                "the tree there has \(checkpoint.size) events that are not the first ones of this log",
                "logtool verify LOG --against \(path) says where they part"
            )
        }
        let path = TreeManifest.path(size: checkpoint.size)
        let manifest = try tree.bytes(at: path, bytesMax: TreeManifest.bytesMax).flatMap { try? TreeManifest($0) }
        if let manifest, try manifest.identity != session.identity() {
            throw refused("the tree there is of a log with another identity", elsewhere)
        }
        return Shipped(checkpoint: signed, manifest: manifest)
    }

    // MARK: - A round

    private func ship(
        _ session: borrowing ReadSession,
        behind before: Shipped?,
        to tree: TreeFolder,
        _ request: Request,
        _ report: (UInt64, UInt64) -> Void
    ) throws -> Result {
        let head = session.head.rawValue
        let header = try session.header()
        let acts = header.acts.map(\.rawValue)
        let old = before?.manifest
        let isRewritten = old.map { $0.acts != acts } ?? false
        var writer = BundleWriter(tree)
        var kept = try isRewritten ? [] : Self.bundles(of: old, in: tree)
        let isNew = kept.last?.last ?? 0 < head
        if isNew { Self.absorb(&kept, head: head) }
        let first = (kept.last?.last ?? 0) + 1
        let made = try writer.write(from: first, through: head, session) { report($0, head) }
        let size = before?.checkpoint.checkpoint.size ?? 0
        let hasEntries = request.writesEntries || old?.hasEntries ?? false
        try TileWriter(tree).write(before: old == nil ? 0 : size, size: head, session)
        if hasEntries { try writeEntries(tree, old, isRewritten, session) }
        let remains = try remains(header, old, isRewritten, tree, writer, session)
        let manifest = TreeManifest(
            identity: header.identity,
            size: head,
            root: header.root,
            decidedAt: header.decidedAt.rawValue,
            acts: acts,
            hasEntries: hasEntries,
            remains: remains,
            bundles: kept + made,
            bookmarks: header.bookmarks,
            minimumIndex: Self.minimumIndex(behind: writer.lastDropped, isRewritten ? nil : old, size: head)
        )
        let (signed, verifier) = try checkpoint(of: manifest, before?.checkpoint, request)
        // The manifest that the next `checkpoint.previous` names is in memory, where one is written.
        let isPrevious = !isRewritten && old != nil && size < head
        // Often nothing has happened since the last round: then nothing is written, and nothing synced.
        if manifest != old || before?.checkpoint != signed {
            try tree.write(manifest.json, at: TreeManifest.path(size: head))
            try publish(signed, isPrevious ? before?.checkpoint : nil, isRewritten, tree)
        }
        // Also what a run left behind that was cut short.
        let previous = isPrevious ? old : try previousManifest(in: tree)
        try removeOthers(than: [manifest] + (previous.map { [$0] } ?? []), in: tree)
        return Result(
            checkpoint: signed,
            verifier: verifier,
            before: size,
            bundles: made.count,
            bytes: made.reduce(0) { $0 + $1.file.bytes },
            isRewritten: isRewritten,
            lostSignature: signed.signatures.isEmpty && before?.checkpoint.signatures.isEmpty == false
        )
    }

    /// The index from which on all entries are there: the end of the last bundle of entries of which an event was dropped.
    ///
    /// - Parameters:
    ///   - dropped: the last dropped event among those that this round has written; zero for none.
    ///   - old: the tree that the round goes on from.
    private static func minimumIndex(behind dropped: UInt64, _ old: TreeManifest?, size: UInt64) -> UInt64 {
        // An index that is no multiple of the width is that of a bundle of entries that was not full.
        let last = max(dropped, old?.minimumIndex ?? 0)
        return min(size, (last + TilePath.width - 1) / TilePath.width * TilePath.width)
    }

    private func writeEntries(
        _ tree: TreeFolder,
        _ old: TreeManifest?,
        _ isRewritten: Bool,
        _ session: borrowing ReadSession
    ) throws {
        if isRewritten { try tree.removeFolder(at: ["tile", "entries"], depth: 8) }
        let known = old.map { $0.hasEntries && !isRewritten ? $0.size : 0 } ?? 0
        try TileWriter(tree).writeEntries(before: known, size: session.head.rawValue, session)
    }

    /// The bundles of a manifest whose files are there, up to the first that is not.
    private static func bundles(of manifest: TreeManifest?, in tree: TreeFolder) throws -> [TreeManifest.Bundle] {
        var bundles: [TreeManifest.Bundle] = []
        for bundle in manifest?.bundles ?? [] {
            guard try isThere(bundle.file, in: tree) else { break }
            bundles.append(bundle)
        }
        return bundles
    }

    private static func isThere(_ file: TreeManifest.File, in tree: TreeFolder) throws -> Bool {
        try tree.size(at: [TreeManifest.bundleFolder, file.name]) == file.bytes
    }

    /// Takes away the last bundles that go into the next one: those at most as large as what comes behind them. So each event is
    /// written O(log n) times, and there are O(log n) bundles beside full ones.
    private static func absorb(_ bundles: inout [TreeManifest.Bundle], head: UInt64) {
        while let last = bundles.last {
            let behind = head - last.last
            guard last.count <= behind, last.count + behind <= BundleWriter.eventsMax else { return }
            bundles.removeLast()
        }
    }

    private func remains(
        _ header: LogHeader,
        _ old: TreeManifest?,
        _ isRewritten: Bool,
        _ tree: TreeFolder,
        _ writer: BundleWriter,
        _ session: borrowing ReadSession
    ) throws -> TreeManifest.File? {
        if header.acts.isEmpty { return nil }
        if !isRewritten, let there = old?.remains, try Self.isThere(there, in: tree) { return there }
        return try writer.writeRemains(header, session)
    }

    /// The new checkpoint. Signatures of others stay only where the tree is the same.
    private func checkpoint(
        of manifest: TreeManifest,
        _ before: SignedCheckpoint?,
        _ request: Request
    ) throws -> (SignedCheckpoint, VerifierKey?) {
        let identity = manifest.identity.hexDigits
        let origin = request.origin ?? before?.checkpoint.origin ?? "eventlog/\(identity)"
        let checkpoint = try Checkpoint(origin: origin, size: manifest.size, root: manifest.root)
        let signed = before.flatMap { $0.checkpoint == checkpoint ? $0 : nil } ?? SignedCheckpoint(checkpoint)
        guard let key = try request.key?(origin) else { return (signed, nil) }
        return (try signed.signed(by: key), key.verifier)
    }

    /// Makes the files durable, then the checkpoint. The one before stays for those who read slowly, but for what a redaction took away.
    private func publish(
        _ signed: SignedCheckpoint,
        _ previous: SignedCheckpoint?,
        _ isRewritten: Bool,
        _ tree: TreeFolder
    ) throws {
        if isRewritten {
            try tree.remove(at: ["checkpoint.previous"])
        } else if let previous {
            try tree.write(Array(previous.note.utf8), at: ["checkpoint.previous"])
        }
        tree.sync()
        try tree.write(Array(signed.note.utf8), at: ["checkpoint"])
        tree.sync()
    }

    /// What the checkpoint before the last one names.
    private func previousManifest(in tree: TreeFolder) throws -> TreeManifest? {
        guard let bytes = try tree.bytes(at: ["checkpoint.previous"], bytesMax: SignedCheckpoint.bytesMax),
            let signed = try? SignedCheckpoint(bytes)
        else { return nil }
        let path = TreeManifest.path(size: signed.checkpoint.size)
        return try tree.bytes(at: path, bytesMax: TreeManifest.bytesMax).flatMap { try? TreeManifest($0) }
    }

    private func removeOthers(than manifests: [TreeManifest], in tree: TreeFolder) throws {
        let files = Set(manifests.flatMap { $0.files.map(\.name) })
        for name in try tree.names(at: [TreeManifest.bundleFolder])
        where !files.contains(name) && TreeManifest.isBundleName(name) {
            try tree.remove(at: [TreeManifest.bundleFolder, name])
        }
        let sizes = Set(manifests.map { String($0.size) })
        for name in try tree.names(at: [TreeManifest.folder]) where !sizes.contains(name) && UInt64(name) != nil {
            try tree.remove(at: [TreeManifest.folder, name])
        }
    }
}
