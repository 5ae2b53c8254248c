internal import EventLog

/// What reads the events of a source that a decoder file may read: a file, a decoder in Swift, or this package's own decoders.
struct DecoderIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The name of a file or of a decoder in Swift; `nil` for this package's own.
    let name: String?
    /// The SHA-256 of a file, as hex.
    let hash: String?

    /// What reads a source, as JSON: `{"name","sha256"}` for a file, `{"name"}` for a decoder in Swift, `{}` without either.
    var json: JSONValue {
        .object(["name": name.map { .string($0) }, "sha256": hash.map { .string($0) }])
    }

    init(_ json: JSONValue) {
        (name, hash) = (json["name"]?.string, json["sha256"]?.string)
    }

    init(file: DecoderFile?) {
        (name, hash) = (file?.name, file?.hash.hex)
    }

    init(registered name: String) {
        (self.name, hash) = (name, nil)
    }

    /// A file is what it says, whatever its name.
    static func == (one: DecoderIdentity, other: DecoderIdentity) -> Bool {
        one.hash == other.hash && (one.hash != nil || one.name == other.name)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }

    var description: String {
        guard let name else { return "no decoder file" }
        return hash.map { "\(name) (\($0.prefix(8)))" } ?? name
    }
}

extension Decoders {
    /// What reads the events of a kind and source; a kind that a decoder file may read.
    func identity(of source: SourceName, _ kind: EventKind) -> DecoderIdentity {
        (registered.sources[source] ?? registered.kinds[kind]).map { DecoderIdentity(registered: $0.name) }
            ?? DecoderIdentity(file: self[source])
    }
}
