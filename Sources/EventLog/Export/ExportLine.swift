import JSON

/// Why a text is none of those that an export or a proof consists of.
public struct ExportFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, in lower case. Names members, and of values only the first 40 characters of a foreign format's name.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// The members of one object of an export, a proof or a list of proved entries, not yet interpreted. Borrows its bytes.
///
/// Of several members with one name the last one counts. Unknown members are passed over.
struct ExportLine {
    /// The members that have a meaning. Those of an event come first, in the order in which they are written.
    enum Member: Int, CaseIterable {
        case sequence, recordedAt, source, kind, key, attributes, salt, redacted, commitment, payload, payloadBase64
        case format, what, identity, size, root, decidedAt, acts, facts, factPatches, bookmarks
        case from, to, leafHashes, rewrite, clock, clockAtNode, level, hash, droppedKeys
        case leafIndex, treeSize, leafHash, leaf, proof, event, act, first, second, firstRoot, secondRoot
        case events, entity, basis

        /// As it is written: the name of the case.
        var name: String { String(describing: self) }
    }

    /// A member's value; of a text, the bytes between the quotes.
    private struct Value {
        let kind: JSONReader.Kind
        let bytes: UnsafeRawBufferPointer
        var hasEscapes = false
    }

    private static let names = Member.allCases.map { ShortName(of: $0) }

    /// By `Member.rawValue`; `nil` for a member that is absent.
    private var values: [Value?]
    /// Whether the object has members that have no meaning.
    private(set) var hasOthers = false

    /// Reads one object.
    ///
    /// - Throws: `JSONError` if the bytes are not one JSON value. Any other value than an object has no members; what it
    ///   lacks is named when it is interpreted.
    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        values = [Value?](repeating: nil, count: Self.names.count)
        var reader = JSONReader(bytes)
        if try reader.kind() == .object { try readMembers(&reader) } else { try reader.skip() }
        try reader.finish()
    }

    private mutating func readMembers(_ reader: inout JSONReader) throws(JSONError) {
        try reader.enterObject()
        var expected = 0
        while let name = try reader.nextMember() {
            guard let place = Self.place(of: name, expected: expected) else {
                hasOthers = true
                try reader.skip()
                continue
            }
            let kind = try reader.kind()
            if kind == .string {
                let text = try reader.string()
                values[place] = Value(kind: kind, bytes: text.bytes, hasEscapes: text.hasEscapes)
            } else {
                values[place] = Value(kind: kind, bytes: try reader.slice())
            }
            expected = place + 1
        }
    }

    /// The place of a name. Members mostly come in the order in which they are written, so the search begins at the one
    /// that is expected.
    private static func place(of text: JSONText, expected: Int) -> Int? {
        guard let name = text.withUTF8({ ShortName($0) }) else { return nil }
        return names[expected...].firstIndex(of: name) ?? names[..<expected].firstIndex(of: name)
    }
}

/// A name of at most 16 bytes, compared in two words.
private struct ShortName: Equatable {
    private let count: Int
    private let low: UInt64
    private let high: UInt64

    /// `nil` for longer names, which no member has.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= 16 else { return nil }
        count = bytes.count
        low = bytes.partialWord(0)
        high = count > 8 ? bytes.partialWord(8) : 0
    }

    /// The name of a member; `nil` if it were too long, and then no text would be taken for it.
    init?(of member: ExportLine.Member) {
        var name = member.name
        guard let short = name.withUTF8({ ShortName(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = short
    }
}

// MARK: - Members

extension ExportLine {
    /// Whether a member is present, of whatever type.
    func contains(_ member: Member) -> Bool { values[member.rawValue] != nil }

    /// The type of a member's value; `nil` if it is absent.
    func kind(of member: Member) -> JSONReader.Kind? { values[member.rawValue]?.kind }

    /// A text; `nil` if the member is absent or no text.
    subscript(member: Member) -> JSONText? {
        guard let value = values[member.rawValue], value.kind == .string else { return nil }
        return JSONText(bytes: value.bytes, hasEscapes: value.hasEscapes)
    }

    /// The bytes of a member's value, of a text those between its quotes; `nil` if it is absent.
    func writtenBytes(of member: Member) -> UnsafeRawBufferPointer? { values[member.rawValue]?.bytes }

    /// The members of a member's value; `nil` if it is absent.
    func line(_ member: Member) throws(JSONError) -> ExportLine? {
        guard let value = values[member.rawValue] else { return nil }
        // A text's quotes are not among its bytes. Like any other value but an object, it has no members.
        return value.kind == .string ? ExportLine() : try ExportLine(value.bytes)
    }

    /// A reader before the value of a member; `nil` if it is absent or of another type.
    func reader(of member: Member, _ kind: JSONReader.Kind) -> JSONReader? {
        guard let value = values[member.rawValue], value.kind == kind else { return nil }
        return JSONReader(value.bytes)
    }

    private init() {
        values = [Value?](repeating: nil, count: Self.names.count)
    }
}

// MARK: - Values

extension ExportLine {
    /// A member that must be a text.
    func text(_ member: Member) throws -> String {
        guard let text = self[member] else { throw ExportFault("\"\(member.name)\" is missing or no string") }
        return text.string
    }

    /// A whole number written as a text: JSON's own numbers lose digits beyond 2^53 in many readers.
    func number(_ member: Member) throws -> UInt64 {
        guard let number = UInt64(try text(member)) else { throw ExportFault("\"\(member.name)\" is no number") }
        return number
    }

    /// A number that is not written as a text; `nil` for one that is absent, or is not whole.
    func plainNumber(_ member: Member) throws -> UInt64? {
        guard var reader = reader(of: member, .number) else { return nil }
        return try reader.number().uint64
    }

    /// Bytes in base64.
    func bytes(_ member: Member) throws -> [UInt8] {
        guard let text = self[member] else { throw ExportFault("\"\(member.name)\" is missing or no string") }
        guard let bytes = text.withUTF8({ Base64.decode($0) }) else {
            throw ExportFault("\"\(member.name)\" is no base64")
        }
        return bytes
    }

    /// A hash in base64 or hex.
    func hash(_ member: Member) throws -> Hash256 {
        guard let hash = Hash256(spelled: try text(member)) else {
            throw ExportFault("\"\(member.name)\" is no SHA-256 hash")
        }
        return hash
    }

    /// A time; `nil` if the member is absent.
    func time(_ member: Member) throws -> Timestamp? {
        guard contains(member) else { return nil }
        return try neededTime(member)
    }

    /// A time.
    func neededTime(_ member: Member) throws -> Timestamp {
        guard let text = self[member] else { throw ExportFault("\"\(member.name)\" is missing or no string") }
        guard let time = text.withUTF8({ Timestamp(rfc3339Bytes: $0) }) else {
            throw ExportFault("\"\(member.name)\" is no time")
        }
        return time
    }

    /// Whether a member is `true`.
    func isTrue(_ member: Member) throws -> Bool {
        guard var reader = reader(of: member, .bool) else { return false }
        return try reader.bool()
    }

    /// The elements of a list of hashes.
    func hashes(_ member: Member) throws -> [Hash256] {
        guard var reader = reader(of: member, .array) else {
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
    func numbers(_ member: Member) throws -> [UInt64] {
        guard var reader = reader(of: member, .array) else { return [] }
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
    func values(_ member: Member) throws -> [String: [UInt8]] {
        guard var reader = reader(of: member, .object) else { return [:] }
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
        guard var reader = reader(of: .attributes, .object) else { return .none }
        var pairs: [Attributes.Pair] = []
        try reader.enterObject()
        while let name = try reader.nextMember() {
            guard try reader.kind() == .string else { throw ExportFault("an attribute is no string") }
            pairs.append(Attributes.Pair(name: name.string, value: try reader.string().string))
        }
        return try Attributes(pairs)
    }
}
