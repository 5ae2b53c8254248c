import JSON

/// The columns of a row in one change, in the order in which the remote wrote them, each name once.
///
/// Values stay texts until somebody asks for one. All lie in one piece of memory, so a record costs one allocation and
/// four bytes a column beside its values.
struct RowRecord: Sendable {
    /// The names; records of one table mostly share one list.
    let shape: RowShape
    /// A word for each column, little-endian: where its value ends, counted from the first one, and whether it is known to be
    /// canonical (`ValueText`). Behind them the values in the order of the names, with nothing in between.
    private let bytes: [UInt8]

    private static let wordByteCount = 4
    /// In a column's word, the bit of a canonical value. The lower ones say where the value ends.
    private static let canonicalBit: UInt32 = 1 << 31

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
        let head = values.count * Self.wordByteCount
        let count = values.reduce(head) { $0 + $1.bytes.count }
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let room = UnsafeMutableRawBufferPointer(buffer)
            var end = head
            for (place, value) in values.enumerated() {
                UnsafeMutableRawBufferPointer(rebasing: room[end..<end + value.bytes.count]).copyMemory(from: value.bytes)
                end += value.bytes.count
                let word = UInt32(truncatingIfNeeded: end - head) | (value.isCanonical ? Self.canonicalBit : 0)
                room.storeBytes(of: word.littleEndian, toByteOffset: place * Self.wordByteCount, as: UInt32.self)
            }
            initializedCount = end
        }
    }

    /// Whether the record has no column.
    var isEmpty: Bool { shape.names.isEmpty }

    /// The value of the name at a place of the shape.
    subscript(place: Int) -> StoredJSON { withValues { StoredJSON(bytes, $0.range(at: place)) } }

    /// The values of a record, by the places of its shape. Borrows the record.
    struct Values {
        private let bytes: UnsafeRawBufferPointer
        /// Where the values begin.
        private let head: Int

        @inline(__always)
        fileprivate init(_ bytes: UnsafeRawBufferPointer, count: Int) {
            self.bytes = bytes
            head = count * RowRecord.wordByteCount
        }

        @inline(__always)
        subscript(place: Int) -> ValueText {
            ValueText(
                bytes: UnsafeRawBufferPointer(rebasing: bytes[range(at: place)]),
                isCanonical: word(place) & RowRecord.canonicalBit != 0
            )
        }

        /// Where the value at a place lies in the record's bytes.
        @inline(__always)
        fileprivate func range(at place: Int) -> Range<Int> { (place == 0 ? head : end(place - 1))..<end(place) }

        @inline(__always)
        private func end(_ place: Int) -> Int { head + Int(word(place) & ~RowRecord.canonicalBit) }

        @inline(__always)
        private func word(_ place: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place * RowRecord.wordByteCount, as: UInt32.self))
        }
    }

    /// Lends the values to a closure, only during the call.
    @inline(__always)
    func withValues<Result>(_ body: (Values) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body(Values($0, count: shape.names.count)) }
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
        shape.id.flatMap { place in withValues { names.rowID($0[place].bytes) } }
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
