/// Counts of what a compaction can remove for good from a state and its history.
public struct CompactionCounts: Hashable, Sendable {
    /// Live messages.
    public internal(set) var messages = 0
    /// Deleted messages whose last text is known.
    public internal(set) var deletedTexts = 0
    /// Versions of messages other than the last.
    public internal(set) var revisions = 0
}

extension LogState {
    /// Counts what a compaction may drop from this state. O(messages and their entries).
    var compactionCounts: CompactionCounts {
        var counts = CompactionCounts()
        for source in sources {
            let messages = source.parts.messages
            for place in 0..<messages.store.count {
                switch messages.state(at: place) {
                case .live: counts.messages += 1
                case .deleted where messages.store.hasCurrent(at: place): counts.deletedTexts += 1
                case .deleted, .unknown, .compacted: break
                }
                counts.revisions += max(0, messages.store.revisionCount(at: place) - 1)
            }
        }
        return counts
    }
}
