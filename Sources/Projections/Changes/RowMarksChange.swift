/// The columns that a row lists in another way after a change.
struct RowMarksChange: Codable {
    /// Columns that are unknown now and were not before.
    private(set) var unknown: [String] = []
    /// Columns that are stale now and were not before.
    private(set) var stale: [String] = []
    /// Columns that are not unknown any more.
    private(set) var seen: [String] = []
    /// Columns that are not stale any more.
    private(set) var settled: [String] = []

    init() {}

    /// Cost: O(n log n) in the marks.
    init(from before: RowColumns.Marks, to after: RowColumns.Marks) {
        if before == after { return }
        (unknown, seen) = Self.differences(before.unknown, after.unknown)
        (stale, settled) = Self.differences(before.stale, after.stale)
    }

    var isEmpty: Bool { unknown.isEmpty && stale.isEmpty && seen.isEmpty && settled.isEmpty }

    /// What came and what went, by the names' UTF-8 bytes. A name may stand twice in a list.
    private static func differences(_ before: [String], _ after: [String]) -> (come: [String], gone: [String]) {
        let (old, new) = (Set(before.map { ExactText($0) }), Set(after.map { ExactText($0) }))
        return (sorted(new.subtracting(old)), sorted(old.subtracting(new)))
    }

    private static func sorted(_ names: Set<ExactText>) -> [String] {
        names.map(\.string).sorted { ExactText.precedes($0, $1) }
    }
}

extension RowColumns.Marks {
    /// Brings the lists to what they are after a change.
    mutating func take(_ change: RowMarksChange) {
        Self.remove(change.seen, from: &unknown)
        Self.remove(change.settled, from: &stale)
        Self.add(change.unknown, to: &unknown)
        Self.add(change.stale, to: &stale)
    }

    private static func add(_ names: [String], to list: inout [String]) {
        for name in names {
            let place = list.partitioningIndex { !ExactText.precedes($0, name) }
            if place == list.count || !ExactText.areSame(list[place], name) { list.insert(name, at: place) }
        }
    }

    private static func remove(_ names: [String], from list: inout [String]) {
        for name in names {
            let place = list.partitioningIndex { !ExactText.precedes($0, name) }
            if place < list.count, ExactText.areSame(list[place], name) { list.remove(at: place) }
        }
    }
}
