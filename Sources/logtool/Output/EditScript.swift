import Projections

/// The shortest edit script from one sequence to another (Myers, "An O(ND) difference algorithm", 1986), over tokens
/// compared as bytes.
enum EditScript {
    typealias Token = WordTokens.Token

    /// The tokens removed and added at one place, and the common tokens that follow.
    struct Block {
        var removed: ArraySlice<Token>
        var added: ArraySlice<Token>
        var kept: ArraySlice<Token>
    }

    /// The most steps of a search for texts of so many tokens. Texts with more edits count as replaced whole: the search takes
    /// time and space quadratic in their number, and a log may have many texts that have nothing in common (I34).
    static func stepsMax(_ tokenCount: Int) -> Int { 40_000 + 64 * tokenCount }

    /// The blocks in order. Only the first may remove and add nothing.
    static func blocks(from old: [Token], to new: [Token]) -> [Block] {
        let prefix = zip(old, new).prefix { $0 == $1 }.count
        let (left, right) = (old[prefix...], new[prefix...])
        let suffix = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        let (before, after) = (left.dropLast(suffix), right.dropLast(suffix))
        var blocks = [Block(removed: [], added: [], kept: old[..<prefix])]
        if !before.isEmpty || !after.isEmpty { blocks += middle(before, after) }
        // The common suffix follows the last change.
        let end = old.count - suffix
        if suffix > 0 {
            let last = blocks.count - 1
            blocks[last].kept = blocks[last].kept.isEmpty ? old[end...] : old[blocks[last].kept.startIndex...]
        }
        return blocks
    }

    /// The blocks between the common prefix and suffix.
    private static func middle(_ old: ArraySlice<Token>, _ new: ArraySlice<Token>) -> [Block] {
        // Numbers compare faster than texts.
        var numbers: [Token: Int] = [:]
        func number(_ token: Token) -> Int {
            if let known = numbers[token] { return known }
            numbers[token] = numbers.count
            return numbers.count - 1
        }
        guard let matches = matches(old.map(number), new.map(number)) else {
            return [Block(removed: old, added: new, kept: old[old.endIndex...])]
        }
        var blocks: [Block] = []
        var (x, y) = (old.startIndex, new.startIndex)
        // A run of length 0 at both ends closes the last block.
        for run in matches + [(old.count, new.count, 0)] {
            let (left, right) = (old.startIndex + run.0, new.startIndex + run.1)
            assert(x <= left && y <= right, "common runs ascend in both sequences")
            let kept = old[left..<left + run.2]
            if x < left || y < right { blocks.append(Block(removed: old[x..<left], added: new[y..<right], kept: kept)) }
            (x, y) = (left + run.2, right + run.2)
        }
        return blocks
    }

    /// The common runs as (index in `old`, index in `new`, length), ascending; `nil` beyond `stepsMax`.
    private static func matches(_ old: [Int], _ new: [Int]) -> [(Int, Int, Int)]? {
        // For each diagonal (index in `old` less index in `new`, offset by `middle`), the farthest index in `old` that
        // is reached.
        // Each round of the search looks at one diagonal more.
        let limit = min(Int(Double(2 * stepsMax(old.count + new.count)).squareRoot()), old.count + new.count)
        var reached = [Int](repeating: 0, count: 2 * limit + 3)
        let middle = limit + 1
        var history: [[Int]] = []
        for edits in 0...limit {
            // The state before this round, to walk back. Only the diagonals that the round can read, in an array of
            // their own: a slice would make the next change copy all of `reached`.
            Steps.count(edits + 1)
            history.append(Array(reached[(middle - edits - 1)...(middle + edits + 1)]))
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let goesDown =
                    diagonal == -edits
                    || (diagonal != edits && reached[middle + diagonal - 1] < reached[middle + diagonal + 1])
                var x = goesDown ? reached[middle + diagonal + 1] : reached[middle + diagonal - 1] + 1
                while x < old.count, x - diagonal < new.count, x - diagonal >= 0, old[x] == new[x - diagonal] { x += 1 }
                reached[middle + diagonal] = x
                if x >= old.count, x - diagonal >= new.count {
                    return walk(back: history, from: (old.count, new.count))
                }
            }
        }
        return nil
    }

    /// Walks from the end back to the start through the rounds, and collects the common runs. The middle diagonal of
    /// each round is in the middle of its array.
    private static func walk(back history: [[Int]], from end: (Int, Int)) -> [(Int, Int, Int)] {
        var runs: [(Int, Int, Int)] = []
        var (x, y) = end
        for (edits, reached) in history.enumerated().reversed() {
            let diagonal = x - y
            let middle = edits + 1
            let goesDown =
                diagonal == -edits
                || (diagonal != edits && reached[middle + diagonal - 1] < reached[middle + diagonal + 1])
            let previous = goesDown ? diagonal + 1 : diagonal - 1
            let fromX = edits == 0 ? 0 : reached[middle + previous]
            let fromY = edits == 0 ? 0 : fromX - previous
            // The run begins after this round's edit.
            let startX = edits == 0 ? 0 : (goesDown ? fromX : fromX + 1)
            if x > startX { runs.append((startX, startX - diagonal, x - startX)) }
            (x, y) = (fromX, fromY)
        }
        return runs.reversed()
    }
}
