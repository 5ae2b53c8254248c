import EventLog
import JSON

/// What a joined log was made of. It is stored in the joined log, with its last event: a joined log without it is not whole.
struct JoinRecord {
    /// A member, as far as it was joined.
    struct Part: Equatable {
        let name: String
        let identity: [UInt8]
        let generation: UInt32
        let head: UInt64
        let root: Hash256
        /// Changes that a log before it in the order has, too.
        var duplicates: UInt64 = 0
        /// Changes whose payload is a substitute.
        var redacted: UInt64 = 0
    }

    /// The head of the joined log.
    var head: UInt64 = 0
    /// In the order in which they came to be members; `JoinPlaces` counts by it.
    var parts: [Part] = []
    /// The hash of each source's decoder file.
    var decoders: [String: String] = [:]
    /// The clock of the last change, and its member's name; `nil` without changes.
    var last: (clock: Int64, name: String)?

    /// The source under whose name the record is kept, beside the notes of recorders.
    static let source: StaticString = "logtool.join"
    private static let format = "eventlog.join/1"

    init() {}

    /// The stored form.
    var bytes: [UInt8] {
        var decoders = JSONObject()
        for (source, hash) in self.decoders.sorted(by: { $0.key < $1.key }) { decoders[source] = .string(hash) }
        let members: JSONObject = [
            "format": .string(Self.format),
            "head": .string(String(head)),
            "logs": .array(parts.map { .object(Self.members(of: $0)) }),
            "decoders": .object(decoders),
            "clock": last.map { .string(String($0.clock)) },
            "last": last.map { .string($0.name) },
        ]
        var json = JSONWriter()
        json.value(.object(members))
        return json.bytes
    }

    private static func members(of part: Part) -> JSONObject {
        [
            "name": .string(part.name),
            "identity": .string(Base64.encode(part.identity)),
            "generation": .string(String(part.generation)),
            "head": .string(String(part.head)),
            "root": .string(Base64.encode(part.root.bytes)),
            "duplicates": .string(String(part.duplicates)),
            "redacted": .string(String(part.redacted)),
        ]
    }

    /// Reads the stored form; `nil` for anything else.
    init?(_ bytes: [UInt8]) {
        guard let value = JSONValue(received: bytes), value["format"]?.string == Self.format,
            let head = value["head"]?.string.flatMap({ UInt64($0) })
        else { return nil }
        self.head = head
        for part in value["logs"]?.array ?? [] {
            let number = { (name: String) in part[name]?.string.flatMap { UInt64($0) } }
            guard let name = part["name"]?.string,
                let identity = part["identity"]?.string.flatMap({ Base64.decode($0) }),
                let root = part["root"]?.string.flatMap({ Hash256(spelled: $0) }), let head = number("head"),
                let generation = number("generation").flatMap({ UInt32(exactly: $0) }),
                let duplicates = number("duplicates"), let redacted = number("redacted")
            else { return nil }
            parts.append(
                Part(
                    name: name,
                    identity: identity,
                    generation: generation,
                    head: head,
                    root: root,
                    duplicates: duplicates,
                    redacted: redacted
                )
            )
        }
        for member in value["decoders"]?.object?.members ?? [] { decoders[member.name] = member.value.string ?? "" }
        if let name = value["last"]?.string, let clock = value["clock"]?.string.flatMap({ Int64($0) }) {
            last = (clock, name)
        }
    }
}
