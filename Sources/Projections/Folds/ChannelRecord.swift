import EventLog

/// One channel, what stands of it now, and what happened to it.
struct ChannelRecord: Codable, Sendable {
    /// Whether the channel is there, fates aside.
    enum Standing: Codable, Hashable, Sendable {
        case live
        case deleted
    }

    /// What happened.
    enum Happening: Codable, Hashable, Sendable {
        case created
        case edited
        case restored
        case deleted(MessageDeletion.Cause)
    }

    /// One thing that happened.
    struct Entry: Codable, Sendable {
        var event: EventReference
        var happening: Happening
        /// What was known of the channel afterwards.
        var fields: ChannelFields
        /// Whether the event only named the channel.
        var isNaming: Bool
    }

    var fields: ChannelFields
    var standing = Standing.live
    private(set) var entries: [Entry] = []

    init(fields: ChannelFields) {
        self.fields = fields
    }

    mutating func enter(_ happening: Happening, at event: EventReference, isNaming: Bool = false) {
        entries.append(Entry(event: event, happening: happening, fields: fields, isNaming: isNaming))
    }

    /// Enters the end of the channel at its own place, which may lie before what became known later. Only the strongest
    /// cause stands.
    mutating func fall(_ fate: ChannelFates.Fate) {
        let entry = Entry(event: fate.event, happening: .deleted(fate.cause), fields: fields, isNaming: false)
        let place = entries.firstIndex { $0.event.sequence > fate.event.sequence } ?? entries.count
        entries.insert(entry, at: place)
    }
}

extension ChannelRecord {
    /// Whether nothing but names of it was ever heard. Then a compaction condenses its history to a fact instead of
    /// keeping an event for each of the names.
    var isOnlyNamed: Bool { entries.allSatisfy(\.isNaming) }

    /// The entries that only named the channel, up to the last one that the kept events do not give again. Before that
    /// one there is no other entry: as soon as there is, all are kept. So they stand before what the kept events say.
    func namings(keeping kept: Set<UInt64>) -> [Entry] {
        let last = entries.lastIndex { $0.isNaming && !kept.contains($0.event.sequence.rawValue) }
        return last.map { entries[...$0].filter(\.isNaming) } ?? []
    }

    func snapshot(names: Names) -> JSONValue {
        .object([
            "row": .object(fields.row(names: names)),
            "live": .bool(standing == .live),
            "entries": .array(entries.map { $0.snapshot(names: names) }),
        ])
    }
}

extension ChannelRecord.Entry {
    func historyEntry(names: Names) -> HistoryEntry {
        var members = fields.row(names: names)
        members["id"] = nil
        if case .deleted(let cause) = happening { members["cause"] = .string(cause.rawValue) }
        return HistoryEntry(at: event, change: happening.word, fields: members)
    }

    func snapshot(names: Names) -> JSONValue {
        .object([
            "event": event.snapshot,
            "change": .string(happening.word),
            "fields": .object(historyEntry(names: names).fields),
            "naming": .bool(isNaming),
        ])
    }

    /// What a compaction remembers of an event that only named the channel.
    func namingFact(names: Names) -> JSONObject {
        [
            "id": .string(names.text(fields.id)),
            "guild": .text(fields.guild.map { names.text($0) }),
            "event": event.snapshot,
        ]
    }
}

extension ChannelRecord.Happening {
    fileprivate var word: String {
        switch self {
        case .created: "created"
        case .edited: "edited"
        case .restored: "restored"
        case .deleted: "deleted"
        }
    }
}

extension ChannelFields {
    /// The members of the state document's row, without `source`.
    func row(names: Names) -> JSONObject {
        [
            "id": .string(names.text(id)),
            "name": .text(name),
            "kind": .text(kind),
            "guild": .text(guild.map { names.text($0) }),
            "topic": .text(topic),
            "position": position.map { .int($0) },
            "parent": .text(parent.map { names.text($0) }),
            "recipients": recipients.map { .array($0.map { .string(names.text($0)) }) },
        ]
    }
}
