/// The columns that a row lists in another way after a change.
struct RowMarksChange: Codable {
    /// The four lists below; none if all are empty. One array, because each entry of a history has room for it.
    private var lists: [[String]] = []

    /// Columns that are unknown now and were not before.
    var unknown: [String] { list(0) }
    /// Columns that are stale now and were not before.
    var stale: [String] { list(1) }
    /// Columns that are not unknown any more.
    var seen: [String] { list(2) }
    /// Columns that are not stale any more.
    var settled: [String] { list(3) }

    init() {}

    /// Cost: O(n log n) in the marks.
    init(from before: RowColumns.Marks, to after: RowColumns.Marks) {
        if before == after { return }
        let (unknown, seen) = Self.differences(before.unknown, after.unknown)
        let (stale, settled) = Self.differences(before.stale, after.stale)
        let lists = [unknown, stale, seen, settled]
        if !lists.allSatisfy(\.isEmpty) { self.lists = lists }
    }

    var isEmpty: Bool { lists.isEmpty }

    private func list(_ place: Int) -> [String] { place < lists.count ? lists[place] : [] }

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
