import EventLog
import JSON

/// The first line of a batch: what the other bytes are, and what they are proved by.
struct BatchHeader {
    let identity: [UInt8]
    let first: UInt64
    let last: UInt64
    /// The checkpoint of the log that ends with the batch.
    let checkpoint: SignedCheckpoint
    /// The roots of the subtrees that the events before the batch consist of, and those of the batch (`SubtreeCover`). Together they give
    /// the checkpoint's root.
    let before: [Hash256]
    let hashes: [Hash256]
    let acts: [UInt64]
    let decidedAt: UInt64
    /// The bytes of each section: one for each source, then the notes that recorders resume from, if `hasBookmarks`.
    let sections: [Int]
    let hasBookmarks: Bool

    static let format = "eventlog.batch/1"
    /// The longest line, and the most bytes of all sections.
    static let bytesMax = 256 << 10
    static let sectionsBytesMax = 256 << 20

    /// The line, with its LF.
    var line: [UInt8] {
        let members: JSONObject = [
            "format": .string(Self.format),
            "identity": .string(Base64.encode(identity)),
            "from": .string(String(first)),
            "to": .string(String(last)),
            "checkpoint": .string(checkpoint.note),
            "before": .array(before.map { .string(Base64.encode($0.bytes)) }),
            "hashes": .array(hashes.map { .string(Base64.encode($0.bytes)) }),
            "decidedAt": decidedAt > 0 ? .string(String(decidedAt)) : nil,
            "acts": acts.isEmpty ? nil : .array(acts.map { .string(String($0)) }),
            "sections": .array(sections.map { .int($0) }),
            "bookmarks": hasBookmarks ? .bool(true) : nil,
        ]
        return TreeManifest.line(members)
    }
}

extension BatchHeader {
    /// Reads the line, and checks that its hashes give the checkpoint's root.
    ///
    /// - Throws: `ExportFault`.
    init(_ line: [UInt8]) throws {
        guard line.count <= Self.bytesMax, let value = JSONValue(received: line),
            value["format"]?.string == Self.format
        else {
            throw ExportFault("its format is not \(Self.format)")
        }
        identity = try TreeManifest.bytes(value, "identity", count: 16)
        (first, last) = (try TreeManifest.number(value, "from"), try TreeManifest.number(value, "to"))
        guard first > 0, first <= last, last < Int64.max else { throw ExportFault("it begins or ends nowhere") }
        checkpoint = try SignedCheckpoint(Array((value["checkpoint"]?.string ?? "").utf8))
        before = try (value["before"]?.array ?? []).map { try TreeManifest.hash($0, "before") }
        hashes = try (value["hashes"]?.array ?? []).map { try TreeManifest.hash($0, "hashes") }
        acts = try (value["acts"]?.array ?? []).map { try TreeManifest.number(of: $0, "acts") }
        decidedAt = value["decidedAt"] == nil ? 0 : try TreeManifest.number(value, "decidedAt")
        hasBookmarks = value["bookmarks"]?.bool ?? false
        var total = 0
        sections = try (value["sections"]?.array ?? []).map { value in
            guard let count = value.number?.int64, count > 0, count <= Self.sectionsBytesMax - total else {
                throw ExportFault("its sections have no size, or too great a one")
            }
            total += Int(count)
            return Int(count)
        }
        try check()
    }

    private func check() throws {
        let covers = [(SubtreeCover(of: 0..<first - 1), before), (SubtreeCover(of: first - 1..<last), hashes)]
        var frontier = MerkleFrontier()
        for (cover, hashes) in covers {
            let subtrees = Array(cover)
            guard subtrees.count == hashes.count else { throw ExportFault("its hashes are not those of its range") }
            for (subtree, hash) in zip(subtrees, hashes) { frontier.append(hash, level: subtree.level) }
        }
        guard checkpoint.checkpoint.size == last, checkpoint.checkpoint.root == frontier.root else {
            throw ExportFault("its hashes do not give the root of its checkpoint")
        }
        // A number that no log has would make a state that no log reaches.
        guard zip(acts, acts.dropFirst()).allSatisfy({ $0 < $1 }), acts.first != 0 else {
            throw ExportFault("its acts are not in order")
        }
    }
}

/// A batch whose messages are all there.
struct Batch {
    let header: BatchHeader
    private let sections: [[UInt8]]

    /// The most bytes that events of a batch have as lines: two of the longest lines that `import` takes.
    private static let linesBytesMax = 2 * TreeLines.lineBytesMax

    /// Puts a batch together from the bytes of its messages.
    ///
    /// - Throws: `ExportFault` if they are not what the name says.
    init(_ name: BatchName, identity: [UInt8], parts: [[UInt8]]) throws {
        var hasher = Hasher256()
        for part in parts { hasher.update(part) }
        guard BatchName.half(hasher.finalize()) == name.digest else { throw ExportFault("its bytes are others") }
        guard let first = parts.first, let end = first.firstIndex(of: UInt8(ascii: "\n")) else {
            throw ExportFault("it has no first line")
        }
        header = try BatchHeader(Array(first[..<end]))
        guard header.identity == identity, header.first == name.first, header.last == name.last,
            BatchName.half(header.checkpoint.checkpoint.root) == name.root,
            RewriteState(acts: header.acts, decidedAt: header.decidedAt) == name.state
        else {
            throw ExportFault("its first line is of another batch")
        }
        var bytes = Array(first[(end + 1)...])
        for part in parts.dropFirst() { bytes.append(contentsOf: part) }
        var sections: [[UInt8]] = []
        var begin = 0
        for count in header.sections {
            guard count <= bytes.count - begin else { throw ExportFault("a section is too short") }
            sections.append(Array(bytes[begin..<begin + count]))
            begin += count
        }
        guard begin == bytes.count else { throw ExportFault("it is too long") }
        self.sections = sections
    }

    /// The events and runs of dropped ones, in order; each is proved by the header's hashes.
    ///
    /// - Throws: `ExportFault`, or `EventLogError` for what does not decompress and for names beyond their limits.
    func pieces() throws -> [LogPiece] {
        var pieces: [(first: UInt64, piece: LogPiece)] = []
        var bytes = 0
        for section in header.hasBookmarks ? sections.dropLast() : sections[...] {
            let lines = try TreeLines(MemoryFile(section))
            var reader = ExportReader()
            while let line = try lines.next() {
                bytes += line.count
                guard bytes <= Self.linesBytesMax, UInt64(pieces.count) <= header.last - header.first else {
                    throw ExportFault("it has more than its first line says")
                }
                let piece = try reader.piece(line)
                switch piece {
                case .event(let event): pieces.append((event.envelope.sequence.rawValue, piece))
                case .dropped(let run): pieces.append((run.first.rawValue, piece))
                case .missing, .keys: throw ExportFault("a batch has events, and runs of dropped ones")
                }
            }
        }
        pieces.sort { $0.first < $1.first }
        try prove(pieces)
        return pieces.map(\.piece)
    }

    private func prove(_ pieces: [(first: UInt64, piece: LogPiece)]) throws {
        var leaves: [Hash256] = []
        for (first, piece) in pieces {
            guard first == header.first + UInt64(leaves.count) else {
                throw ExportFault("event \(first) stands where \(header.first + UInt64(leaves.count)) belongs")
            }
            leaves += piece.leafHashes
        }
        guard UInt64(leaves.count) == header.last - header.first + 1 else {
            throw ExportFault("it ends behind event \(header.first - 1 + UInt64(leaves.count))")
        }
        for (subtree, hash) in zip(SubtreeCover(of: header.first - 1..<header.last), header.hashes) {
            var frontier = MerkleFrontier()
            let begin = Int(subtree.leaves.lowerBound - (header.first - 1))
            for leaf in leaves[begin..<begin + Int(subtree.leaves.upperBound - subtree.leaves.lowerBound)] {
                frontier.append(leaf)
            }
            guard frontier.root == hash else {
                throw ExportFault("an event from \(subtree.leaves.lowerBound + 1) on is not that of the checkpoint")
            }
        }
    }

    /// The notes that recorders resume from; none where the batch has none.
    func bookmarks() throws -> [String: [UInt8]] {
        guard header.hasBookmarks, let section = sections.last else { return [:] }
        let line = try TreeLines(MemoryFile(section)).next() ?? []
        var bookmarks: [String: [UInt8]] = [:]
        for member in JSONValue(received: line)?.object?.members ?? [] {
            bookmarks[member.name] = member.value.string.flatMap { Base64.decode($0) }
        }
        return bookmarks
    }

    /// The section of a batch of remains, as a file of a tree has it.
    var remains: any TreeFile { MemoryFile(sections.first ?? []) }
}

extension LogPiece {
    /// The leaf hashes of what it covers, in order.
    var leafHashes: [Hash256] {
        switch self {
        case .event(let event): [event.leafHash]
        case .dropped(let run): run.leafHashes
        case .missing, .keys: []
        }
    }
}

/// A file that is in memory.
struct MemoryFile: TreeFile {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var byteCount: UInt64 { UInt64(bytes.count) }

    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        let rest = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
        rest.withUnsafeBytes { buffer.copyMemory(from: $0) }
        return rest.count
    }
}
