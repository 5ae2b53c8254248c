public import EventLog

/// One live message in its place in a tree of replies.
public struct ThreadLine: Hashable, Sendable {
    /// The message's row of the state document.
    public let message: JSONObject
    /// 0 for a root, 1 for a reply to a root, ….
    public let depth: Int
    /// The state of the message that a root answers: `deleted`, `compacted` or `unknown`. `nil` if it answers none, or
    /// a live one in a circle of replies.
    public let lostParent: String?
}

extension LogState {
    /// The live messages of one channel, each followed by its replies, in the remote's order; none for an unknown
    /// source or channel.
    ///
    /// Circles of replies are broken at their first message, which becomes a root. Cost: O(n log n).
    public func threads(source: SourceName, channel: String) -> [ThreadLine] {
        guard let state = state(of: source), let id = state.context.names.find(channel) else { return [] }
        let rowContext = state.rowContext(asOf: clock)
        return ReplyThreads(of: id, in: state.parts.messages, names: state.context.names).lines.compactMap { line in
            let key = EntityKey(.messages, line.key.channel, line.key.id)
            guard let row = state.parts.messages.row(for: key, context: rowContext)?.object else { return nil }
            return ThreadLine(message: row, depth: line.depth, lostParent: line.lostParent?.rawValue)
        }
    }
}
