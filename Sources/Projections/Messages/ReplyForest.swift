/// Messages and the messages that they answer, as trees; any depth costs no recursion.
///
/// Messages are numbers in the order to print them in. A circle of replies is broken above its first member, which then
/// stands as a root.
public struct ReplyForest: Sendable {
    /// The message that each one stands below; `nil` for roots.
    public private(set) var parents: [Int?]
    /// The replies that stand below each message, in order.
    public private(set) var replies: [[Int]]
    /// The circles that were broken, each as its members in the direction of the replies, from its first on.
    public private(set) var circles: [[Int]] = []

    /// Builds the trees in O(n).
    ///
    /// - Parameter parents: for each message the one that it answers; `nil` where it answers none of these.
    public init(parents: [Int?]) {
        self.parents = parents
        replies = [[Int]](repeating: [], count: parents.count)
        breakCircles()
        for (index, parent) in self.parents.enumerated() {
            if let parent { replies[parent].append(index) }
        }
    }

    /// The messages that stand below no other, in order.
    public var roots: [Int] {
        parents.indices.filter { parents[$0] == nil }
    }

    /// All messages, each followed by its replies, with how deep it stands; a root has depth 0.
    public var lines: [(index: Int, depth: Int)] {
        var pending = roots.reversed().map { (index: $0, depth: 0) }
        var lines: [(index: Int, depth: Int)] = []
        while let (index, depth) = pending.popLast() {
            lines.append((index, depth))
            for reply in replies[index].reversed() { pending.append((reply, depth + 1)) }
        }
        return lines
    }

    private mutating func breakCircles() {
        var visit = [Int?](repeating: nil, count: parents.count)
        for start in parents.indices {
            var here = start
            while visit[here] == nil, let parent = parents[here] {
                visit[here] = start
                here = parent
            }
            if visit[here] == nil { visit[here] = start }
            // Walking from the earliest message on, a circle is met from one of its own members or from above it.
            if visit[here] == start, let circle = circle(from: here) { cut(circle) }
        }
    }

    private func circle(from start: Int) -> [Int]? {
        var members = [start]
        var next = parents[start]
        while let here = next, here != start, members.count < parents.count {
            members.append(here)
            next = parents[here]
        }
        return next == start ? members : nil
    }

    private mutating func cut(_ circle: [Int]) {
        let first = circle.indices.min { circle[$0] < circle[$1] } ?? 0
        parents[circle[first]] = nil
        circles.append(Array(circle[first...] + circle[..<first]))
    }
}
