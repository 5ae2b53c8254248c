/// What changed between two texts, line by line.
enum TextDiff {
    /// One line and what became of it.
    enum Line: Equatable {
        case kept(String)
        case removed(String)
        case added(String)
    }

    /// Beyond this many lines on a side the texts are shown whole, since the comparison's cost grows with its square.
    private static let comparedLinesMax = 2_000

    /// All lines of both texts in order, removed ones before added ones.
    static func lines(from old: String, to new: String) -> [Line] {
        let before = split(old)
        let after = split(new)
        guard max(before.count, after.count) <= comparedLinesMax else {
            return before.map { .removed($0) } + after.map { .added($0) }
        }
        let difference = after.difference(from: before)
        let removed = Set(difference.removals.map(\.offset))
        let added = Set(difference.insertions.map(\.offset))
        var lines: [Line] = []
        var (left, right) = (0, 0)
        while left < before.count || right < after.count {
            if left < before.count, removed.contains(left) {
                lines.append(.removed(before[left]))
                left += 1
            } else if right < after.count, added.contains(right) {
                lines.append(.added(after[right]))
                right += 1
            } else {
                lines.append(.kept(before[left]))
                left += 1
                right += 1
            }
        }
        return lines
    }

    private static func split(_ text: String) -> [String] {
        text.isEmpty ? [] : text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
}

extension CollectionDifference.Change {
    fileprivate var offset: Int {
        switch self {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
