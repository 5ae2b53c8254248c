import JSON

/// The members of one object, found by name; values are made only of those that somebody reads. Borrows the text: valid
/// only as long as its bytes are.
///
/// Of a repeated name, the last value counts. Cost of making one: O(bytes) and one array; of each look-up: O(members).
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

    /// The members without those whose name comes again later. Cost: O(members).
    private static func distinct(_ members: [Member]) -> [Member] {
        guard members.count > smallCountMax else { return distinctOfFew(members) }
        var known: Set<ExactText> = []
        let distinct = members.reversed().filter { known.insert(ExactText($0.name.string)).inserted }
        return distinct.count == members.count ? members : distinct.reversed()
    }

    private static func distinctOfFew(_ members: [Member]) -> [Member] {
        func isRepeated(_ place: Int) -> Bool {
            let name = members[place].name
            return members[(place + 1)...].contains { other in
                // Without escapes, texts of different lengths differ; most names are told apart by that.
                let mayBeSame = name.bytes.count == other.name.bytes.count || name.hasEscapes || other.name.hasEscapes
                return mayBeSame && other.name.saysSame(as: name)
            }
        }
        guard members.indices.contains(where: isRepeated) else { return members }
        return members.indices.filter { !isRepeated($0) }.map { members[$0] }
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

    /// The text, if it is a string.
    var text: JSONText? {
        guard kind == .string else { return nil }
        var reader = JSONReader(bytes)
        return try? reader.string()
    }

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
    var number: JSONNumber? {
        guard kind == .number else { return nil }
        var reader = JSONReader(bytes)
        return (try? reader.number())?.number
    }
}
