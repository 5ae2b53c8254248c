import EventLog

/// The replies of one channel as trees, in the order to print them in.
///
/// Any depth costs no recursion. A circle of replies is broken at its first message in the remote's order, which then
/// stands as a root.
struct ReplyThreads: Sendable {
    /// One message in its place.
    struct Line: Hashable, Sendable {
        var key: MessageKey
        /// 0 for a root.
        var depth: Int
        /// What became of the message that this one answers; `nil` where it answers none or stands below it.
        var lostParent: Messages.State?
    }

    /// All live messages, each followed by its replies, roots and replies in the remote's order.
    let lines: [Line]
    /// The circles, each as its members in the direction of the replies, from the one that stands as a root.
    let circles: [[MessageKey]]

    /// Builds the trees of one channel in O(n log n).
    init(of channel: EntityID, in messages: Messages, names: Names) {
        let ordered = messages.sortedLive(in: channel, names).map(\.key)
        var tree = Tree(ordered: ordered, in: messages)
        circles = tree.breakCircles()
        lines = tree.lines(in: messages)
    }
}

/// Messages as numbers in the remote's order.
private struct Tree {
    let keys: [MessageKey]
    /// The message that each one answers, if that is live.
    var parents: [Int?]

    init(ordered: [MessageKey], in messages: Messages) {
        let places = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1, $0) })
        keys = ordered
        parents = ordered.map { key in messages.parent(of: key).flatMap { places[$0] } }
    }

    /// Cuts each circle above its first member.
    mutating func breakCircles() -> [[MessageKey]] {
        var visit = [Int?](repeating: nil, count: keys.count)
        var circles: [[MessageKey]] = []
        for start in keys.indices {
            var here = start
            while visit[here] == nil, let parent = parents[here] {
                visit[here] = start
                here = parent
            }
            if visit[here] == nil { visit[here] = start }
            // Walking from the earliest message on, a circle is met from one of its own members or from above it.
            if visit[here] == start, let circle = circle(from: here) { circles.append(cut(circle)) }
        }
        return circles
    }

    private func circle(from start: Int) -> [Int]? {
        var members = [start]
        var next = parents[start]
        while let here = next, here != start, members.count < keys.count {
            members.append(here)
            next = parents[here]
        }
        return next == start ? members : nil
    }

    private mutating func cut(_ circle: [Int]) -> [MessageKey] {
        let first = circle.indices.min { circle[$0] < circle[$1] } ?? 0
        parents[circle[first]] = nil
        return (circle[first...] + circle[..<first]).map { keys[$0] }
    }

    func lines(in messages: Messages) -> [ReplyThreads.Line] {
        var replies = [[Int]](repeating: [], count: keys.count)
        for (index, parent) in parents.enumerated() { parent.map { replies[$0].append(index) } }
        var pending = keys.indices.filter { parents[$0] == nil }.reversed().map { (index: $0, depth: 0) }
        var lines: [ReplyThreads.Line] = []
        while let (index, depth) = pending.popLast() {
            lines.append(ReplyThreads.Line(key: keys[index], depth: depth, lostParent: lostParent(index, messages)))
            for reply in replies[index].reversed() { pending.append((reply, depth + 1)) }
        }
        return lines
    }

    private func lostParent(_ index: Int, _ messages: Messages) -> Messages.State? {
        guard parents[index] == nil, let parent = messages.parent(of: keys[index]) else { return nil }
        let state = messages.state(of: parent)
        return state == .live ? nil : state
    }
}
