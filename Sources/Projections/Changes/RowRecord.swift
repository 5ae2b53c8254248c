import JSON

/// The columns of a row in one change, in the order in which the remote wrote them, each name once.
///
/// Values stay texts until somebody asks for one, so a change costs one copy of the record's text and one reference a
/// column. All values share that copy.
struct RowRecord: Sendable {
    /// The names; records of one table mostly share one list.
    private(set) var shape: RowShape
    /// The values, in the order of the names.
    private(set) var values: [StoredJSON]

    /// A record without columns.
    init() {
        shape = .empty
        values = []
    }

    init(_ object: JSONObject) {
        shape = RowShape(object.members.map(\.name))
        values = object.members.map { StoredJSON($0.value) }
    }

    /// Reads an object; of a repeated name, the first place and the last value count.
    ///
    /// - Parameters:
    ///   - bytes: the text of one object, less than 16 MiB.
    ///   - shapes: finds the list of names that an earlier record had.
    /// - Throws: `JSONError` for bytes that are no object.
    init(_ bytes: UnsafeRawBufferPointer, _ shapes: inout RowShapes) throws(JSONError) {
        let text = Array(bytes)
        var (names, values): ([JSONText], [StoredJSON]) = ([], [])
        var reader = JSONReader(bytes)
        try reader.enterObject()
        while let name = try reader.nextMember() {
            names.append(name)
            values.append(StoredJSON(text, try reader.range()))
        }
        shape = shapes.shape(of: names)
        self.values = values
        // A shape has each name once: fewer names than values mean that one was repeated.
        if shape.names.count != names.count { self = RowRecord(JSONObject(members: members(of: names, values))) }
    }

    /// The names, in the remote's order.
    var names: [String] { shape.names }

    /// The record as a value.
    var object: JSONObject {
        JSONObject(distinct: zip(names, values).map { JSONObject.Member(name: $0, value: $1.value) })
    }

    /// The value of a column. Setting `nil` removes the column; setting a new name adds one at the end.
    subscript(name: String) -> JSONValue? {
        get { self.text(of: name)?.value }
        set {
            var object = object
            object[name] = newValue
            self = RowRecord(object)
        }
    }

    /// The value of a column as a text; `nil` if the record lacks the column.
    func text(of name: String) -> StoredJSON? {
        shape.place(of: name).map { values[$0] }
    }
}

/// The members of an object of which a name is repeated.
private func members(of names: [JSONText], _ values: [StoredJSON]) -> [JSONObject.Member] {
    zip(names, values).map { JSONObject.Member(name: $0.string, value: $1.value) }
}

extension RowRecord: Codable {
    init(from decoder: any Decoder) throws {
        self.init(try JSONObject(from: decoder))
    }

    func encode(to encoder: any Encoder) throws {
        try object.encode(to: encoder)
    }
}
