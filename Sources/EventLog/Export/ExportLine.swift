import JSON

/// Why a line is none of an exported log.
public struct ExportFault: Error, Hashable, CustomStringConvertible {
    /// The fault, in lower case. Names members, and of values only the first 40 characters of a foreign format's name.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The members of one line of an export, not yet interpreted. Borrows the line's bytes.
///
/// Of several members with one name the last one counts. Unknown members are passed over.
struct ExportLine {
    /// The members that are texts.
    enum Text: Int, CaseIterable {
        case format, what, identity, size, root, decidedAt
        case sequence, recordedAt, source, kind, key, salt, commitment, payload, payloadBase64
        case from, to, clock, clockAtNode, hash, droppedKeys

        var name: StaticString {
            switch self {
            case .format: "format"
            case .what: "what"
            case .identity: "identity"
            case .size: "size"
            case .root: "root"
            case .decidedAt: "decidedAt"
            case .sequence: "sequence"
            case .recordedAt: "recordedAt"
            case .source: "source"
            case .kind: "kind"
            case .key: "key"
            case .salt: "salt"
            case .commitment: "commitment"
            case .payload: "payload"
            case .payloadBase64: "payloadBase64"
            case .from: "from"
            case .to: "to"
            case .clock: "clock"
            case .clockAtNode: "clockAtNode"
            case .hash: "hash"
            case .droppedKeys: "droppedKeys"
            }
        }
    }

    /// The other members: lists, objects, numbers and truth values.
    enum Part: Int, CaseIterable {
        case attributes, redacted, level, rewrite, leafHashes, acts, facts, bookmarks

        var name: StaticString {
            switch self {
            case .attributes: "attributes"
            case .redacted: "redacted"
            case .level: "level"
            case .rewrite: "rewrite"
            case .leafHashes: "leafHashes"
            case .acts: "acts"
            case .facts: "facts"
            case .bookmarks: "bookmarks"
            }
        }
    }

    private static let textMembers = Text.allCases
    private static let partMembers = Part.allCases

    /// By `Text.rawValue`; `nil` for a member that is absent or no text.
    private var texts: [JSONText?]
    /// The members among `Text` that are present, of whatever type: one bit each, by `rawValue`.
    private var present: UInt32 = 0
    /// The bytes of each value, by `Part.rawValue`; `nil` for a member that is absent.
    private var parts: [UnsafeRawBufferPointer?]

    /// Reads one line.
    ///
    /// - Throws: `JSONError` if it is not one JSON object.
    init(_ line: UnsafeRawBufferPointer) throws(JSONError) {
        texts = [JSONText?](repeating: nil, count: Self.textMembers.count)
        parts = [UnsafeRawBufferPointer?](repeating: nil, count: Self.partMembers.count)
        var reader = JSONReader(line)
        guard try reader.kind() == .object else {
            // Any other value has no members; what it lacks is named when it is interpreted.
            try reader.skip()
            try reader.finish()
            return
        }
        try reader.enterObject()
        while let name = try reader.nextMember() {
            if let text = Self.textMembers.first(where: { name == $0.name }) {
                let isText = try reader.kind() == .string
                texts[text.rawValue] = isText ? try reader.string() : nil
                present |= 1 << UInt32(text.rawValue)
                if !isText { try reader.skip() }
            } else if let part = Self.partMembers.first(where: { name == $0.name }) {
                // Past the white space, so that the bytes begin with the value.
                _ = try reader.kind()
                parts[part.rawValue] = try reader.slice()
            } else {
                try reader.skip()
            }
        }
        try reader.finish()
    }

    /// Whether a member is present, of whatever type.
    func contains(_ member: Text) -> Bool { present & 1 << UInt32(member.rawValue) != 0 }

    func contains(_ member: Part) -> Bool { parts[member.rawValue] != nil }

    /// A text; `nil` if the member is absent or no text.
    subscript(member: Text) -> JSONText? { texts[member.rawValue] }

    /// A reader before the value of a member; `nil` if it is absent.
    func reader(of member: Part) -> JSONReader? {
        parts[member.rawValue].map { JSONReader($0) }
    }
}

// MARK: - Values

extension ExportLine {
    /// A member that must be a text.
    func text(_ member: Text) throws -> String {
        guard let text = self[member] else { throw ExportFault("\"\(member.name)\" is missing or no string") }
        return text.string
    }

    /// A whole number written as a text.
    func number(_ member: Text) throws -> UInt64 {
        guard let number = UInt64(try text(member)) else { throw ExportFault("\"\(member.name)\" is no number") }
        return number
    }

    /// A number that is not written as a text; `nil` for one that is absent, or is not whole.
    func number(_ member: Part) throws -> UInt64? {
        guard var reader = reader(of: member), try reader.kind() == .number else { return nil }
        return try reader.number().uint64
    }

    /// Bytes in base64.
    func bytes(_ member: Text) throws -> [UInt8] {
        guard let text = self[member] else { throw ExportFault("\"\(member.name)\" is missing or no string") }
        guard let bytes = text.withUTF8({ Base64.decode($0) }) else {
            throw ExportFault("\"\(member.name)\" is no base64")
        }
        return bytes
    }

    /// A hash in base64 or hex.
    func hash(_ member: Text) throws -> Hash256 {
        guard let hash = Hash256(spelled: try text(member)) else {
            throw ExportFault("\"\(member.name)\" is no SHA-256 hash")
        }
        return hash
    }

    /// A time; `nil` if the member is absent.
    func time(_ member: Text) throws -> Timestamp? {
        guard contains(member) else { return nil }
        guard let time = Timestamp(rfc3339: try text(member)) else {
            throw ExportFault("\"\(member.name)\" is no time")
        }
        return time
    }

    /// Whether a member is `true`.
    func isTrue(_ member: Part) throws -> Bool {
        guard var reader = reader(of: member), try reader.kind() == .bool else { return false }
        return try reader.bool()
    }

    /// The elements of a list of hashes.
    func hashes(_ member: Part) throws -> [Hash256] {
        guard var reader = reader(of: member), try reader.kind() == .array else {
            throw ExportFault("\"\(member.name)\" is missing or no list")
        }
        var hashes: [Hash256] = []
        try reader.enterArray()
        while try reader.nextElement() {
            guard try reader.kind() == .string, let hash = Hash256(spelled: try reader.string().string) else {
                throw ExportFault("an element of \"\(member.name)\" is no SHA-256 hash")
            }
            hashes.append(hash)
        }
        return hashes
    }

    /// The elements of a list of whole numbers written as texts; none if it is absent or no list.
    func numbers(_ member: Part) throws -> [UInt64] {
        guard var reader = reader(of: member), try reader.kind() == .array else { return [] }
        var numbers: [UInt64] = []
        try reader.enterArray()
        while try reader.nextElement() {
            guard try reader.kind() == .string, let number = UInt64(try reader.string().string) else {
                throw ExportFault("\"\(member.name)\" has what is no number")
            }
            numbers.append(number)
        }
        return numbers
    }

    /// The members of an object that are bytes in base64; none if it is absent or no object.
    func values(_ member: Part) throws -> [String: [UInt8]] {
        guard var reader = reader(of: member), try reader.kind() == .object else { return [:] }
        var values: [String: [UInt8]] = [:]
        try reader.enterObject()
        while let name = try reader.nextMember() {
            guard try reader.kind() == .string, let bytes = try reader.string().withUTF8({ Base64.decode($0) }) else {
                throw ExportFault("\"\(member.name)\" has what is no base64")
            }
            values[name.string] = bytes
        }
        return values
    }

    /// The attributes of an event; none if the member is absent or no object.
    func attributes() throws -> Attributes {
        guard var reader = reader(of: .attributes), try reader.kind() == .object else { return .none }
        var pairs: [Attributes.Pair] = []
        try reader.enterObject()
        while let name = try reader.nextMember() {
            guard try reader.kind() == .string else { throw ExportFault("an attribute is no string") }
            pairs.append(Attributes.Pair(name: name.string, value: try reader.string().string))
        }
        return try Attributes(pairs)
    }
}
