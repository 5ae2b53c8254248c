/// Suggests a known word for an unknown one.
package enum Suggestion {
    /// The nearest known word within one slip for words of up to five letters, two slips for longer ones; of equally
    /// near ones the first by the alphabet. `nil` if none is near.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let slipsMax = word.count > 5 ? 2 : 1
        // A word of one or two letters is one slip away from too many others.
        guard word.count > 2 else { return nil }
        let near = known.map { (word: $0, slips: slips(from: word, to: $0)) }.filter { $0.slips <= slipsMax }
        return near.min { ($0.slips, $0.word) < ($1.slips, $1.word) }?.word
    }

    /// The clause that ends a message: `; did you mean "replay"?`, or nothing.
    package static func clause(for word: String, among known: [String]) -> String {
        nearest(to: word, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// The distance of two words: letters left out, added, replaced or swapped with a neighbour (optimal string
    /// alignment). Cost: the product of their lengths.
    package static func slips(from left: String, to right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            // Three rows of the table are enough: a swap looks two rows back.
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
