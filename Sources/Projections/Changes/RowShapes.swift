import JSON

/// Finds the shapes and the lists of columns of earlier changes: most changes of a table name the same columns.
///
/// A pure cache: equal texts give equal lists. Holds the last few lists of ordinary size, whatever comes.
struct RowShapes: Sendable {
    /// The most lists of each kind that are remembered. An app syncs a handful of tables.
    private static let countMax = 16
    /// The most bytes of names, or of the text of a list of columns, that are remembered; 100 columns take some 4 KiB.
    private static let byteCountMax = 64 << 10
    /// The most names of a shape that is remembered; PostgreSQL allows a table 1,600 columns.
    private static let nameCountMax = 1600

    /// The room that is reserved for the members of a record; it grows for more.
    private static let expectedCount = 16

    private struct Columns {
        let text: [UInt8]
        let shape: RowShape
    }

    /// The members of an object in the order of the text; a name may be repeated. Borrows the text.
    struct Members {
        private(set) var elements: [(name: JSONText, value: UnsafeRawBufferPointer)] = []

        fileprivate init(capacity: Int) {
            elements.reserveCapacity(capacity)
        }

        /// - Parameter value: without white space around it.
        mutating func append(_ name: JSONText, _ value: UnsafeRawBufferPointer) {
            elements.append((name, value))
        }

        /// Whether no name is repeated, by the shape of these names: it has each name once.
        func areDistinct(in shape: RowShape) -> Bool { shape.names.count == elements.count }

        /// Writes the object; no name may be repeated.
        ///
        /// - Parameters:
        ///   - shape: of these names.
        ///   - writeValue: writes the value of a name that the caller has in a form that is written faster; false for others.
        func write(
            _ shape: RowShape,
            to text: inout CanonicalText,
            _ writeValue: (JSONText, inout CanonicalText) -> Bool
        ) {
            text.raw("{")
            shape.forEachHead { place, head in
                text.raw(head)
                let (name, value) = elements[place]
                if !writeValue(name, &text) { text.value(value) }
            }
            text.raw("}")
        }

        fileprivate mutating func removeAll() { elements.removeAll(keepingCapacity: true) }
    }

    /// Room for members, to be used again. `@unchecked Sendable` holds because it is empty: no pointer to a frame is in it.
    private struct Room: @unchecked Sendable {
        var members: Members
    }

    private var shapes: [RowShape] = []
    private var columns: [Columns] = []
    private var rooms: [Room] = []
    /// A record is read while a change is.
    private static let roomCountMax = 2

    init() {}

    /// Members without elements, with room that was used before where there is one.
    mutating func takeRoom() -> Members { rooms.popLast()?.members ?? Members(capacity: Self.expectedCount) }

    /// Keeps the room of members that are done with, if it is of ordinary size; they have no elements afterwards.
    mutating func giveBack(_ members: inout Members) {
        guard rooms.count < Self.roomCountMax, members.elements.count <= Self.nameCountMax else { return }
        members.removeAll()
        rooms.append(Room(members: members))
        members = Members(capacity: 0)
    }

    /// Reads one JSON text as a record.
    ///
    /// - Throws: `JSONError` for bytes that are no object.
    mutating func record(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> RowRecord {
        var reader = JSONReader(bytes)
        let record = try record(&reader)
        try reader.finish()
        return record
    }

    /// Reads the next value, an object, as a record; of a repeated name, the first place and the last value count.
    ///
    /// - Throws: `JSONError` for another value.
    mutating func record(_ reader: inout JSONReader) throws(JSONError) -> RowRecord {
        var members = takeRoom()
        try reader.enterObject()
        while let name = try reader.nextMember() {
            _ = try reader.kind()
            members.append(name, try reader.slice())
        }
        let shape = shape(of: members)
        defer { giveBack(&members) }
        if members.areDistinct(in: shape) { return RowRecord(shape, members) }
        let values = members.elements.map { name, value in
            JSONObject.Member(name: name.string, value: (try? JSONValue.parse(value)) ?? .null)
        }
        return RowRecord(JSONObject(members: values))
    }

    /// The shape of an object with these members in this order; a repeated name counts once.
    mutating func shape(of members: Members) -> RowShape {
        if let known = shapes.first(where: { $0.isNamed(by: members) }) { return known }
        let shape = RowShape(members.elements.map(\.name.string))
        let byteCount = members.elements.reduce(0) { $0 + $1.name.bytes.count }
        let isOrdinary = members.elements.count <= Self.nameCountMax && byteCount <= Self.byteCountMax
        if isOrdinary { Self.remember(shape, in: &shapes) }
        return shape
    }

    /// Reads the next value as a list of columns, an array of objects of which each has a `name`: the names; none for another
    /// value. Elements without a name are passed over. Lists must come at the same depth.
    ///
    /// - Throws: `JSONError`.
    mutating func columns(_ reader: inout JSONReader) throws(JSONError) -> RowShape {
        let isArray = try reader.kind() == .array
        let start = reader.mark
        let known = columns.first { $0.text.withUnsafeBytes { reader.take(known: $0) } }
        if let known { return known.shape }
        try reader.skip()
        guard isArray else { return .empty }
        let list = reader.bytes(from: start)
        var listReader = JSONReader(list)
        let shape = RowShape(try listReader.columnNames())
        if list.count <= Self.byteCountMax { Self.remember(Columns(text: Array(list), shape: shape), in: &columns) }
        return shape
    }

    /// Adds an element at the front, where the next search begins, and drops the oldest one if there are too many.
    private static func remember<Element>(_ element: Element, in elements: inout [Element]) {
        if elements.count >= countMax { elements.removeLast() }
        elements.insert(element, at: 0)
    }
}

extension JSONReader {
    /// The names in an array of objects; elements without a name are passed over.
    fileprivate mutating func columnNames() throws(JSONError) -> [String] {
        var names: [String] = []
        try enterArray()
        while try nextElement() {
            guard try kind() == .object else { try skip(); continue }
            var name: JSONText?
            try enterObject()
            while let member = try nextMember() {
                let isName = member == "name"
                if isName, try kind() == .string {
                    name = try string()
                } else {
                    if isName { name = nil }
                    try skip()
                }
            }
            if let name { names.append(name.string) }
        }
        return names
    }
}
