/// The names of a record's columns, or of all columns that a change lists. Immutable, so that threads and records may
/// share it.
final class RowShape: Codable, Sendable {
    static let empty = RowShape([])

    /// In the remote's order; all differ.
    let names: [String]
    /// The places in `names`, sorted by the names' UTF-8 bytes.
    let sorted: [Int]
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
        let index = sorted.partitioningIndex { !ExactText.precedes(names[$0], name) }
        guard index < sorted.count, ExactText.areSame(names[sorted[index]], name) else { return nil }
        return sorted[index]
    }

    /// Calls `body` for each name in canonical order, with its place in `names` and what the canonical text of an object has before
    /// its value.
    @inline(__always)
    func forEachHead(_ body: (Int, UnsafeRawBufferPointer) -> Void) { heads.forEach(body) }

    /// The names that another shape lacks, in the order of their UTF-8 bytes. Cost: O(names of both).
    func names(besides other: RowShape) -> [String] {
        if self === other { return [] }
        var rest = other.sorted[...]
        return sorted.compactMap { place in
            let name = names[place]
            while let first = rest.first {
                let order = ExactText.order(other.names[first], name)
                if order > 0 { break }
                rest.removeFirst()
                if order == 0 { return nil }
            }
            return name
        }
    }
}

/// The names of an object's members as its canonical text has them, made once for all objects with these names.
private struct CanonicalHeads: Sendable {
    /// Before each value a comma, but for the first, the name and a colon; one behind another.
    private let text: [UInt8]
    /// Where each head ends in `text`, and the place of its name.
    private let heads: [(end: Int, place: Int)]

    /// - Parameter names: all differ.
    init(_ names: [String]) {
        var writer = CanonicalWriter(byteCount: 256)
        var heads: [(end: Int, place: Int)] = []
        for place in names.indices.sorted(by: { CanonicalWriter.precedes(names[$0], names[$1]) }) {
            if !heads.isEmpty { writer.raw(",") }
            writer.string(names[place])
            writer.raw(":")
            heads.append((writer.byteCount, place))
        }
        text = writer.withBytes { Array($0) }
        self.heads = heads
    }

    @inline(__always)
    func forEach(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
        text.withUnsafeBytes { text in
            var start = 0
            for head in heads {
                body(head.place, UnsafeRawBufferPointer(rebasing: text[start..<head.end]))
                start = head.end
            }
        }
    }
}
