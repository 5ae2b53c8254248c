import EventLog

/// The messages that compactions dropped, and what is still known of each: 16 bytes a message, as there may be millions.
///
/// A message that is live again stays one of these: the events that were kept from before its compaction must not change
/// it. Most look-ups are of new messages, whose ids are greater than all of these, and need no search.
struct CompactedMessages: Sendable {
    /// A dropped message's version, its compaction, and whether it was deleted for good.
    struct Drop: Codable, Hashable, Sendable {
        /// The head at which its compaction was decided: events up to there are part of what was dropped.
        var decidedAt: UInt64
        /// Whether it was deleted for good, then or since.
        var isDeletedForGood = false
        var rank = Rank.unwritten
    }

    /// What a version must be newer than.
    enum Rank: Codable, Hashable, Sendable {
        /// No version was known.
        case unwritten
        /// The version that was current, as `MessageRevision.Rank` has it.
        case version(Timestamp?)

        /// Whether a version is newer: neither what was dropped nor older.
        func isLess(than version: Timestamp?) -> Bool {
            switch self {
            case .unwritten: true
            case .version(let known):
                MessageRevision.Rank(version: known) < MessageRevision.Rank(version: version)
            }
        }
    }

    /// One message: the handle of its id, and the indexes of its channel and of its drop.
    private struct Key: BitwiseCopyable {
        let id: UInt64
        let channel: UInt32
        var drop: UInt32

        static func precedes(_ left: Key, _ right: Key) -> Bool {
            left.id != right.id ? left.id < right.id : left.channel < right.channel
        }
    }

    /// Ascending by `Key.precedes`, distinct. The handles mean nothing as an order of ids.
    private var keys: [Key] = []
    private var channels: [EntityID] = []
    private var channelIndexes: [EntityID: UInt32] = [:]
    /// The drops, which many messages share. Some may be of no message any more.
    private var drops: [Drop] = []
    /// The log's clock when each compaction was decided, by the head.
    private(set) var clocks: [UInt64: Timestamp] = [:]

    init() {}

    var isEmpty: Bool { keys.isEmpty }

    var count: Int { keys.count }

    /// The bytes that the messages take, those of the channels left out.
    var byteCount: Int { keys.count * MemoryLayout<Key>.stride + drops.count * MemoryLayout<Drop>.stride }

    func contains(_ key: MessageKey) -> Bool { place(of: key) != nil }

    /// Whether a message with an id was dropped, of whatever channel. O(log n); O(1) for a greater id than all.
    @inline(__always)
    func contains(id: EntityID) -> Bool {
        guard let last = keys.last, id.rawValue <= last.id else { return false }
        return firstPlace(of: id) != nil
    }

    /// The drop of a message; `nil` if no compaction dropped it.
    func drop(of key: MessageKey) -> Drop? { place(of: key).map { drops[Int(keys[$0].drop)] } }

    /// The dropped message of a server with an id: a server gives each id once. If compactions dropped it in several channels,
    /// the last one counts.
    func onServer(_ id: EntityID) -> (key: MessageKey, drop: Drop)? {
        guard var place = firstPlace(of: id) else { return nil }
        var found = place
        while place < keys.count, keys[place].id == id.rawValue {
            if drops[Int(keys[place].drop)].decidedAt > drops[Int(keys[found].drop)].decidedAt { found = place }
            place += 1
        }
        return (MessageKey(channel: channels[Int(keys[found].channel)], id: id), drops[Int(keys[found].drop)])
    }

    private func firstPlace(of id: EntityID) -> Int? {
        guard let last = keys.last, id.rawValue <= last.id else { return nil }
        let place = keys.partitioningIndex { $0.id >= id.rawValue }
        return keys[place].id == id.rawValue ? place : nil
    }

    /// O(log n); O(1) for a greater id than all.
    private func place(of key: MessageKey) -> Int? {
        guard let last = keys.last, key.id.rawValue <= last.id, let channel = channelIndexes[key.channel] else {
            return nil
        }
        let wanted = Key(id: key.id.rawValue, channel: channel, drop: 0)
        let place = keys.partitioningIndex { !Key.precedes($0, wanted) }
        guard place < keys.count, keys[place].id == wanted.id, keys[place].channel == channel else { return nil }
        return place
    }

    /// Notes that a dropped message was deleted for good.
    mutating func noteDeletedForGood(_ key: MessageKey) {
        guard let place = place(of: key) else { return }
        var drop = drops[Int(keys[place].drop)]
        drop.isDeletedForGood = true
        if drops.last != drop { drops.append(drop) }
        keys[place].drop = UInt32(drops.count - 1)
    }

    /// Notes the log's clock at the head of a decision.
    mutating func note(clock: Timestamp?, decidedAt: UInt64) { clocks[decidedAt] = clock }

    /// Adds messages in any order. Of a message that is known the later compaction counts; of two with one decision, either's
    /// deletion. O(n log n) in the new messages, and O(n) in all.
    mutating func insert(_ new: [(key: MessageKey, drop: Drop)]) {
        if new.isEmpty { return }
        var indexes = Dictionary(drops.enumerated().map { ($1, UInt32($0)) }, uniquingKeysWith: { first, _ in first })
        var added: [Key] = []
        added.reserveCapacity(new.count)
        for (key, drop) in new {
            let place: UInt32
            if let known = indexes[drop] {
                place = known
            } else {
                place = UInt32(drops.count)
                drops.append(drop)
                indexes[drop] = place
            }
            added.append(Key(id: key.id.rawValue, channel: index(of: key.channel), drop: place))
        }
        added.sort(by: Key.precedes)
        if keys.last.map({ Key.precedes($0, added[0]) }) ?? true, !hasRepeats(added) {
            keys += added
        } else {
            merge(added)
        }
    }

    private func hasRepeats(_ sorted: [Key]) -> Bool {
        zip(sorted, sorted.dropFirst()).contains { !Key.precedes($0, $1) }
    }

    /// Merges ascending keys, perhaps repeated.
    private mutating func merge(_ added: [Key]) {
        var merged: [Key] = []
        merged.reserveCapacity(keys.count + added.count)
        var (here, there) = (0, 0)
        while here < keys.count || there < added.count {
            let isKnown = there == added.count || here < keys.count && !Key.precedes(added[there], keys[here])
            let next = isKnown ? keys[here] : added[there]
            if isKnown { here += 1 } else { there += 1 }
            if let last = merged.last, !Key.precedes(last, next) {
                merged[merged.count - 1].drop = later(last.drop, next.drop)
            } else {
                merged.append(next)
            }
        }
        keys = merged
    }

    /// The drop that counts of two of one message.
    private mutating func later(_ one: UInt32, _ other: UInt32) -> UInt32 {
        let (left, right) = (drops[Int(one)], drops[Int(other)])
        if left.decidedAt != right.decidedAt { return left.decidedAt > right.decidedAt ? one : other }
        if left.isDeletedForGood == right.isDeletedForGood { return one }
        return left.isDeletedForGood ? one : other
    }

    private mutating func index(of channel: EntityID) -> UInt32 {
        if let known = channelIndexes[channel] { return known }
        channels.append(channel)
        channelIndexes[channel] = UInt32(channels.count - 1)
        return UInt32(channels.count - 1)
    }

    /// Adds the messages of another value whose handles mean the same.
    mutating func formUnion(_ other: CompactedMessages) {
        clocks.merge(other.clocks) { first, _ in first }
        insert(
            other.keys.map { key in
                let id = MessageKey(channel: other.channels[Int(key.channel)], id: EntityID(saved: key.id))
                return (id, other.drops[Int(key.drop)])
            }
        )
    }

    /// Gives the channels that lost a message, by the bytes of their ids, each with its messages, by the bytes of theirs.
    /// O(n log n); O(n) for numbers of equal length.
    func forEachChannel(_ names: Names, _ body: (EntityID, [(id: EntityID, drop: Drop)]) -> Void) {
        var groups = [[Key]](repeating: [], count: channels.count)
        for key in keys { groups[Int(key.channel)].append(key) }
        for channel in channels.indices.sorted(by: { names.precedes(channels[$0], channels[$1]) }) {
            if groups[channel].isEmpty { continue }
            var messages = groups[channel].map { (id: EntityID(saved: $0.id), drop: drops[Int($0.drop)]) }
            groups[channel] = []
            // Ascending numbers with as many digits are in the order of their bytes.
            let first = messages.first?.id.number?.digitCount
            if first == nil || first != messages.last?.id.number?.digitCount {
                messages.sort { names.precedes($0.id, $1.id) }
            }
            body(channels[channel], messages)
        }
    }

    /// Gives each dropped message, sorted by channel, then id.
    func forEachSorted(_ names: Names, _ body: (MessageKey, Drop) -> Void) {
        forEachChannel(names) { channel, messages in
            for message in messages { body(MessageKey(channel: channel, id: message.id), message.drop) }
        }
    }
}

/// Saved in the order of handles, and of drops by their first message, so that equal values give equal bytes.
extension CompactedMessages: Codable {
    private enum CodingKeys: CodingKey { case channels, ids, places, drops, heads, clocks }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let channels = try members.decode([EntityID].self, forKey: .channels)
        let ids = try members.decode([[UInt64]].self, forKey: .ids)
        let places = try members.decode([[UInt32]].self, forKey: .places)
        let drops = try members.decode([Drop].self, forKey: .drops)
        let heads = try members.decode([UInt64].self, forKey: .heads)
        let clocks = try members.decode([Timestamp].self, forKey: .clocks)
        guard channels.count == ids.count, ids.map(\.count) == places.map(\.count), heads.count == clocks.count,
            places.allSatisfy({ $0.allSatisfy { $0 < drops.count } })
        else {
            throw DecodingError.dataCorruptedError(forKey: .ids, in: members, debugDescription: "a list is missing")
        }
        for (head, clock) in zip(heads, clocks) { self.clocks[head] = clock }
        var all: [(key: MessageKey, drop: Drop)] = []
        for (channel, (ids, places)) in zip(channels, zip(ids, places)) {
            for (id, place) in zip(ids, places) {
                all.append((MessageKey(channel: channel, id: EntityID(saved: id)), drops[Int(place)]))
            }
        }
        insert(all)
    }

    func encode(to encoder: any Encoder) throws {
        let sorted = channels.indices.sorted { channels[$0].rawValue < channels[$1].rawValue }
        var (ids, places) = ([[UInt64]](repeating: [], count: channels.count), [[UInt32]]())
        places = ids.map { _ in [] }
        for key in keys {
            ids[Int(key.channel)].append(key.id)
            places[Int(key.channel)].append(key.drop)
        }
        var saved: [Drop] = []
        var indexes: [Drop: UInt32] = [:]
        for channel in sorted {
            for place in places[channel].indices {
                let drop = drops[Int(places[channel][place])]
                if indexes[drop] == nil {
                    indexes[drop] = UInt32(saved.count)
                    saved.append(drop)
                }
                places[channel][place] = indexes[drop] ?? 0
            }
        }
        let heads = clocks.keys.sorted()
        let kept = sorted.filter { !ids[$0].isEmpty }
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(kept.map { channels[$0] }, forKey: .channels)
        try members.encode(kept.map { ids[$0] }, forKey: .ids)
        try members.encode(kept.map { places[$0] }, forKey: .places)
        try members.encode(saved, forKey: .drops)
        try members.encode(heads, forKey: .heads)
        try members.encode(heads.compactMap { clocks[$0] }, forKey: .clocks)
    }
}
