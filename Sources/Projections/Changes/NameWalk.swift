/// Finds names that come in ascending order: the next name is mostly that of the next column.
struct NameWalk {
    private var next = 0

    mutating func place(of name: String, in columns: [RowColumns.Column]) -> Int? {
        RowColumns.look(at: 1)
        if next >= columns.count || !ExactText.areSame(columns[next].name, name) {
            next = columns[next...].partitioningIndex { column in
                RowColumns.look(at: 1)
                return !ExactText.precedes(column.name, name)
            }
            guard next < columns.count, ExactText.areSame(columns[next].name, name) else { return nil }
        }
        next += 1
        return next - 1
    }
}

extension RowColumns {
    /// Counts entries that are looked at. Entries that an insertion or a removal moves are not counted: they move at once,
    /// in one piece.
    @inline(__always)
    static func look(at count: @autoclosure () -> Int) {
        #if DEBUG
        let looks = count()
        lookCounter?.count += looks
        Steps.count(looks)
        #endif
    }

    #if DEBUG
    /// For one task.
    final class LookCounter: @unchecked Sendable {
        fileprivate(set) var count = 0
    }

    /// Gets the count of what a task looks at. A release build does not count.
    @TaskLocal static var lookCounter: LookCounter?
    #endif
}
