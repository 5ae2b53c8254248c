import EventLog

/// The replies of one channel as trees, in the order to print them in.
struct ReplyThreads: Sendable {
    /// One message in its place.
    struct Line: Hashable, Sendable {
        var key: MessageKey
        /// 0 for a root.
        var depth: Int
        /// The state of the message that this one answers, if that is not live; `nil` otherwise.
        var lostParent: Messages.State?
    }

    /// All live messages, each followed by its replies, roots and replies in the remote's order. A reply whose parent
    /// is not live is a root.
    let lines: [Line]
    /// The circles, each as its members in the direction of the replies, beginning with the one that became a root.
    let circles: [[MessageKey]]

    /// Builds the trees of one channel in O(n log n).
    init(of channel: EntityID, in messages: Messages, names: Names) {
        let keys = messages.sortedLive(in: channel, names)
        let places = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        let forest = ReplyForest(parents: keys.map { key in messages.parent(of: key).flatMap { places[$0] } })
        circles = forest.circles.map { $0.map { keys[$0] } }
        lines = forest.lines.map { index, depth in
            Line(key: keys[index], depth: depth, lostParent: messages.lostParent(of: keys[index]))
        }
    }
}

extension Messages {
    /// The state of the message that this one answers; `nil` if it answers none or a live one.
    fileprivate func lostParent(of key: MessageKey) -> State? {
        guard let parent = parent(of: key) else { return nil }
        let state = state(of: parent)
        return state == .live ? nil : state
    }
}
