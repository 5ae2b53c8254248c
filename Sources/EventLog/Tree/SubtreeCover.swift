/// The greatest aligned subtrees that a range of leaves consists of, from left to right: each has 2^level leaves, and begins at a
/// multiple of its size.
package struct SubtreeCover: Sequence {
    /// One subtree.
    package struct Subtree: Hashable, Sendable {
        /// Its leaves, counted from 0.
        package let leaves: Range<UInt64>
        /// Its height.
        package let level: Int
    }

    private let leaves: Range<UInt64>
    private let levelMax: Int

    /// - Parameter levelMax: the greatest height.
    package init(of leaves: Range<UInt64>, levelMax: Int = 63) {
        (self.leaves, self.levelMax) = (leaves, levelMax)
    }

    /// Passes the subtrees. Cost: O(log n) of them, and one for each 2^levelMax leaves.
    package func makeIterator() -> AnyIterator<Subtree> {
        var next = leaves.lowerBound
        return AnyIterator { [end = leaves.upperBound, levelMax] in
            guard next < end else { return nil }
            // The greatest powers of two that fit the range, and that divide the place (any, at the first leaf).
            let room = 63 - (end - next).leadingZeroBitCount
            let aligned = next == 0 ? room : next.trailingZeroBitCount
            let level = Swift.min(room, aligned, levelMax)
            assert(level >= 0, "a subtree has a leaf")
            defer { next += 1 << UInt64(level) }
            return Subtree(leaves: next..<next + 1 << UInt64(level), level: level)
        }
    }
}
