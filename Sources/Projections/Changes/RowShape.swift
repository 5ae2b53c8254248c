/// The names of a record's columns, or of all columns that a change lists. Immutable, so that threads and records may
/// share it.
final class RowShape: Codable, Sendable {
    static let empty = RowShape([])

    /// In the remote's order; all differ.
    let names: [String]
    /// The places in `names`, sorted by the names' UTF-8 bytes.
    let sorted: [Int]

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
}
