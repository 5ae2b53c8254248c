import CacheTables
import Clients
import EventLog
import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A state written as JSON: one document (`*.json`) or one row a line (`*.ndjson`). The other targets of `rebuild` are
/// databases (`CacheFile`).
///
/// Nothing follows, compares or copies such a file; each rebuild writes all of it.
struct StateFile {
    enum Form {
        case document, lines
    }

    let path: String
    let form: Form

    /// Returns `nil` for a path with another suffix, which names a database.
    init?(path: String) {
        self.path = path
        if path.hasSuffix(".ndjson") {
            form = .lines
        } else if path.hasSuffix(".json") {
            form = .document
        } else {
            return nil
        }
    }

    /// The bytes that a file of this form begins with. They show that a rebuild wrote it.
    private var start: String {
        switch form {
        case .document: #"{"format":"eventlog.state/1""#
        // Of any version.
        case .lines: #"{"format":"eventlog.rows/"#
        }
    }

    /// Writes all of a state. The file appears at its path once it is complete.
    ///
    /// - Parameter overwrites: Whether a file that no rebuild wrote may be replaced.
    /// - Returns: How many rows each list has.
    /// - Throws: `Failure` with exit code 4 if such a file exists and may not be replaced.
    func write(_ state: inout LogState, meta: CacheMeta, overwrites: Bool) throws -> [(table: String, count: Int)] {
        let file = try OutputFile(path, overwrites: overwrites || isOurs)
        let counts = try write(&state, meta, to: file)
        try file.finish()
        return counts
    }

    /// Counts the rows that `write` would write, and writes nothing.
    func count(_ state: inout LogState, meta: CacheMeta) throws -> [(table: String, count: Int)] {
        try write(&state, meta, to: nil)
    }

    /// Writes to a file, or for `nil` only counts.
    private func write(
        _ state: inout LogState,
        _ meta: CacheMeta,
        to file: OutputFile?
    ) throws -> [(table: String, count: Int)] {
        var options = DocumentOptions()
        options.profile = Profile(rawValue: meta.profile) ?? .canonical
        return try form == .document ? writeDocument(&state, options, to: file) : writeLines(state, meta, to: file)
    }

    /// True if the file at the path begins as ours do. Without waiting, should the path be a FIFO.
    private var isOurs: Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: start.utf8.count)
        return read(descriptor, &bytes, bytes.count) == bytes.count && bytes.elementsEqual(start.utf8)
    }

    /// Writes the state document. It is in memory as a whole, unlike rows that are written line by line.
    private func writeDocument(
        _ state: inout LogState,
        _ options: DocumentOptions,
        to file: OutputFile?
    ) throws -> [(table: String, count: Int)] {
        let document = state.document(options)
        try file?.add(Array((document.lines + "\n").utf8))
        return Section.allCases.map { (table: $0.rawValue, count: document[$0.rawValue]?.array?.count ?? 0) }
    }

    /// Writes a header line, then each row with the name of its list as its first member.
    private func writeLines(
        _ state: LogState,
        _ meta: CacheMeta,
        to file: OutputFile?
    ) throws -> [(table: String, count: Int)] {
        let header: JSONObject = [
            "format": .string("eventlog.rows/2"), "identity": .string(meta.identity),
            "sequence": .string(meta.sequence.description), "asOf": .string(meta.asOf),
            "profile": .string(meta.profile), "digest": .string(meta.digest),
        ]
        try file?.add(Array((JSONValue.object(header).text + "\n").utf8))
        var counts: [(table: String, count: Int)] = []
        for list in StateList.all {
            var count = 0
            try state.forEachRow(of: list, asOf: CacheMeta.asOf(state)) { row in
                var line: JSONObject = ["rows": .string(list.name)]
                for member in row.object?.members ?? [] { line[member.name] = member.value }
                try file?.add(Array((JSONValue.object(line).text + "\n").utf8))
                count += 1
            }
            counts.append((table: list.name, count: count))
        }
        return counts
    }
}
