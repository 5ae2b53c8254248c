import EventLog

/// A log that comes from elsewhere, at one size: what a pull takes events from. Nothing of it is believed but the checkpoint.
protocol ShippedLog {
    /// What it is called in messages.
    var name: String { get }
    var checkpoint: SignedCheckpoint { get }
    /// What it consists of. Its hashes give the checkpoint's root.
    var manifest: TreeManifest { get }

    /// The first event at which a log differs, among those that both have; `nil` if there is none.
    func firstDifference(_ session: borrowing ReadSession) throws -> SequenceNumber?

    /// Passes the pieces of a bundle, each of them proved by the bundle's hashes.
    func forEachPiece(of bundle: TreeManifest.Bundle, _ body: (LogPiece) throws -> Void) throws

    /// The facts that rewrites left beside the events. Nothing is proved yet; an import checks them against the act that names them.
    func facts() throws -> [String: [UInt8]]

    /// Passes the keys of dropped events, chunk by chunk. Nothing is proved yet, either.
    func forEachKeyChunk(_ body: (LogPiece) throws -> Void) throws
}

extension ShippedLog {
    /// How many events it has.
    var size: UInt64 { checkpoint.checkpoint.size }

    /// Passes the pieces of the bundles that have events behind a sequence.
    ///
    /// - Throws: what `body` throws; `EventLogError`: `notFound` if a bundle is missing, `invalidArgument` if it is not that of the tree.
    func forEachPiece(behind head: UInt64, _ body: (LogPiece) throws -> Void) throws {
        for bundle in manifest.bundles where bundle.last > head {
            try forEachPiece(of: bundle, body)
        }
    }
}

/// What rewrites left beside the events, as a file has it: the header of an export, then the keys of dropped events.
struct Remains {
    let file: any TreeFile
    /// What the file is called in messages.
    let name: String

    func facts() throws -> [String: [UInt8]] {
        var facts: [String: [UInt8]] = [:]
        try read { header, _ in
            facts = header.facts
            return false
        }
        return facts
    }

    func forEachKeyChunk(_ body: (LogPiece) throws -> Void) throws {
        try read { _, piece in
            if let piece { try body(piece) }
            return true
        }
    }

    /// Passes the header, without a piece first, and then with each chunk of keys; `body` returns false to stop.
    private func read(_ body: (LogHeader, LogPiece?) throws -> Bool) throws {
        do {
            let lines = try TreeLines(file)
            var reader = ExportReader()
            guard let first = try lines.next(bytesMax: TreeLines.headerBytesMax) else {
                throw ExportFault("it is empty")
            }
            let header = try reader.header(first)
            guard try body(header, nil) else { return }
            while let line = try lines.next() {
                let piece = try reader.piece(line)
                guard case .keys = piece else { throw ExportFault("it has other lines than keys") }
                guard try body(header, piece) else { return }
            }
        } catch let fault as ExportFault {
            throw TreeFault.error(name, fault.description)
        }
    }
}
