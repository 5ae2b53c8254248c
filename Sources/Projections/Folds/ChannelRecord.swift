import EventLog

/// One channel: its fields, its standing and its history.
struct ChannelRecord: Codable, Sendable {
    /// Whether the channel exists, apart from its fate (`ChannelFates`).
    enum Standing: Codable, Hashable, Sendable {
        case live
        case deleted
    }

    /// The kind of a history entry.
    enum Happening: Codable, Hashable, Sendable {
        case created
        case edited
        case restored
        case deleted(MessageDeletion.Cause)
        /// The branch's tip has the channel, or lacks it. Not kept: made for whoever reads the history.
        case selected
        case unselected
    }

    /// One entry of the history.
    struct Entry: Codable, Sendable {
        var event: EventReference
        var happening: Happening
        /// The channel's fields after the event.
        var fields: ChannelFields
        /// True if the event only named the channel.
        var isNaming: Bool
    }

    var fields: ChannelFields
    /// Set by deletions that can be undone, and by moves of a branch's tip. A channel that is gone for ever keeps it.
    var standing = Standing.live
    /// In order of their events' sequences.
    private(set) var entries: [Entry] = []

    init(fields: ChannelFields) {
        self.fields = fields
    }

    /// Appends a history entry with the current fields; set those first.
    mutating func enter(_ happening: Happening, at event: EventReference, isNaming: Bool = false) {
        entries.append(Entry(event: event, happening: happening, fields: fields, isNaming: isNaming))
    }

    /// The entry that says whether a branch's tip has the channel, if the entries tell otherwise (I33); `nil` if they tell so.
    func selection(at event: EventReference) -> Entry? {
        guard let last = entries.last else { return nil }
        let isTold = if case .deleted = last.happening { false } else { true }
        guard isTold != (standing == .live) else { return nil }
        return Entry(event: event, happening: isTold ? .unselected : .selected, fields: fields, isNaming: false)
    }

    /// Takes the fields of a statement, but for a missing guild, and appends a history entry; false if they are known.
    mutating func state(_ stated: ChannelFields, at event: EventReference) -> Bool {
        var stated = stated
        stated.guild = stated.guild ?? fields.guild
        if standing == .live, stated == fields { return false }
        fields = stated
        let happening = standing == .live ? Happening.edited : .restored
        standing = .live
        enter(happening, at: event)
        return true
    }
}

extension ChannelRecord {
    /// True if all events only named the channel. A compaction then condenses the history to facts instead of keeping an
    /// event for each entry.
    var isOnlyNamed: Bool { entries.allSatisfy(\.isNaming) }

    /// The naming entries up to the last one whose event is not kept. Facts restore them before the kept events are applied.
    /// That gives the right order: once another entry exists, all events of the channel are kept.
    func namings(keeping kept: SequenceSet) -> [Entry] {
        let last = entries.lastIndex { $0.isNaming && !kept.contains($0.event.sequence.rawValue) }
        return last.map { entries[...$0].filter(\.isNaming) } ?? []
    }

    /// The row, whether it is shown or not, the standing and the history; the fate is in the normal form of
    /// `ChannelFates`.
    func normalForm(names: Names) -> JSONValue {
        .object([
            "row": .object(fields.row(names: names)),
            "live": .bool(standing == .live),
            "entries": .array(entries.map { $0.normalForm(names: names) }),
        ])
    }
}

extension ChannelRecord.Entry {
    /// The entry as `history` gives it. Channels have no times of the remote and no authors.
    func historyEntry(names: Names) -> HistoryEntry {
        var members = fields.row(names: names)
        members["id"] = nil
        if case .deleted(let cause) = happening { members["cause"] = .string(cause.rawValue) }
        return HistoryEntry(at: event, change: happening.word, fields: members)
    }

    func normalForm(names: Names) -> JSONValue {
        .object([
            "event": event.normalForm,
            "change": .string(happening.word),
            "fields": .object(historyEntry(names: names).fields),
            "naming": .bool(isNaming),
        ])
    }

    /// The fact that a compaction stores for an event that only named the channel.
    func namingFact(names: Names) -> JSONObject {
        [
            "id": .string(names.text(fields.id)),
            "guild": .text(fields.guild.map { names.text($0) }),
            "event": event.normalForm,
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
        case .selected: "selected"
        case .unselected: "unselected"
        }
    }
}

extension ChannelFields {
    /// The members of the state document's row, without `source`.
    func row(names: Names) -> JSONObject {
        let details = details
        return [
            "id": .string(names.text(id)),
            "name": .text(name),
            "kind": .text(kind),
            "guild": .text(guild.map { names.text($0) }),
            "topic": .text(details.topic),
            "position": details.position.map { .int($0) },
            "parent": .text(details.parent.map { names.text($0) }),
            "recipients": details.recipients.map { .array($0.map { .string(names.text($0)) }) },
        ]
    }
}
