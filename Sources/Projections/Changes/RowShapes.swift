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

    private var shapes: [RowShape] = []
    private var columns: [Columns] = []

    init() {}

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
        var (names, values): ([JSONText], [UnsafeRawBufferPointer]) = ([], [])
        names.reserveCapacity(Self.expectedCount)
        values.reserveCapacity(Self.expectedCount)
        try reader.enterObject()
        while let name = try reader.nextMember() {
            _ = try reader.kind()
            names.append(name)
            values.append(try reader.slice())
        }
        let shape = shape(of: names)
        if shape.names.count == names.count { return RowRecord(shape, texts: values) }
        // A shape has each name once: fewer names than values mean that one was repeated.
        let members = zip(names, values).map { name, value in
            JSONObject.Member(name: name.string, value: (try? JSONValue.parse(value)) ?? .null)
        }
        return RowRecord(JSONObject(members: members))
    }

    /// The shape of a record with these names in this order; a repeated name counts once.
    mutating func shape(of names: [JSONText]) -> RowShape {
        if let known = shapes.first(where: { Self.areSame($0.names, names) }) { return known }
        let shape = RowShape(names.map(\.string))
        let byteCount = names.reduce(0) { $0 + $1.bytes.count }
        if names.count <= Self.nameCountMax, byteCount <= Self.byteCountMax { Self.remember(shape, in: &shapes) }
        return shape
    }

    /// Reads the next value as a list of columns, an array of objects of which each has a `name`: the names and the list's bytes;
    /// no names and `nil` for another value. Elements without a name are passed over. Lists must come at the same depth.
    ///
    /// - Throws: `JSONError`.
    mutating func columns(_ reader: inout JSONReader) throws(JSONError) -> (RowShape, UnsafeRawBufferPointer?) {
        let isArray = try reader.kind() == .array
        let start = reader
        let known = columns.first { $0.text.withUnsafeBytes { reader.take(known: $0) } }
        if let known { return (known.shape, reader.bytes(from: start)) }
        try reader.skip()
        guard isArray else { return (.empty, nil) }
        let list = reader.bytes(from: start)
        var listReader = JSONReader(list)
        let shape = RowShape(try listReader.columnNames())
        if list.count <= Self.byteCountMax { Self.remember(Columns(text: Array(list), shape: shape), in: &columns) }
        return (shape, list)
    }

    /// Adds an element at the front, where the next search begins, and drops the oldest one if there are too many.
    private static func remember<Element>(_ element: Element, in elements: inout [Element]) {
        if elements.count >= countMax { elements.removeLast() }
        elements.insert(element, at: 0)
    }

    private static func areSame(_ names: [String], _ texts: [JSONText]) -> Bool {
        names.count == texts.count
            && zip(names, texts).allSatisfy { name, text in
                !text.hasEscapes && name.hasBytes(text.bytes.assumingMemoryBound(to: UInt8.self))
            }
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
