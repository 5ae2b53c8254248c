import EventLog

/// Reads a bundle, and passes on what the tree's hashes prove, block by block. For one thread.
struct BundleReader {
    private let bundle: TreeManifest.Bundle
    private let lines: TreeLines
    private var blocks: AnyIterator<SubtreeCover.Subtree>
    private var hashes: [Hash256].Iterator
    /// The block that is being read, and its root.
    private var block: (last: UInt64, hash: Hash256)?
    private var frontier = MerkleFrontier()
    /// The last leaf whose block was proved.
    private var proved: UInt64
    /// The last leaf that was read.
    private var read: UInt64
    /// Pieces that no block has proved yet, in order, with the last leaf of each.
    private var waiting: [(last: UInt64, piece: LogPiece)] = []
    private var waitingBytes = 0
    private let name: String

    /// The most bytes of payloads that wait for their block to be proved; writers make blocks of a quarter of it.
    private static let waitingBytesMax = 128 << 20

    init(_ bundle: TreeManifest.Bundle, _ file: any TreeFile, name: String) throws {
        (self.bundle, self.name) = (bundle, name)
        lines = try TreeLines(file)
        (proved, read) = (bundle.first - 1, bundle.first - 1)
        do {
            guard let line = try lines.next() else { throw ExportFault("it is empty") }
            let header = try BundleHeader(line, of: bundle)
            blocks = header.blocks.makeIterator()
            hashes = header.hashes.makeIterator()
        } catch let fault as ExportFault {
            throw TreeFault.error(name, fault.description)
        }
        beginBlock()
    }

    /// Passes the pieces in order.
    ///
    /// - Throws: what `body` throws; `EventLogError` with code `invalidArgument` for what is not proved. Nothing of a block that is
    ///   not is passed on.
    mutating func forEachPiece(_ body: (LogPiece) throws -> Void) throws {
        var reader = ExportReader()
        while let line = try lines.next() {
            do {
                try add(try reader.piece(line), bytes: line.count)
            } catch let fault as ExportFault {
                throw TreeFault.error(name, "behind event \(read): \(fault)")
            }
            guard let first = waiting.first, first.last <= proved else { continue }
            let end = waiting.firstIndex { $0.last > proved } ?? waiting.endIndex
            for (_, piece) in waiting[..<end] { try body(piece) }
            waiting.removeSubrange(..<end)
            waitingBytes = 0
        }
        guard read == bundle.last, waiting.isEmpty else {
            throw TreeFault.error(name, "it ends behind event \(read), and should with \(bundle.last)")
        }
    }

    private mutating func add(_ piece: LogPiece, bytes: Int) throws {
        let leaves: [Hash256]
        let first: UInt64
        switch piece {
        case .event(let event): (first, leaves) = (event.envelope.sequence.rawValue, [event.leafHash])
        case .dropped(let run): (first, leaves) = (run.first.rawValue, run.leafHashes)
        case .missing, .keys: throw ExportFault("a bundle has events, and runs of dropped ones")
        }
        guard first == read + 1, !leaves.isEmpty, UInt64(leaves.count) <= bundle.last - read else {
            throw ExportFault("event \(first) stands where \(read + 1) belongs")
        }
        waitingBytes += bytes
        guard waitingBytes <= Self.waitingBytesMax || waiting.isEmpty else {
            throw ExportFault("a block has more than \(Self.waitingBytesMax >> 20) MiB")
        }
        for leaf in leaves { try add(leaf) }
        waiting.append((read, piece))
    }

    private mutating func add(_ leaf: Hash256) throws {
        guard let block else { throw ExportFault("it has more events than hashes") }
        frontier.append(leaf)
        read += 1
        guard read == block.last else { return }
        guard frontier.root == block.hash else {
            throw ExportFault("an event among the last \(read - proved) is not that of the tree")
        }
        proved = read
        beginBlock()
    }

    private mutating func beginBlock() {
        frontier = MerkleFrontier()
        block = blocks.next().flatMap { block in hashes.next().map { (block.leaves.upperBound, $0) } }
    }
}

/// The lines of a compressed file, one after another, of at most 128 MiB each. For one thread.
final class TreeLines {
    private let reader: ZstandardReader
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    /// What was read and is not passed on yet: from `start` to `end` in `buffer`.
    private var (start, end) = (0, 0)

    /// The longest line of an event, as `import` has it, and that of a header, which has all facts.
    static let lineBytesMax = 128 << 20
    static let headerBytesMax = 1 << 30

    init(_ file: any TreeFile) throws {
        var offset: UInt64 = 0
        reader = try ZstandardReader(first: []) { piece in
            let count = piece.withUnsafeMutableBytes { file.read($0, at: offset) }
            offset += UInt64(count)
            return count
        }
    }

    /// The next line without its LF; `nil` at the end.
    ///
    /// - Throws: `EventLogError` with code `io` for what is no Zstandard frame; `ExportFault` for a line that is too long, or that
    ///   does not end.
    func next(bytesMax: Int = lineBytesMax) throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if start == end {
                (start, end) = (0, try reader.next(&buffer))
                if end == 0 {
                    guard line.isEmpty else { throw ExportFault("its last line does not end") }
                    return nil
                }
            }
            let newline = buffer.withUnsafeBytes { bytes in
                memchrOffset(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
            let stop = newline.map { start + $0 } ?? end
            line.append(contentsOf: buffer[start..<stop])
            guard line.count <= bytesMax else { throw ExportFault("a line has more than \(bytesMax >> 20) MiB") }
            start = newline == nil ? stop : stop + 1
            if newline != nil { return line }
        }
    }

    private func memchrOffset(_ bytes: UnsafeRawBufferPointer) -> Int? { bytes.firstIndex(of: UInt8(ascii: "\n")) }
}
