/// The number of messages in a state, and the size of their texts.
public struct MessageStatistics: Hashable, Sendable {
    /// The number of live messages.
    public var live = 0
    /// The bytes of the packed versions' texts as they stood in their frames, with the members kept beside them.
    public var textBytes = 0
}

extension LogState {
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
