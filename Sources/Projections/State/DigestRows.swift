import EventLog

/// The rows of a state that may have changed since a trie was made, and which row of each message the trie
/// contains.
///
/// Knows sources by their index in the state and messages by their place in the store. Both must stay as they are:
/// a compaction begins with a new value.
struct DigestRows: Sendable {
    /// A row or a message. A message, live or deleted, has the section `messages`.
    private struct Place: Hashable {
        let source: Int
        let key: EntityKey
    }

    /// So many places are noted before duplicates are removed: most calls of `takeChanges` come after a few rows, for
    /// which a set would cost more than it saves.
    private static let recentCountMax = 64

    /// The places noted last, in order, perhaps repeated.
    private var recent: [Place] = []
    /// All places noted before. Their order decides nothing, as equal sets of rows make equal tries.
    private var earlier: Set<Place> = []
    /// The row of each message in the trie, by source and place. A message that becomes a tombstone changes its key, so
    /// its old row must be removed by name. Shorter than the store while new messages are not taken yet.
    private var messageRows: [[MessageRow]] = []
    /// How many rows of each source's `IssueList` the trie contains. Issues are never touched by key: they are only
    /// appended.
    private var issuesSeen: [Int] = []
    /// How many issues of each reason the trie contains, by the digest key of source and reason.
    private var issueCounts: [Hash256: Int] = [:]

    /// Notes rows that may have changed.
    mutating func note(_ touched: [EntityKey], source: Int) {
        for key in touched {
            let place = Place(source: source, key: key.ofWholeMessage)
            if recent.last == place { continue }
            if recent.count == Self.recentCountMax { gather() }
            recent.append(place)
        }
    }

    private mutating func gather() {
        earlier.formUnion(recent)
        recent.removeAll(keepingCapacity: true)
    }

    /// Notes that the trie contains the current rows of all messages.
    mutating func noteAllMessages(of source: borrowing SourceState, index: Int) {
        addRoom(for: index + 1)
        messageRows[index] = source.messageRows()
    }

    /// Makes room for sources that appeared since.
    private mutating func addRoom(for count: Int) {
        while messageRows.count < count {
            messageRows.append([])
            issuesSeen.append(0)
        }
    }

    /// Appends the changes that bring the trie up to date, and forgets the noted places. Order and repeats decide
    /// nothing: each change states the whole row.
    mutating func takeChanges(
        of sources: UnsafeMutableBufferPointer<SourceState>,
        into changes: inout [StateDigest.Change]
    ) {
        addRoom(for: sources.count)
        var writer = CanonicalWriter()
        var listed: Set<Place> = []
        // With a set anyway, the recent places join it, so that each row is made once.
        if !earlier.isEmpty { gather() }
        for place in earlier { add(place, in: &sources[place.source], &writer, &listed, &changes) }
        for place in recent { add(place, in: &sources[place.source], &writer, &listed, &changes) }
        // No row contains the order of a listed channel, so any touched message may have changed it.
        for channel in listed {
            guard let order = sources[channel.source].digestOrder(of: channel.key.first) else { continue }
            changes.append(StateDigest.Change(key: order.key, row: order.row))
        }
        for index in sources.indices where sources[index].issues.count != issuesSeen[index] {
            addIssues(of: sources[index], index: index, &changes)
        }
        if !earlier.isEmpty { earlier.removeAll(keepingCapacity: true) }
        recent.removeAll(keepingCapacity: true)
    }

    /// Appends the change of one row. A row that does not exist removes its key.
    @inline(__always)
    private mutating func add(
        _ place: Place,
        in source: inout SourceState,
        _ writer: inout CanonicalWriter,
        _ listed: inout Set<Place>,
        _ changes: inout [StateDigest.Change]
    ) {
        guard place.key.section == .messages else {
            guard place.key.section.isInDigest else { return }
            let key = source.digestKey(of: place.key, &writer)
            return changes.append(StateDigest.Change(key: key, row: source.digestRow(of: place.key)))
        }
        guard let message = source.parts.messages.place(of: place.key) else {
            // It went to another channel, and which of the two rows it had is not known any more.
            for section in [Section.messages, .deletedMessages] {
                let key = EntityKey(section, place.key.first, place.key.second)
                changes.append(StateDigest.Change(key: source.digestKey(of: key, &writer), row: nil))
            }
            return
        }
        add(messageAt: message, in: source, index: place.source, &writer, &changes)
        if source.parts.messages.isInListedChannel(messageAt: message) {
            listed.insert(Place(source: place.source, key: EntityKey(.channels, place.key.first)))
        }
    }

    /// Appends the changes of one message: the removal of its row in the other section, if the trie has one, and its
    /// row now.
    private mutating func add(
        messageAt place: Int,
        in source: borrowing SourceState,
        index: Int,
        _ writer: inout CanonicalWriter,
        _ changes: inout [StateDigest.Change]
    ) {
        let missing = source.parts.messages.store.count - messageRows[index].count
        if missing > 0 { messageRows[index].append(contentsOf: repeatElement(.none, count: missing)) }
        let before = messageRows[index][place]
        // The row may be `nil` although the message has a state, so the leaf decides.
        let leaf = source.digestLeaf(at: place, &writer)
        let after = leaf == nil ? MessageRow.none : source.messageRow(at: place)
        if before != after, let section = before.section {
            let key = source.digestKey(of: section, messageAt: place, &writer)
            changes.append(StateDigest.Change(key: key, row: nil))
        }
        if let leaf { changes.append(StateDigest.Change(leaf)) }
        messageRows[index][place] = after
    }

    private mutating func addIssues(
        of source: borrowing SourceState,
        index: Int,
        _ changes: inout [StateDigest.Change]
    ) {
        for issue in source.issues.rows[issuesSeen[index]...] {
            let key = source.digestKey(ofIssue: issue.reason)
            let count = issueCounts[key, default: 0] + issue.count
            issueCounts[key] = count
            changes.append(StateDigest.Change(key: key, row: SourceState.digestRow(ofIssueCount: count)))
        }
        issuesSeen[index] = source.issues.count
    }
}

extension EntityKey {
    /// The key itself; of a deleted message, its key as a live one.
    var ofWholeMessage: EntityKey {
        section == .deletedMessages ? EntityKey(.messages, first, second) : self
    }
}
