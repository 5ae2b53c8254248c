import JSON

/// The names of a record's columns, or of all columns that a change lists. Immutable, so that threads and records may
/// share it.
final class RowShape: Codable, Sendable {
    static let empty = RowShape([])

    /// In the remote's order; all differ.
    let names: [String]
    /// The places in `names`, sorted by the names' UTF-8 bytes.
    let sorted: [Int]
    /// The places of `id` and `deleted_at`, for which every record is asked; `nil` for one that is not among the names.
    let id: Int?
    let deletedAt: Int?
    /// `names` again, to be read without copies.
    private let texts: JoinedTexts
    /// The names as the canonical text of a record has them.
    private let heads: CanonicalHeads

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
        heads = CanonicalHeads(self.names)
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

    /// Whether `names` are those of an object, in the same order. False if one is written with escapes.
    func isNamed(by members: RowShapes.Members) -> Bool {
        guard members.elements.count == names.count else { return false }
        return names.indices.allSatisfy { place in
            let name = members.elements[place].name
            return !name.hasEscapes && texts.withText(at: place) { $0.isSame(name.bytes) }
        }
    }

    /// Calls `body` for each name in canonical order, with its place in `names` and what the canonical text of an object has before
    /// its value.
    @inline(__always)
    func forEachHead(_ body: (Int, UnsafeRawBufferPointer) -> Void) { heads.forEach(body) }

    /// The names that another shape lacks, in the order of their UTF-8 bytes. Cost: O(names of both).
    func names(besides other: RowShape) -> [String] { places(besides: other).map { names[$0] } }

    /// The places of the names that another shape lacks, in the order of their UTF-8 bytes. Cost: O(names of both).
    func places(besides other: RowShape) -> [Int] {
        if self === other { return [] }
        var rest = other.sorted[...]
        return sorted.filter { place in
            texts.withText(at: place) { name in
                while let first = rest.first {
                    let order = other.texts.withText(at: first) { $0.order(name) }
                    if order > 0 { break }
                    rest.removeFirst()
                    if order == 0 { return false }
                }
                return true
            }
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

    /// Lends the bytes of the text at a place.
    @inline(__always)
    func withText<Result>(at place: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            body(UnsafeRawBufferPointer(rebasing: bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]]))
        }
    }
}

/// The names of an object's members as its canonical text has them, made once for all objects with these names.
private struct CanonicalHeads: Sendable {
    /// Before each value a comma, but for the first, the name and a colon; in canonical order.
    private let texts: JoinedTexts
    /// The places of their names.
    private let places: [Int]

    /// - Parameter names: all differ.
    init(_ names: [String]) {
        places = names.indices.sorted { CanonicalWriter.precedes(names[$0], names[$1]) }
        texts = JoinedTexts(
            places.enumerated().map { index, place in
                (index > 0 ? "," : "") + JSONValue.string(names[place]).canonicalText + ":"
            }
        )
    }

    @inline(__always)
    func forEach(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
        for (index, place) in places.enumerated() { texts.withText(at: index) { body(place, $0) } }
    }
}
