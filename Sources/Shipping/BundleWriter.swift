import EventLog

/// Writes bundles of a log into a tree.
struct BundleWriter {
    private let tree: TreeFolder
    /// The last dropped event that was written; zero for none.
    private(set) var lastDropped: UInt64 = 0

    /// The most events of a bundle, and about the most bytes before they are compressed.
    static let eventsMax: UInt64 = 1 << 20
    private static let bytesMax = 2 << 30
    /// The most bytes of payloads in a block, if it has more than one event.
    private static let blockBytesMax = 32 << 20

    init(_ tree: TreeFolder) {
        self.tree = tree
    }

    /// The last event of the bundle that begins with an event, and the height of its blocks. A run of dropped events is not cut.
    private static func extent(
        from first: UInt64,
        through last: UInt64,
        _ session: borrowing ReadSession
    ) throws -> (last: UInt64, level: Int) {
        let most = min(last, first + eventsMax - 1)
        var (bytes, end) = (0, most)
        var blocks = [Int](repeating: 0, count: Int((most - first) / 256) + 2)
        try session.forEachEvent(in: SequenceNumber(first)...SequenceNumber(most)) { event in
            let count = event.payloadCount
            bytes += count
            if bytes > bytesMax, event.sequence.rawValue > first {
                end = event.sequence.rawValue - 1
                return false
            }
            blocks[Int((event.sequence.rawValue - 1) / 256 - (first - 1) / 256)] += count
            return true
        }
        end = try session.lastOfPiece(at: SequenceNumber(end)).rawValue
        return (end, level(ofBlocks: blocks))
    }

    /// The height of blocks whose payloads fit into memory, by the bytes of 256 events each.
    private static func level(ofBlocks bytes: [Int]) -> Int {
        if bytes.contains(where: { $0 > blockBytesMax }) { return 0 }
        return bytes.contains { $0 > blockBytesMax / 16 } ? 8 : BundleHeader.levelMax
    }

    /// Writes the bundles of a range, as few as there may be. Calls `report` with the last event of each.
    mutating func write(
        from first: UInt64,
        through last: UInt64,
        _ session: borrowing ReadSession,
        _ report: (UInt64) -> Void
    ) throws -> [TreeManifest.Bundle] {
        var bundles: [TreeManifest.Bundle] = []
        var next = first
        while next <= last {
            let (end, level) = try Self.extent(from: next, through: last, session)
            bundles.append(try write(next, end, level: level, session))
            report(end)
            next = end + 1
        }
        return bundles
    }

    private mutating func write(
        _ first: UInt64,
        _ last: UInt64,
        level: Int,
        _ session: borrowing ReadSession
    ) throws -> TreeManifest.Bundle {
        let leaves = first - 1..<last
        let hashes = try session.subtreeRoots(of: leaves, levelMax: level)
        var dropped = lastDropped
        let file = try write("\(first)-\(last)") { put in
            try put(BundleHeader(first: first, last: last, level: level, hashes: hashes).line)
            var (writer, other) = (ExportWriter(), ExportWriter())
            try session.forEachPiece(in: SequenceNumber(first)...SequenceNumber(last)) { event in
                try put(writer.line(event))
            } other: { piece in
                if case .dropped(let run) = piece {
                    dropped = max(dropped, run.first.rawValue + UInt64(run.leafHashes.count) - 1)
                }
                try put(other.line(piece))
            }
        }
        lastDropped = dropped
        return TreeManifest.Bundle(
            first: first,
            last: last,
            file: file,
            hashes: try session.subtreeRoots(of: leaves)
        )
    }

    /// Writes what rewrites left beside the events: the header of an export, and the keys of dropped events.
    func writeRemains(_ header: LogHeader, _ session: borrowing ReadSession) throws -> TreeManifest.File {
        var header = header
        header.bookmarks = [:]
        return try write("remains-\(header.size)") { put in
            var writer = ExportWriter()
            try put(writer.line(header))
            try session.forEachKeyChunk { try put(writer.line(.keys($0))) }
        }
    }

    /// Writes lines into a compressed file that is named after them. While a piece is compressed, the next one is made.
    private func write(
        _ prefix: String,
        _ lines: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws -> TreeManifest.File {
        var output: BundleOutput?
        func name() -> String { "\(prefix)-\(output?.hash.hex.prefix(32) ?? "").zst" }
        try tree.write(at: [TreeManifest.bundleFolder], name: name) { file, path in
            let made = try BundleOutput(file, path)
            output = made
            let behind = WorkBehind()
            var piece: [UInt8] = []
            func flush(isLast: Bool) throws {
                let full = piece
                piece = []
                piece.reserveCapacity(full.count)
                try behind.run { try made.add(full, isLast: isLast) }
            }
            do {
                try lines { line in
                    piece += line
                    if piece.count >= Self.pieceBytes { try flush(isLast: false) }
                }
                try flush(isLast: true)
                try behind.finish()
            } catch {
                // Nothing may write to the file any more.
                try? behind.finish()
                throw error
            }
        }
        return TreeManifest.File(name: name(), bytes: output?.bytes ?? 0)
    }

    private static let pieceBytes = 1 << 20
}

/// The file of a bundle in the making.
///
/// `@unchecked Sendable` is right because `WorkBehind` runs one piece of work at a time, and `bytes` and `hash` are read when none runs.
private final class BundleOutput: @unchecked Sendable {
    private let file: OpenFile
    private let path: String
    private let compressor: ZstandardCompressor
    private var hasher = Hasher256()
    /// How many bytes the file has.
    private(set) var bytes: UInt64 = 0

    /// Level 1 leaves no more of frames than level 3 does, and an eighth more of commits, in two thirds of the time (`docs/benchmarks.md`).
    private static let level: Int32 = 1

    init(_ file: OpenFile, _ path: String) throws {
        (self.file, self.path) = (file, path)
        compressor = try ZstandardCompressor(level: Self.level)
    }

    /// The hash of the file.
    var hash: Hash256 { hasher.finalize() }

    /// Compresses a piece; the last one ends the file.
    func add(_ piece: [UInt8], isLast: Bool) throws {
        try compressor.add(piece, isLast: isLast) { compressed in
            try file.write(compressed, at: bytes, path)
            bytes += UInt64(compressed.count)
            hasher.update(compressed)
        }
    }
}
