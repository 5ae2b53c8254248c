/// A file that holds what a compaction dropped: an export of the kind `archive` (`docs/cli-json.md`), compressed by Zstandard.
public struct ArchiveFile: Hashable, Sendable {
    /// Where it is.
    public let path: String
    /// The events in it that the compaction dropped.
    public let events: Int
    /// Its size.
    public let bytes: UInt64

    /// Where an archive is put unless somebody says otherwise: beside the log, named after it, the head at which the compaction was
    /// decided, and the root there.
    public static func path(beside log: String, _ header: LogHeader) -> String {
        "\(prefix(of: log))\(header.size)-\(header.root.hex.prefix(8))\(suffix)"
    }

    /// The paths of the archives that lie beside a log, by their names, those of the newest compactions first.
    public static func paths(beside log: String) -> [String] {
        let place = Directory.split(prefix(of: log))
        let names = (try? Folder(at: place.parent).names()) ?? []
        let found = names.compactMap { name -> (size: UInt64, root: String)? in
            guard name.hasPrefix(place.name), name.hasSuffix(suffix) else { return nil }
            let parts = name.dropFirst(place.name.count).dropLast(suffix.count).split(separator: "-")
            guard parts.count == 2, parts[1].utf8.count == 8, let size = UInt64(parts[0]) else { return nil }
            return (size, String(parts[1]))
        }
        return found.sorted { ($0.size, $0.root) > ($1.size, $1.root) }
            .map { "\(prefix(of: log))\($0.size)-\($0.root)\(suffix)" }
    }

    /// Removes the archives beside a log but those of its newest compactions. What another log's archive is, or is no archive,
    /// stays, and so does what cannot be removed. Returns the paths of what was.
    package static func prune(beside store: EventStore, keeping count: Int) -> [String] {
        let own = paths(beside: store.path).filter { (try? header(at: $0))?.identity == store.identity }
        return own.dropFirst(count).filter(remove)
    }

    /// The header of the archive at a path.
    private static func header(at path: String) throws -> LogHeader? {
        let place = Directory.split(path)
        guard let file = try Folder(at: place.parent).file(place.name) else { return nil }
        var offset: UInt64 = 0
        let reader = try ZstandardReader(first: []) { piece in
            let count = piece.withUnsafeMutableBytes { file.read($0, at: offset) }
            offset += UInt64(count)
            return count
        }
        var (line, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while line.count <= headerBytesMax {
            let count = try reader.next(&piece)
            if count == 0 { return nil }
            line += piece[..<count]
            guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { continue }
            return try ExportReader().header(Array(line[..<end]))
        }
        return nil
    }

    /// The facts of a log are in the header.
    private static let headerBytesMax = 1 << 30
    private static let suffix = ".zst"

    /// Removes the file, if that is possible.
    package func remove() { _ = Self.remove(path) }

    /// Removes a file; false if that is not possible.
    private static func remove(_ path: String) -> Bool {
        let place = Directory.split(path)
        return (try? Folder(at: place.parent).removeFile(place.name)) != nil
    }

    /// What the paths of a log's archives begin with. A log that is named by `.` or `..` is looked up first.
    private static func prefix(of log: String) -> String {
        let place = Directory.split(log)
        if [".", ".."].contains(place.name), let path = Directory.resolved(log) { return "\(path).archive-" }
        if place.parent == ".", !log.hasPrefix("./") { return "\(place.name).archive-" }
        return "\(place.parent)/\(place.name).archive-"
    }

    /// The level of compression. Level 9 leaves 2 to 9 % less than this one, and takes up to half as long again; level 3 leaves 3 to
    /// 5 % more (gateway frames, texts of commits).
    fileprivate static let level: Int32 = 6
}

extension ReadSession {
    /// Writes the archive of what a compaction is about to drop. It appears at its path whole and synced, or not at all; a file
    /// there is replaced.
    ///
    /// - Parameters:
    ///   - dropped: the held events that go, ascending, none after `decidedAt`.
    ///   - facts: those that the compaction leaves. The archive has those from before as what differs: it goes back into a log that
    ///     has these.
    ///   - path: where it belongs, by its header.
    /// - Throws: `EventLogError` with code `damaged`, naming the sequence, if an event is not as it was appended; `io`.
    public func archive(
        _ dropped: [SequenceNumber],
        decidedAt: SequenceNumber,
        leaving facts: [String: [UInt8]],
        at path: (LogHeader) -> String
    ) throws -> ArchiveFile {
        let header = try archiveHeader(decidedAt: decidedAt, leaving: facts)
        let path = path(header)
        let place = Directory.split(path)
        let folder = try Folder(at: place.parent)
        let draft = Partial.name(for: place.name)
        let file = try Partial.makeFile(for: place.name, in: folder)
        do {
            let bytes = try write(dropped, header, to: file, path)
            try file.sync(path)
            try folder.move(draft, to: place.name)
            try folder.sync()
            return ArchiveFile(path: path, events: dropped.count, bytes: bytes)
        } catch {
            try? folder.removeFile(draft)
            throw error
        }
    }

    /// Writes the lines of an archive. Returns the size of the file.
    private func write(
        _ dropped: [SequenceNumber],
        _ header: LogHeader,
        to file: OpenFile,
        _ path: String
    ) throws -> UInt64 {
        let compressor = try ZstandardCompressor(level: ArchiveFile.level)
        var writer = ExportWriter()
        var bytes: UInt64 = 0
        func put(_ line: [UInt8], isLast: Bool = false) throws {
            try compressor.add(line, isLast: isLast) { piece in
                try file.write(piece, at: bytes, path)
                bytes += UInt64(piece.count)
            }
        }
        try put(writer.line(header))
        var rest = dropped[...]
        try forEachPiece(through: SequenceNumber(header.size)) { event in
            guard rest.first == event.sequence else { return false }
            rest.removeFirst()
            return true
        } _: { piece in
            try put(writer.line(piece))
        }
        if let missing = rest.first { throw reader.damaged("sequence \(missing) is to be archived, and is not held") }
        try put([], isLast: true)
        return bytes
    }
}
