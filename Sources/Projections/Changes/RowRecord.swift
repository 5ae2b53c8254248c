import JSON

/// The columns of a row in one change, in the order in which the remote wrote them, each name once.
///
/// Values stay texts until somebody asks for one. All lie in one piece of memory, so a record costs one allocation and
/// four bytes a column beside its values.
struct RowRecord: Sendable {
    /// The names; records of one table mostly share one list.
    let shape: RowShape
    /// Where each value ends, counted from the first one: four bytes a column, little-endian. Behind them the values in
    /// the order of the names, with nothing in between.
    private let bytes: [UInt8]

    private static let endByteCount = 4

    /// A record without columns.
    init() {
        shape = .empty
        bytes = []
    }

    init(_ object: JSONObject) {
        var (texts, ends): ([UInt8], [Int]) = ([], [])
        for member in object.members {
            member.value.append(to: &texts, members: .own)
            ends.append(texts.count)
        }
        self = texts.withUnsafeBytes { bytes in
            let values = zip([0] + ends, ends).map { UnsafeRawBufferPointer(rebasing: bytes[$0..<$1]) }
            return RowRecord(RowShape(object.members.map(\.name)), texts: values)
        }
    }

    /// - Parameters:
    ///   - shape: the names of the members; none is repeated.
    ///   - members: valid JSON values, together less than 16 MiB.
    init(_ shape: RowShape, _ members: RowShapes.Members) {
        self.init(shape, texts: members.elements.lazy.map(\.value))
    }

    /// - Parameter values: the texts of valid JSON values, one for each name, together less than 16 MiB.
    @inline(__always)
    private init(_ shape: RowShape, texts values: some Collection<UnsafeRawBufferPointer>) {
        assert(values.count == shape.names.count, "each name has a value")
        self.shape = shape
        let head = values.count * Self.endByteCount
        let count = values.reduce(head) { $0 + $1.count }
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let room = UnsafeMutableRawBufferPointer(buffer)
            var end = head
            for (place, value) in values.enumerated() {
                UnsafeMutableRawBufferPointer(rebasing: room[end..<end + value.count]).copyMemory(from: value)
                end += value.count
                let written = UInt32(truncatingIfNeeded: end - head).littleEndian
                room.storeBytes(of: written, toByteOffset: place * Self.endByteCount, as: UInt32.self)
            }
            initializedCount = end
        }
    }

    /// Whether the record has no column.
    var isEmpty: Bool { shape.names.isEmpty }

    /// The value of the name at a place of the shape.
    subscript(place: Int) -> StoredJSON { StoredJSON(bytes, range(at: place)) }

    /// Whether the values at a place of this record and of another are the same, as `StoredJSON.isSame` decides.
    @inline(__always)
    func isSame(at place: Int, as other: RowRecord, at otherPlace: Int) -> Bool {
        let areEqual = withText(at: place) { own in other.withText(at: otherPlace) { own.isSame($0) } }
        return areEqual || self[place].isSame(as: other[otherPlace])
    }

    /// Lends the text of the value at a place to a closure, only during the call.
    @inline(__always)
    func withText<Result>(at place: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let range = range(at: place)
        return try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    @inline(__always)
    private func range(at place: Int) -> Range<Int> {
        let head = shape.names.count * Self.endByteCount
        return bytes.withUnsafeBytes { bytes in
            func end(_ place: Int) -> Int {
                let word = bytes.loadUnaligned(fromByteOffset: place * Self.endByteCount, as: UInt32.self)
                return head + Int(UInt32(littleEndian: word))
            }
            return (place == 0 ? head : end(place - 1))..<end(place)
        }
    }

    /// The columns with their values, in the order of their names' UTF-8 bytes.
    var values: [(name: String, value: StoredJSON)] { shape.sorted.map { (shape.names[$0], self[$0]) } }

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool {
        // Of JSON's values only null begins with this letter.
        shape.deletedAt.map { withText(at: $0) { $0.first != UInt8(ascii: "n") } } ?? false
    }

    /// The handle of the row's id, as `Names.rowID` reads it; `nil` without one.
    func id(_ names: inout Names) -> EntityID? {
        shape.id.flatMap { withText(at: $0) { names.rowID($0) } }
    }

    /// The record as a value.
    var object: JSONObject {
        JSONObject(
            distinct: shape.names.indices.map { JSONObject.Member(name: shape.names[$0], value: self[$0].value) }
        )
    }

    /// Writes the record as an object.
    func write(to text: inout CanonicalText) {
        text.raw("{")
        shape.forEachHead { place, head in
            text.raw(head)
            withText(at: place) { text.value($0) }
        }
        text.raw("}")
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
