/// How many messages a state holds, and how much text.
public struct MessageStatistics: Hashable, Sendable {
    /// The messages that are live.
    public var live = 0
    /// The bytes of the texts of all versions that are kept packed, as they stood in their frames.
    public var textBytes = 0
}

extension Workspace {
    /// The messages of all sources, counted. Cost: O(messages).
    public var messageStatistics: MessageStatistics {
        var statistics = MessageStatistics()
        for source in sources {
            let messages = source.parts.messages
            for place in 0..<messages.store.count where messages.state(at: place) == .live { statistics.live += 1 }
            statistics.textBytes += messages.store.texts.byteCount
        }
        return statistics
    }
}
