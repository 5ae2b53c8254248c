/// Messages and their replies as trees. Walks any depth without recursion.
///
/// Messages are numbers from 0, in the order to print them in. A circle of replies is broken above its first member,
/// which becomes a root.
package struct ReplyForest: Sendable {
    /// The parent of each message; `nil` for roots.
    package private(set) var parents: [Int?]
    /// The replies below each message, in order.
    package private(set) var replies: [[Int]]
    /// The circles that were broken, each as its members in the direction of the replies, from its first on.
    package private(set) var circles: [[Int]] = []

    /// Builds the trees in O(n).
    ///
    /// - Parameter parents: for each message the one that it answers, an index of this array; `nil` if it answers none
    ///   of them.
    package init(parents: [Int?]) {
        self.parents = parents
        replies = [[Int]](repeating: [], count: parents.count)
        breakCircles()
        for (index, parent) in self.parents.enumerated() {
            if let parent { replies[parent].append(index) }
        }
    }

    /// The messages without a parent, in order.
    package var roots: [Int] {
        parents.indices.filter { parents[$0] == nil }
    }

    /// All messages with their depths, each followed by its replies; a root has depth 0. O(n).
    package var lines: [(index: Int, depth: Int)] {
        var pending = roots.reversed().map { (index: $0, depth: 0) }
        var lines: [(index: Int, depth: Int)] = []
        while let (index, depth) = pending.popLast() {
            lines.append((index, depth))
            for reply in replies[index].reversed() { pending.append((reply, depth + 1)) }
        }
        assert(lines.count == parents.count, "without circles, each message is below one root")
        return lines
    }

    /// Finds each circle once and cuts it. O(n): a walk ends at the first message that any walk has visited.
    private mutating func breakCircles() {
        // For each message, the start of the walk that visited it.
        var visit = [Int?](repeating: nil, count: parents.count)
        for start in parents.indices {
            var here = start
            while visit[here] == nil, let parent = parents[here] {
                visit[here] = start
                here = parent
            }
            if visit[here] == nil { visit[here] = start }
            // A walk that returns to a message of its own has entered a circle there.
            if visit[here] == start, let circle = circle(from: here) { cut(circle) }
        }
    }

    /// The members of the circle through a message; `nil` if the way up ends or does not return. The limit on the count
    /// ends a walk into a circle without `start`.
    private func circle(from start: Int) -> [Int]? {
        var members = [start]
        var next = parents[start]
        while let here = next, here != start, members.count < parents.count {
            members.append(here)
            next = parents[here]
        }
        return next == start ? members : nil
    }

    /// Makes the circle's first message in the given order a root.
    private mutating func cut(_ circle: [Int]) {
        let first = circle.indices.min { circle[$0] < circle[$1] } ?? 0
        parents[circle[first]] = nil
        circles.append(Array(circle[first...] + circle[..<first]))
    }
}
