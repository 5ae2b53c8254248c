import Projections

/// Words for a version that came late.
enum LateText {
    /// `late: version 2 of 3` for an entry of a late version; none for others.
    static func notes(on entry: HistoryEntry) -> [String] {
        entry.late.map { ["late: version \($0.number) of \($0.count)"] } ?? []
    }
}
