import JSON

/// The members of one object, found by name; values are made only of those that somebody reads. Borrows the text: valid
/// only as long as its bytes are.
///
/// A repeated name keeps its first place and its last value, as in `JSONObject`. Cost of making one: O(bytes) and one array; of
/// each look-up: O(members).
struct ObjectView {
    private struct Member {
        let name: JSONText
        let value: ValueView
    }

    /// The most members of a small object, in which comparing each name with each is fast.
    private static let smallCountMax = 16

    /// In the order of the text, each name once.
    private let members: [Member]

    /// An object without members.
    static var empty: ObjectView { ObjectView(members: []) }

    private init(members: [Member]) {
        self.members = members
    }

    /// Reads one JSON text; `nil` if it is no object.
    ///
    /// - Throws: `JSONError` for bytes that are not one JSON text.
    init?(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(bytes)
        guard try reader.kind() == .object else {
            try reader.skip()
            try reader.finish()
            return nil
        }
        try self.init(&reader)
        try reader.finish()
    }

    /// Reads the next value.
    ///
    /// - Throws: `JSONError` for another value than an object.
    init(_ reader: inout JSONReader) throws(JSONError) {
        var members: [Member] = []
        members.reserveCapacity(8)
        try reader.enterObject()
        while let name = try reader.nextMember() {
            let kind = try reader.kind()
            members.append(Member(name: name, value: ValueView(kind: kind, bytes: try reader.slice())))
        }
        self.members = Self.distinct(members)
    }

    /// The members, each name once. Cost: O(members).
    private static func distinct(_ members: [Member]) -> [Member] {
        if members.count <= smallCountMax, !hasRepeatedName(members) { return members }
        var (distinct, places): ([Member], [ExactText: Int]) = ([], [:])
        places.reserveCapacity(members.count)
        for member in members {
            let name = ExactText(member.name.string)
            if let place = places[name] {
                distinct[place] = Member(name: distinct[place].name, value: member.value)
            } else {
                places[name] = distinct.count
                distinct.append(member)
            }
        }
        return distinct
    }

    /// O(n²): only for a small object.
    private static func hasRepeatedName(_ members: [Member]) -> Bool {
        members.indices.contains { place in
            let name = members[place].name
            return members[(place + 1)...].contains { other in
                // Without escapes, texts of different lengths differ; most names are told apart by that.
                let mayBeSame = name.bytes.count == other.name.bytes.count || name.hasEscapes || other.name.hasEscapes
                return mayBeSame && other.name.saysSame(as: name)
            }
        }
    }

    /// Whether looking a name up among the members is fast.
    var isSmall: Bool { members.count <= Self.smallCountMax }

    /// The number of members.
    var count: Int { members.count }

    /// Calls `body` with the name and the value of each member, in the order of the text.
    func forEach(_ body: (JSONText, ValueView) -> Void) {
        for member in members { body(member.name, member.value) }
    }

    /// Whether a condition holds for all members: their places, names and values, in the order of the text.
    func allSatisfy(_ condition: (Int, JSONText, ValueView) -> Bool) -> Bool {
        members.indices.allSatisfy { condition($0, members[$0].name, members[$0].value) }
    }

    /// The value of a member, which is looked for at `place` first: objects that are compared mostly have their members in
    /// the same order.
    func value(of name: JSONText, at place: Int) -> ValueView? {
        if place < members.count, members[place].name.saysSame(as: name) { return members[place].value }
        return members.first { $0.name.saysSame(as: name) }?.value
    }

    /// The value of a member; `nil` if the object lacks it.
    subscript(name: StaticString) -> ValueView? {
        members.first { $0.name == name }?.value
    }
}

/// One value within a text that has been checked. Borrows the text.
struct ValueView {
    let kind: JSONReader.Kind
    /// Without white space around the value.
    let bytes: UnsafeRawBufferPointer

    init(kind: JSONReader.Kind, bytes: UnsafeRawBufferPointer) {
        (self.kind, self.bytes) = (kind, bytes)
    }

    /// Reads one JSON text.
    ///
    /// - Throws: `JSONError` for bytes that are not one JSON text.
    init(_ text: UnsafeRawBufferPointer) throws(JSONError) {
        var reader = JSONReader(text)
        kind = try reader.kind()
        bytes = try reader.slice()
        try reader.finish()
    }

    /// The text, if it is a string.
    var text: JSONText? {
        guard kind == .string else { return nil }
        var reader = JSONReader(bytes)
        return try? reader.string()
    }

    /// The truth value, if it is one.
    var bool: Bool? { kind == .bool ? bytes.first == UInt8(ascii: "t") : nil }

    /// The members, if it is an object.
    var members: ObjectView? {
        guard kind == .object else { return nil }
        return try? ObjectView(bytes)
    }

    /// The elements, if it is an array.
    var elements: [ValueView]? {
        guard kind == .array else { return nil }
        var elements: [ValueView] = []
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try reader.enterArray()
            while try reader.nextElement() {
                let kind = try reader.kind()
                elements.append(ValueView(kind: kind, bytes: try reader.slice()))
            }
        } catch {
            return nil
        }
        return elements
    }

    /// The value, whatever it is.
    var value: JSONValue { (try? JSONValue.parse(bytes)) ?? .null }

    /// The text, if it is a string.
    var string: String? { text?.string }

    /// The number, if it is one.
    var number: JSONNumber? { digits?.number }

    /// The number as written, if it is one.
    var digits: JSONDigits? {
        guard kind == .number else { return nil }
        var reader = JSONReader(bytes)
        return try? reader.number()
    }
}
