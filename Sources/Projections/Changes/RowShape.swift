import JSON

/// The names of a record's columns, or of all columns that a change lists. Immutable, so that threads and records may
/// share it.
final class RowShape: Codable, Sendable {
    static let empty = RowShape([])

    /// The most names of an ordinary shape; PostgreSQL allows a table 1,600 columns.
    static let nameCountMax = 1600
    /// The most bytes of the names of an ordinary shape, or of the text of a list of columns; 100 columns take some 4 KiB.
    static let byteCountMax = 64 << 10

    /// In the remote's order; all differ.
    let names: [String]
    /// The places in `names`, sorted by the names' UTF-8 bytes.
    let sorted: [Int]
    /// The places of `id` and `deleted_at`, for which every record is asked; `nil` for one that is not among the names.
    let id: Int?
    let deletedAt: Int?
    /// Whether the names are no more and no longer than those of a table, so that caches may hold the shape.
    let isOrdinary: Bool
    /// The columns that have a meaning of their own, each with the bit of its place. Only of the first 64.
    private let meaningful: [(meaning: ColumnMeanings, places: UInt64)]
    /// What each name means in the `data` of a change.
    let changeMembers: [ChangeMember]
    /// `names` again, to be read without copies.
    private let texts: JoinedTexts
    /// The names as a canonical text has them: a comma, the name and a colon.
    private let heads: JoinedTexts
    /// The places in `names`, in canonical order.
    private let canonical: [Int]

    /// - Parameter names: may be repeated; only the first of equal ones counts.
    init(_ names: [String]) {
        let places = names.indices.sorted { ExactText.precedes(names[$0], names[$1]) }
        let isDistinct = zip(places, places.dropFirst()).allSatisfy { !ExactText.areSame(names[$0], names[$1]) }
        if isDistinct {
            (self.names, sorted) = (names, places)
        } else {
            var known: Set<ExactText> = []
            let distinct = names.filter { known.insert(ExactText($0)).inserted }
            self.names = distinct
            sorted = distinct.indices.sorted { ExactText.precedes(distinct[$0], distinct[$1]) }
        }
        id = self.names.firstIndex { ExactText.areSame($0, "id") }
        deletedAt = self.names.firstIndex { ExactText.areSame($0, "deleted_at") }
        texts = JoinedTexts(self.names)
        isOrdinary = self.names.count <= Self.nameCountMax && texts.byteCount <= Self.byteCountMax
        heads = JoinedTexts(self.names.map { "," + JSONValue.string($0).canonicalText + ":" })
        let names = self.names
        canonical = names.indices.sorted { CanonicalWriter.precedes(names[$0], names[$1]) }
        changeMembers = names.map { ChangeMember(of: $0) }
        meaningful = names.prefix(UInt64.bitWidth).enumerated().compactMap { place, name in
            let meaning = ColumnMeanings(of: name)
            return meaning == .others ? nil : (meaning, 1 << UInt64(place))
        }
    }

    required convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String].self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(names)
    }

    /// The place of a name in `names`; `nil` if it is not among them. Cost: O(log names).
    func place(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            let index = sorted.partitioningIndex { place in texts.withText(at: place) { $0.order(name) >= 0 } }
            guard index < sorted.count, texts.withText(at: sorted[index], { $0.isSame(name) }) else { return nil }
            return sorted[index]
        }
    }

    /// The places whose bits are set, in the order of the names' UTF-8 bytes. For a shape of at most 64 names.
    func places(in bits: UInt64) -> [Int] {
        sorted.filter { bits & 1 << UInt64($0) != 0 }
    }

    /// What the columns mean whose bits are set. For a shape of at most 64 names.
    func meanings(of bits: UInt64) -> ColumnMeanings {
        var (meanings, rest): (ColumnMeanings, UInt64) = ([], bits)
        for column in meaningful where bits & column.places != 0 {
            meanings.insert(column.meaning)
            rest &= ~column.places
        }
        return rest == 0 ? meanings : meanings.union(.others)
    }

    /// Whether `names` are those of an object, in the same order. False if one is written with escapes.
    func isNamed(by members: RowShapes.Members) -> Bool {
        guard members.names.count == names.count else { return false }
        return names.indices.allSatisfy { place in
            let name = members.names[place]
            return !name.hasEscapes && texts.withText(at: place) { $0.isSame(name.bytes) }
        }
    }

    /// Calls `body` for each name in canonical order, with its place in `names` and what the canonical text of an object has before
    /// its value: a comma, the name and a colon.
    @inline(__always)
    func forEachHead(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
        for place in canonical { heads.withText(at: place) { body(place, $0) } }
    }

    /// Whether another shape begins with the same names, so many of them. Cost: a comparison of bytes.
    func hasNames(of other: RowShape, before place: Int) -> Bool {
        names.count >= place && heads.hasTexts(of: other.heads, before: place)
    }

    /// Passes the name at a place in an object, behind the last place the object's end; false, without moving, if something else
    /// follows or the name is written in another way.
    @inline(__always)
    func takes(_ place: Int, _ reader: inout JSONReader) -> Bool {
        if place == names.count { return reader.takeObjectEnd() }
        return heads.withText(at: place) { reader.take(member: $0) }
    }

    /// For each name its place in another shape; -1 for a name that the other lacks. Cost: O(names of both).
    func places(in other: RowShape) -> [Int] {
        var places = Array(repeating: -1, count: names.count)
        var rest = other.sorted[...]
        for place in sorted {
            while let first = rest.first {
                let order = texts.withText(at: place) { name in other.texts.withText(at: first) { $0.order(name) } }
                if order > 0 { break }
                if order == 0 { places[place] = first }
                rest.removeFirst()
            }
        }
        return places
    }
}

extension CanonicalText {
    /// Writes an object with the names of a shape, and with other members whose names the shape lacks.
    ///
    /// - Parameters:
    ///   - omitted: the place of a name that is left out; `nil` for none.
    ///   - writeValue: writes the value at a place of the shape.
    @inline(__always)
    mutating func object(
        _ shape: RowShape,
        without omitted: Int? = nil,
        besides others: [(name: String, value: StoredJSON)] = [],
        _ writeValue: (Int, inout CanonicalText) -> Void
    ) {
        var rest = (others.count > 1 ? others.sorted { CanonicalWriter.precedes($0.name, $1.name) } : others)[...]
        object { text in
            shape.forEachHead { place, head in
                if place == omitted { return }
                while let next = rest.first, CanonicalWriter.precedes(next.name, shape.names[place]) {
                    text.member(next.name, next.value)
                    rest.removeFirst()
                }
                text.raw(head)
                writeValue(place, &text)
            }
            for next in rest { text.member(next.name, next.value) }
        }
    }
}

/// Texts one behind another.
private struct JoinedTexts: Sendable {
    private let bytes: [UInt8]
    /// Where each text ends in `bytes`.
    private let ends: [Int]

    init(_ texts: [String]) {
        var (bytes, ends): ([UInt8], [Int]) = ([], [])
        for text in texts {
            bytes.append(contentsOf: text.utf8)
            ends.append(bytes.count)
        }
        (self.bytes, self.ends) = (bytes, ends)
    }

    /// Whether other texts begin with the same ones, so many of them. No text may be the beginning of another.
    func hasTexts(of other: JoinedTexts, before place: Int) -> Bool {
        if place == 0 { return true }
        guard ends[place - 1] == other.ends[place - 1] else { return false }
        return bytes.withUnsafeBytes { own in
            other.bytes.withUnsafeBytes {
                UnsafeRawBufferPointer(rebasing: own[..<ends[place - 1]])
                    .isSame(UnsafeRawBufferPointer(rebasing: $0[..<ends[place - 1]]))
            }
        }
    }

    /// The bytes of all texts.
    var byteCount: Int { bytes.count }

    /// Lends the bytes of the text at a place.
    @inline(__always)
    func withText<Result>(at place: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            body(UnsafeRawBufferPointer(rebasing: bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]]))
        }
    }
}
