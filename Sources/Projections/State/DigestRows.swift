import EventLog

/// The rows of a workspace that may have changed since a trie was made, and which row of each message the trie contains.
struct DigestRows: Sendable {
    /// A row or a message. A message, live or deleted, has the section `messages`.
    private struct Place: Hashable {
        let source: Int
        let key: EntityKey
    }

    /// So many places are noted before duplicates are removed.
    private static let recentCountMax = 64

    /// The places noted last, in order, perhaps repeated.
    private var recent: [Place] = []
    /// All places noted before. Their order decides nothing, as equal sets of rows make equal tries.
    private var earlier: Set<Place> = []
    /// The row of each message in the trie, by source and place.
    private var messageRows: [[MessageRow]] = []
    /// How many issues of each source the trie contains.
    private var issuesSeen: [Int] = []
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

    private mutating func addRoom(for count: Int) {
        while messageRows.count < count {
            messageRows.append([])
            issuesSeen.append(0)
        }
    }

    /// Appends the changes that bring the trie up to date, and forgets the noted places.
    mutating func takeChanges(
        of sources: UnsafeMutableBufferPointer<SourceState>,
        into changes: inout [StateDigest.Change]
    ) {
        addRoom(for: sources.count)
        var writer = CanonicalWriter()
        var listed: Set<Place> = []
        if !earlier.isEmpty { gather() }
        for place in earlier { add(place, in: &sources[place.source], &writer, &listed, &changes) }
        for place in recent { add(place, in: &sources[place.source], &writer, &listed, &changes) }
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
        guard let message = source.parts.messages.place(of: place.key) else { return }
        add(messageAt: message, in: source, index: place.source, &writer, &changes)
        if source.parts.messages.isInListedChannel(messageAt: message) {
            listed.insert(Place(source: place.source, key: EntityKey(.channels, place.key.first)))
        }
    }

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
