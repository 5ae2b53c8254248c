@testable import Projections

extension StatePart {
    /// The whole state as text.
    func normalFormLines(_ names: Names) -> [String] {
        var lines: [String] = []
        normalForm(names: names) { lines.append($0.canonicalText) }
        return lines + ((self as? Messages)?.messageLines(names) ?? [])
    }
}

extension LogState {
    /// What `normalFormHash` covers of the sources, as text. Of messages it holds the text of each, not only their hash.
    var normalFormLines: [String] {
        var lines: [String] = []
        for source in sources.sorted(by: { $0.name < $1.name }) {
            source.normalForm { lines.append($0.canonicalText) }
            lines += source.parts.messages.messageLines(source.context.names)
        }
        return lines
    }
}

/// Where two lists of lines differ first, in a few words; `nil` where they are the same.
func firstDifference(_ left: [String], _ right: [String]) -> String? {
    for (mine, theirs) in zip(left, right) where mine != theirs {
        let same = zip(mine.utf8, theirs.utf8).prefix { $0 == $1 }.count
        let start = max(0, same - 150)
        return "\(mine.dropFirst(start).prefix(300))\n is not \n\(theirs.dropFirst(start).prefix(300))"
    }
    return left.count == right.count ? nil : "\(left.count) lines are not \(right.count)"
}
