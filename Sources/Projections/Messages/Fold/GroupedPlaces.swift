import EventLog

/// The places of all messages with a row, by channel and section, each list in the document's order.
///
/// Made in one walk over the cells in the order of memory. Walking each channel's own chain reads the same cells out of
/// order, which takes many times as long in a store that the processor's caches do not hold.
struct GroupedPlaces: Sendable {
    /// One channel with a known message.
    struct Channel: Sendable {
        let id: EntityID
        fileprivate let live: Range<Int>
        fileprivate let deleted: Range<Int>
    }

    /// In the document's order; a channel may have no row of either section.
    private(set) var channels: [Channel] = []
    /// For each channel of the store in its order there, first the live messages, then the deleted ones.
    private var places: [Int]

    init(_ messages: Messages, _ names: Names) {
        let store = messages.store
        var groups = Groups(channelCount: store.channels.count)
        for place in 0..<store.count { groups.add(place, messages, names) }
        places = groups.places()
        for (index, channel) in store.channels.enumerated() where store.hadMessage(index) {
            let (live, deleted) = (groups.range(index * 2), groups.range(index * 2 + 1))
            if !groups.isOrdered[index * 2] { sort(live) { messages.liveOrder($0, names) } }
            if !groups.isOrdered[index * 2 + 1] { sort(deleted) { messages.deletedOrder($0, names) } }
            channels.append(Channel(id: channel.id, live: live, deleted: deleted))
        }
        channels.sort { names.precedes($0.id, $1.id) }
    }

    private mutating func sort(_ range: Range<Int>, by order: ([Int]) -> [Int]?) {
        if let sorted = order(Array(places[range])) { places.replaceSubrange(range, with: sorted) }
    }

    /// The places of a channel's messages with a row in a section; none for other sections.
    func places(in section: Section, of channel: Channel) -> ArraySlice<Int> {
        switch section {
        case .messages: places[channel.live]
        case .deletedMessages: places[channel.deleted]
        default: []
        }
    }

    /// The places of all messages with a row in a section, in the document's order.
    func places(in section: Section) -> [Int] {
        channels.flatMap { places(in: section, of: $0) }
    }
}

/// Two groups of messages for each channel of a store: at twice the channel's index the live ones, behind it the deleted
/// ones.
private struct Groups {
    /// The group of each message; -1 for one without a row.
    private var groups: [Int32] = []
    private var counts: [Int]
    /// The index behind the group's last place.
    private var ends: [Int] = []
    private var last: [EntityID]
    /// The place in its client's list of each group's last live message; -1 if that is not listed, or there is none.
    private var lastListed: [Int]
    /// False for groups whose messages may have another order than that of arrival.
    private(set) var isOrdered: [Bool]

    init(channelCount: Int) {
        counts = [Int](repeating: 0, count: channelCount * 2)
        last = [EntityID](repeating: .none, count: channelCount * 2)
        lastListed = [Int](repeating: -1, count: channelCount * 2)
        isOrdered = [Bool](repeating: true, count: channelCount * 2)
    }

    /// Adds the message at the next place.
    mutating func add(_ place: Int, _ messages: Messages, _ names: Names) {
        let state = messages.state(at: place)
        guard state == .live || state == .deleted else { return groups.append(-1) }
        let cell = messages.store.cells[place]
        let group = Int(cell.channel) * 2 + (state == .live ? 0 : 1)
        groups.append(Int32(truncatingIfNeeded: group))
        counts[group] += 1
        if isOrdered[group] {
            isOrdered[group] =
                state == .live
                ? follows(cell, at: place, in: group, messages)
                : last[group] == .none || names.precedes(last[group], cell.id)
        }
        last[group] = cell.id
    }

    /// Whether a live message surely follows the last one of its group, and notes its place in a client's list.
    private mutating func follows(_ cell: MessageCell, at place: Int, in group: Int, _ messages: Messages) -> Bool {
        guard cell.form == .listed else { return lastListed[group] < 0 && messages.isAfter(cell, last[group]) }
        let before = lastListed[group]
        lastListed[group] = Int(messages.store.listPlaces[place])
        return before < lastListed[group] && (before >= 0 || last[group] == .none)
    }

    /// The places of all messages that have a row, group by group.
    mutating func places() -> [Int] {
        var total = 0
        ends = counts.map { count in
            defer { total += count }
            return total
        }
        var places = [Int](repeating: 0, count: total)
        // Each end begins as the start of its group, and moves while the group is filled.
        for place in groups.indices where groups[place] >= 0 {
            let group = Int(groups[place])
            places[ends[group]] = place
            ends[group] += 1
        }
        return places
    }

    /// The group's range in `places`.
    func range(_ group: Int) -> Range<Int> { ends[group] - counts[group]..<ends[group] }
}

extension Messages {
    /// Whether a live message follows another one of its channel by the numbers that their ids are; false proves
    /// nothing. `last` is `EntityID.none` for the first message.
    fileprivate func isAfter(_ cell: MessageCell, _ last: EntityID) -> Bool {
        guard store.isByID(cell), let number = cell.id.number else { return false }
        return last.number.map { $0 < number } ?? (last == .none)
    }
}
