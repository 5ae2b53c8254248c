import EventLog
import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension StateReference {
    /// The state document that the reference names, with the rows of one source if one is given. `decoders` stand in for those in force.
    ///
    /// A document of a log is made with its digest; one from a file keeps the digest that it states, which nothing
    /// checks.
    ///
    /// - Throws: `Failure` if a document cannot be read or is invalid; what opening and replaying a log throw.
    func document(
        source: SourceName?,
        decoders: DecoderOptions,
        archives: ArchiveOptions,
        progress: Progress? = nil,
        isQuiet: Bool = false
    ) throws -> JSONValue {
        switch self {
        case .log(let path, let point, let profile):
            let query = StateQuery(point: point, profile: profile, source: source)
            let store = try decoders.used(
                in: archives.opened(path, isQuiet: isQuiet, passesOthers: true, tellsOfPart: false),
                isQuiet: isQuiet
            )
            let loader = StateLoader(store: store, progress: progress, isQuiet: isQuiet)
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
