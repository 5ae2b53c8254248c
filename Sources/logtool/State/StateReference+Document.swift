import EventLog
import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension StateReference {
    /// The state document that the reference names, with the rows of one source if one is given.
    ///
    /// A document of a log is made with its digest; one from a file keeps the digest that it states, which nothing
    /// checks.
    ///
    /// - Throws: `Failure` if a document cannot be read or is invalid; what opening and replaying a log throw.
    func document(source: SourceName?, progress: Progress? = nil, isQuiet: Bool = false) throws -> JSONValue {
        switch self {
        case .log(let path, let point, let profile):
            let query = StateQuery(point: point, profile: profile, source: source)
            let loader = StateLoader(store: try EventStore.open(at: path), progress: progress, isQuiet: isQuiet)
            return try loader.document(for: query)
        case .document(let path):
            return try Self.parse(try InputFile.bytes(at: path), name: path).only(source)
        case .standardInput:
            return try Self.parse(try InputFile.bytes(at: "-"), name: "standard input").only(source)
        }
    }

    /// Reads a state document. Only its format is checked; a section that it lacks counts as empty. So a document made
    /// by hand may have the sections of interest alone.
    private static func parse(_ bytes: [UInt8], name: String) throws -> JSONValue {
        let document: JSONValue
        do {
            document = try JSONValue.parse(bytes)
        } catch {
            throw Failure("read state document \"\(name)\": \(error)")
        }
        guard document["format"]?.string == "eventlog.state/1" else {
            throw Failure("read state document \"\(name)\": it has no \"format\":\"eventlog.state/1\"")
        }
        return document
    }
}

extension JSONValue {
    /// The state document with the rows of one source only; unchanged for `nil`.
    fileprivate func only(_ source: SourceName?) -> JSONValue {
        guard let source, case .object(var document) = self else { return self }
        for member in document.members {
            guard let rows = member.value.array else { continue }
            document[member.name] = .array(rows.filter { $0["source"]?.string == source.rawValue })
        }
        return .object(document)
    }
}

/// Reads whole files. For inputs that are needed as a whole; `LineReader` reads long ones line by line.
enum InputFile {
    /// The bytes of a file; of standard input for `-`. A pipe is read to its end, however long that takes.
    ///
    /// - Throws: `Failure` if the file cannot be read or has more than `bytesMax` bytes.
    static func bytes(at path: String, bytesMax: Int = .max) throws -> [UInt8] {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw trouble(path) }
        defer { if descriptor != 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count > 0 {
                bytes.append(contentsOf: piece[..<count])
                if bytes.count > bytesMax { throw Failure("read \"\(path)\": it has more than \(bytesMax) bytes") }
            } else if count == 0 {
                return bytes
            } else if errno != EINTR {
                throw trouble(path)
            }
        }
    }

    /// True for a file, also behind a link: reading it again gives its bytes again. False for a pipe or nothing.
    static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// An error with the reason in `errno`; to be called before anything else changes that.
    private static func trouble(_ path: String) -> Failure {
        Failure("read \"\(path)\": \(String(cString: strerror(errno)))")
    }
}
