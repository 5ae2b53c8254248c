import JSON

/// The columns of a row in one change, in the order in which the remote wrote them, each name once.
///
/// Values stay texts until somebody asks for one.
struct RowRecord: Sendable {
    /// The names; records of one table mostly share one list.
    let shape: RowShape
    /// In the order of the names.
    private let texts: ValueTexts

    /// A record without columns.
    init() {
        shape = .empty
        texts = ValueTexts()
    }

    init(_ object: JSONObject) {
        var (texts, ends): ([UInt8], [Int]) = ([], [])
        for member in object.members {
            member.value.append(to: &texts, members: .own)
            ends.append(texts.count)
        }
        self = texts.withUnsafeBytes { bytes in
            let values = zip([0] + ends, ends).map { start, end in
                ValueText(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), isCanonical: false)
            }
            return RowRecord(RowShape(object.members.map(\.name)), values)
        }
    }

    /// - Parameters:
    ///   - shape: the names of the members; none is repeated.
    ///   - values: valid JSON values, one for each name, together less than 16 MiB.
    @inline(__always)
    init(_ shape: RowShape, _ values: some Collection<ValueText>) {
        assert(values.count == shape.names.count, "each name has a value")
        self.shape = shape
        texts = ValueTexts(values)
    }

    /// Whether the record has no column.
    var isEmpty: Bool { shape.names.isEmpty }

    /// The bytes of all values, about. Names do not count, which the records of a table share.
    var byteCount: Int { texts.byteCount }

    /// The value of the name at a place of the shape.
    subscript(place: Int) -> StoredJSON { texts.stored(at: place, of: shape.names.count) }

    /// Lends the values to a closure, only during the call.
    @inline(__always)
    func withValues<Result>(_ body: (ValueTexts.Lent) throws -> Result) rethrows -> Result {
        try texts.withValues(shape.names.count, body)
    }

    /// The columns with their values, in the order of their names' UTF-8 bytes.
    var values: [(name: String, value: StoredJSON)] { shape.sorted.map { (shape.names[$0], self[$0]) } }

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool {
        // Of JSON's values only null begins with this letter.
        shape.deletedAt.map { place in withValues { $0[place].bytes.first != UInt8(ascii: "n") } } ?? false
    }

    /// The handle of the row's id, as `Names.rowID` reads it; `nil` without one.
    func id(_ names: inout Names) -> EntityID? {
        shape.id.flatMap { place in withValues { names.rowID($0[place]) } }
    }

    /// The record as a value.
    var object: JSONObject {
        JSONObject(
            distinct: shape.names.indices.map { JSONObject.Member(name: shape.names[$0], value: self[$0].value) }
        )
    }

    /// Calls `body` with each place, in the order of the names' UTF-8 bytes, at which another record has another value, as
    /// `StoredJSON.isSame` decides, or none; the flag says that it has one.
    ///
    /// - Parameter relation: of this record's shape to that of the other; `nil` if both have one shape.
    @inline(__always)
    func forEachDifference(from other: RowRecord, _ relation: ShapeRelation?, _ body: (Int, Bool) -> Void) {
        withValues { own in
            other.withValues { known in
                for place in shape.sorted {
                    let otherPlace = relation.map { $0.places[place] } ?? place
                    let isKnown = otherPlace >= 0
                    if isKnown, own[place].isSame(as: known[otherPlace]) { continue }
                    body(place, isKnown)
                }
            }
        }
    }

    /// Writes the record as an object, with other members that it lacks.
    func write(to text: inout CanonicalText, besides others: [(name: String, value: StoredJSON)] = []) {
        withValues { values in text.object(shape, besides: others) { place, text in text.value(values[place]) } }
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
        shape.place(of: name).map { self[$0] }
    }
}

extension RowRecord: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let object = try container.decode(StoredJSON.self)
        var shapes = RowShapes()
        let record = object.withBytes { try? shapes.record($0) }
        guard let record else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a record is no object")
        }
        self = record
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(StoredJSON(.object(object)))
    }
}
