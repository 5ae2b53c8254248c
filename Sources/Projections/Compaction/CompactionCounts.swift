/// Counts of what a compaction can remove for good from a state and its history.
public struct CompactionCounts: Hashable, Sendable {
    /// Live messages.
    public internal(set) var messages = 0
    /// Deleted messages whose last text is known.
    public internal(set) var deletedTexts = 0
    /// Versions of messages other than the last.
    public internal(set) var revisions = 0
}

extension CompactionCounts {
    static func += (left: inout CompactionCounts, right: CompactionCounts) {
        left.messages += right.messages
        left.deletedTexts += right.deletedTexts
        left.revisions += right.revisions
    }
}

extension Messages {
    /// Counts what a compaction may drop, and what of it is kept. O(messages and their entries).
    func compactionCounts(keeping isKept: [Bool]) -> (all: CompactionCounts, kept: CompactionCounts) {
        var (all, kept) = (CompactionCounts(), CompactionCounts())
        for place in 0..<store.count {
            let counts = compactionCounts(at: place)
            all += counts
            if isKept[place] { kept += counts }
        }
        return (all, kept)
    }

    private func compactionCounts(at place: Int) -> CompactionCounts {
        var counts = CompactionCounts()
        switch state(at: place) {
        case .live: counts.messages = 1
        case .deleted where store.hasCurrent(at: place): counts.deletedTexts = 1
        case .deleted, .unknown, .compacted: break
        }
        counts.revisions = max(0, store.revisionCount(at: place) - 1)
        return counts
    }
}
