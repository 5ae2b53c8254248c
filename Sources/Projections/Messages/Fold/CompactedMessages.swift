import EventLog

/// The keys of the messages that compactions dropped, 16 bytes each: there may be millions.
///
/// The handles of a channel's messages lie in an ascending array. Most look-ups are of new messages, whose ids are
/// greater than all of these, and need no search.
struct CompactedMessages: Sendable {
    /// The `rawValue`s of the ids by channel: ascending, distinct, never empty. They mean nothing as an order of ids.
    private var ids: [EntityID: [UInt64]] = [:]
    /// The same of all channels, ascending, perhaps repeated: a server gives each id once. Made by `indexIDs`.
    private var allIDs: [UInt64] = []

    init() {}

    /// Lets `contains(id:)` find all ids. Must be called after changes. O(n log n).
    mutating func indexIDs() { allIDs = ids.values.joined().sorted() }

    /// Whether a message with an id was dropped, of whatever channel. O(log n); O(1) for a greater id than all.
    func contains(id: EntityID) -> Bool {
        guard let last = allIDs.last, id.rawValue <= last else { return false }
        return allIDs[allIDs.partitioningIndex { $0 >= id.rawValue }] == id.rawValue
    }

    var isEmpty: Bool { ids.isEmpty }

    var count: Int { ids.values.reduce(0) { $0 + $1.count } }

    /// O(log n) in the channel's dropped messages; O(1) for a greater id than these have.
    func contains(_ key: MessageKey) -> Bool {
        guard let known = ids[key.channel], let last = known.last, key.id.rawValue <= last else { return false }
        let place = known.partitioningIndex { $0 >= key.id.rawValue }
        return known[place] == key.id.rawValue
    }

    /// Adds messages of one channel, in any order, known ones too. O(n log n) in the new messages, and O(n) in all of
    /// the channel.
    mutating func insert(_ new: [EntityID], in channel: EntityID) {
        merge(new.map(\.rawValue).sorted(), into: channel)
    }

    /// Adds the messages of another value whose handles mean the same.
    mutating func formUnion(_ other: CompactedMessages) {
        for (channel, new) in other.ids where ids[channel] != new { merge(new, into: channel) }
        indexIDs()
    }

    /// Adds ascending ids, perhaps repeated, to a channel.
    private mutating func merge(_ new: [UInt64], into channel: EntityID) {
        if new.isEmpty { return }
        let known = ids[channel] ?? []
        var merged: [UInt64] = []
        merged.reserveCapacity(known.count + new.count)
        var (here, there) = (0, 0)
        while here < known.count || there < new.count {
            let isKnown = there == new.count || here < known.count && known[here] <= new[there]
            let next = isKnown ? known[here] : new[there]
            if merged.last != next { merged.append(next) }
            if isKnown { here += 1 } else { there += 1 }
        }
        ids[channel] = merged
    }

    /// The channels that lost a message, by the bytes of their ids.
    func channels(_ names: Names) -> [EntityID] {
        ids.keys.sorted { names.precedes($0, $1) }
    }

    /// The dropped messages of a channel, by the bytes of their ids. O(n log n); O(n) for numbers of equal length.
    func messages(in channel: EntityID, _ names: Names) -> [EntityID] {
        let handles = (ids[channel] ?? []).map { EntityID(saved: $0) }
        // Ascending numbers with as many digits are in the order of their bytes.
        if let first = handles.first?.number, let last = handles.last?.number, first.digitCount == last.digitCount {
            return handles
        }
        return handles.sorted { names.precedes($0, $1) }
    }

    /// Gives the key of each dropped message, sorted by channel, then id.
    func forEachSorted(_ names: Names, _ body: (MessageKey) -> Void) {
        for channel in channels(names) {
            for id in messages(in: channel, names) { body(MessageKey(channel: channel, id: id)) }
        }
    }

    /// The keys for which `isWanted` is true, sorted by channel, then id.
    func keys(_ names: Names, where isWanted: (MessageKey) -> Bool) -> [MessageKey] {
        var keys: [MessageKey] = []
        forEachSorted(names) { if isWanted($0) { keys.append($0) } }
        return keys
    }
}

/// Saved as channels and, for each, its ids. Ascending by handle, so that equal values give equal bytes.
extension CompactedMessages: Codable {
    private enum CodingKeys: CodingKey { case channels, ids }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let channels = try members.decode([EntityID].self, forKey: .channels)
        let lists = try members.decode([[UInt64]].self, forKey: .ids)
        guard channels.count == lists.count else {
            throw DecodingError.dataCorruptedError(forKey: .ids, in: members, debugDescription: "a list is missing")
        }
        for (channel, list) in zip(channels, lists) { merge(list.sorted(), into: channel) }
        indexIDs()
    }

    func encode(to encoder: any Encoder) throws {
        let sorted = ids.sorted { $0.key.rawValue < $1.key.rawValue }
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(sorted.map(\.key), forKey: .channels)
        try members.encode(sorted.map(\.value), forKey: .ids)
    }
}
