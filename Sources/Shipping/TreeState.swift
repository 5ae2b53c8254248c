public import EventLog

/// What a tree has: its newest checkpoint whose manifest has arrived.
public struct TreeState: ShippedLog {
    /// The checkpoint.
    public let checkpoint: SignedCheckpoint
    let manifest: TreeManifest
    let source: any TreeSource

    var name: String { source.name }

    /// The file that has the newest checkpoint.
    static let checkpointName = "checkpoint"

    /// How many events it has.
    public var size: UInt64 { checkpoint.checkpoint.size }

    /// Reads a tree. Files of a tree that is being copied come in any order: while the manifest of the newest checkpoint is missing, the
    /// checkpoint before it counts.
    ///
    /// - Parameter verifiers: keys of which one must have signed the checkpoint; none for any checkpoint.
    /// - Throws: `EventLogError`: `notFound` if the tree has no checkpoint, or not what it names; `invalidArgument` for a checkpoint
    ///   without a right signature, and for files that do not fit together.
    public init(of source: any TreeSource, verifiers: [VerifierKey] = []) throws {
        self.source = source
        guard let newest = try Self.checkpoint(Self.checkpointName, source, verifiers) else {
            throw EventLogError(
                .notFound,
                operation: "read tree",
                object: source.name,
                reason: "there is no checkpoint",
                advice: "logtool ship LOG --to FOLDER makes a tree"
            )
        }
        if let manifest = try Self.manifest(of: newest, source) {
            (checkpoint, self.manifest) = (newest, manifest)
        } else if let previous = try Self.checkpoint("checkpoint.previous", source, verifiers),
            let manifest = try Self.manifest(of: previous, source)
        {
            (checkpoint, self.manifest) = (previous, manifest)
        } else {
            throw TreeFault.notWhole(source.name, TreeManifest.path(size: newest.checkpoint.size))
        }
    }

    private static func checkpoint(
        _ name: String,
        _ source: any TreeSource,
        _ verifiers: [VerifierKey]
    ) throws -> SignedCheckpoint? {
        guard let bytes = try source.bytes(at: [name], bytesMax: SignedCheckpoint.bytesMax) else { return nil }
        do {
            let signed = try SignedCheckpoint(bytes)
            if !verifiers.isEmpty { try signed.check(verifiers) }
            return signed
        } catch let fault as ExportFault {
            throw TreeFault.error("\(source.name)/\(name)", fault.description)
        }
    }

    private static func manifest(of signed: SignedCheckpoint, _ source: any TreeSource) throws -> TreeManifest? {
        let path = TreeManifest.path(size: signed.checkpoint.size)
        guard let bytes = try source.bytes(at: path, bytesMax: TreeManifest.bytesMax) else { return nil }
        do {
            let manifest = try TreeManifest(bytes)
            guard manifest.size == signed.checkpoint.size, manifest.root == signed.checkpoint.root else {
                throw ExportFault("it is of another tree than the checkpoint")
            }
            return manifest
        } catch let fault as ExportFault {
            throw TreeFault.error("\(source.name)/\(path.joined(separator: "/"))", fault.description)
        }
    }

    /// The first event at which a log and the tree differ, among those that both have; `nil` if there is none. Cost: a tile for each
    /// level, and those on the way to the event.
    ///
    /// - Throws: `EventLogError`: `notFound` if a tile is missing, `invalidArgument` if one is not that of the checkpoint.
    public func firstDifference(_ session: borrowing ReadSession) throws -> SequenceNumber? {
        let count = min(session.head.rawValue, size)
        guard count > 0 else { return nil }
        // Most often one is the beginning of the other, and then no tile is needed where they are equally long.
        if count == size, try session.root(size: size) == checkpoint.checkpoint.root { return nil }
        let tiles = try TreeTiles(source, checkpoint.checkpoint)
        return try tiles.firstDifference(count: count) { try session.root(ofLeaves: $0) }
            .map { SequenceNumber($0 + 1) }
    }

    func forEachPiece(of bundle: TreeManifest.Bundle, _ body: (LogPiece) throws -> Void) throws {
        let (file, name) = try file(bundle.file)
        var reader = try BundleReader(bundle, file, name: name)
        try reader.forEachPiece(body)
    }

    private func file(_ file: TreeManifest.File) throws -> (any TreeFile, name: String) {
        let path = [TreeManifest.bundleFolder, file.name]
        let name = "\(source.name)/\(path.joined(separator: "/"))"
        guard let found = try source.file(at: path, bytesMax: file.bytes) else {
            throw TreeFault.notWhole(source.name, path)
        }
        guard found.byteCount == file.bytes else { throw TreeFault.notWhole(source.name, path) }
        return (found, name)
    }

    func facts() throws -> [String: [UInt8]] { try remains()?.facts() ?? [:] }

    func forEachKeyChunk(_ body: (LogPiece) throws -> Void) throws { try remains()?.forEachKeyChunk(body) }

    private func remains() throws -> Remains? {
        guard let remains = manifest.remains else { return nil }
        let (file, name) = try file(remains)
        return Remains(file: file, name: name)
    }
}
