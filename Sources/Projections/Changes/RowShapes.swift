import JSON

/// Finds the shapes and the lists of columns of earlier changes: most changes of a table name the same columns.
///
/// A pure cache: equal texts give equal lists. Holds the last few lists of ordinary size, whatever comes.
struct RowShapes: Sendable {
    /// The most lists of each kind that are remembered. An app syncs a handful of tables.
    private static let countMax = 16

    private struct Columns {
        let text: [UInt8]
        let shape: RowShape
        /// The shape of the last record that came behind this list.
        var recordShape: RowShape?
    }

    /// The members of an object in the order of the text; a name may be repeated. Borrows the text.
    struct Members {
        private(set) var names: [JSONText] = []
        private(set) var values: [ValueText] = []

        mutating func append(_ name: JSONText, _ value: ValueText) {
            names.append(name)
            values.append(value)
        }

        /// Appends the value of a name that is known otherwise.
        mutating func append(_ value: ValueText) { values.append(value) }

        /// Whether no name is repeated, by the shape of these names: it has each name once.
        func areDistinct(in shape: RowShape) -> Bool { shape.names.count == names.count }

        mutating func removeAll() {
            names.removeAll(keepingCapacity: true)
            values.removeAll(keepingCapacity: true)
        }
    }

    /// Room for members, to be used again. `@unchecked Sendable` holds because it is empty: no pointer to a frame is in it.
    private struct Room: @unchecked Sendable {
        var members = Members()
    }

    private var shapes: [RowShape] = []
    private var columns: [Columns] = []
    /// The index in `columns` of the list that was read last, until a record is read.
    private var listed: Int?
    /// The shape that the next record is expected to have: that of the last one, or of the last one behind the same columns.
    private var expected: RowShape?
    /// The shape that the next change is expected to have: that of the last one.
    var expectedChange: RowShape?
    /// The most shapes that are tried for one record after the expected one. Columns that come and go need one or two; a hostile
    /// record must not need many.
    private static let otherCountMax = 2
    /// For the members of a change, and for those of a record, which is read meanwhile.
    private var (changeRoom, recordRoom) = (Room(), Room())

    init() {}

    /// Members without elements, with the room of those of the last change.
    mutating func takeRoom() -> Members { Self.take(&changeRoom) }

    /// Keeps the room of members that are done with.
    mutating func giveBack(_ members: inout Members) { Self.keep(&members, in: &changeRoom) }

    private static func take(_ room: inout Room) -> Members {
        var members = Members()
        swap(&members, &room.members)
        return members
    }

    /// Keeps the room of members that are done with, if it is of ordinary size; they have no elements afterwards.
    private static func keep(_ members: inout Members, in room: inout Room) {
        guard members.values.count <= RowShape.nameCountMax else { return }
        members.removeAll()
        swap(&members, &room.members)
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
        var members = Self.take(&recordRoom)
        defer { Self.keep(&members, in: &recordRoom) }
        let start = reader
        let record: RowRecord
        if let shape = try readExpected(&reader, &members) {
            record = RowRecord(shape, members.values)
        } else {
            reader = start
            members.removeAll()
            record = try readAny(&reader, &members)
        }
        expected = record.shape.isOrdinary ? record.shape : nil
        if let listed { columns[listed].recordShape = expected }
        listed = nil
        return record
    }

    /// Reads a record whose names are those of a known shape, compared instead of read; `nil` for any other, which must be read
    /// again.
    private func readExpected(_ reader: inout JSONReader, _ members: inout Members) throws(JSONError) -> RowShape? {
        guard var shape = listed.flatMap({ columns[$0].recordShape }) ?? expected else { return nil }
        var otherCount = 0
        try reader.enterObject()
        while passName(&shape, at: members.values.count, &reader, &otherCount) {
            if members.values.count == shape.names.count { return shape }
            members.append(try reader.valueText())
        }
        return nil
    }

    /// Passes the next name of an object that is read as one of a known shape, behind the last name the object's end.
    ///
    /// - Parameters:
    ///   - shape: becomes another one with the same names before, where the object goes on as that does.
    ///   - otherCount: how many other shapes were tried for this object.
    /// - Returns: false, without moving, if no shape fits.
    func passName(
        _ shape: inout RowShape,
        at place: Int,
        _ reader: inout JSONReader,
        _ otherCount: inout Int
    ) -> Bool {
        if shape.takes(place, &reader) { return true }
        guard otherCount < Self.otherCountMax else { return false }
        let known = shape
        let other = shapes.first { other in
            other !== known && other.hasNames(of: known, before: place) && other.takes(place, &reader)
        }
        guard let other else { return false }
        otherCount += 1
        shape = other
        return true
    }

    private mutating func readAny(_ reader: inout JSONReader, _ members: inout Members) throws(JSONError) -> RowRecord {
        try reader.enterObject()
        while let name = try reader.nextMember() { members.append(name, try reader.valueText()) }
        let shape = shape(of: members)
        if members.areDistinct(in: shape) { return RowRecord(shape, members.values) }
        let values = zip(members.names, members.values).map { name, value in
            JSONObject.Member(name: name.string, value: (try? JSONValue.parse(value.bytes)) ?? .null)
        }
        return RowRecord(JSONObject(members: values))
    }

    /// The shape of an object with these members in this order; a repeated name counts once.
    mutating func shape(of members: Members) -> RowShape {
        if let known = shapes.first(where: { $0.isNamed(by: members) }) { return known }
        let shape = RowShape(members.names.map(\.string))
        if shape.isOrdinary { Self.remember(shape, in: &shapes) }
        return shape
    }

    /// Reads the next value as a list of columns, an array of objects of which each has a `name`: the names; none for another
    /// value. Elements without a name are passed over. Lists must come at the same depth.
    ///
    /// - Throws: `JSONError`.
    mutating func columns(_ reader: inout JSONReader) throws(JSONError) -> RowShape {
        let isArray = try reader.kind() == .array
        let start = reader.mark
        listed = columns.indices.first { columns[$0].text.withUnsafeBytes { reader.take(known: $0) } }
        if let listed { return columns[listed].shape }
        try reader.skip()
        guard isArray else { return .empty }
        let list = reader.bytes(from: start)
        var listReader = JSONReader(list)
        let shape = RowShape(try listReader.columnNames())
        if list.count <= RowShape.byteCountMax {
            Self.remember(Columns(text: Array(list), shape: shape), in: &columns)
            listed = 0
        }
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
