import EventLog

/// The channels of one source, deleted ones included.
///
/// A channel exists from the first change that names it, in any role. It is gone for ever once a gateway deletes it or
/// its guild. A folder's channel comes back when a file is written below it.
struct Channels: Fold {
    /// In the order in which the channels became known; never removed, so places are stable.
    private var records: [ChannelRecord] = []
    /// The index in `records` of each channel.
    private var recordPlaces: [EntityID: Int] = [:]
    private var fates = ChannelFates()

    init() {}

    /// The channels known to be in a guild, in the order in which that became known.
    func channels(inGuild guild: EntityID) -> [EntityID] { fates.channels(inGuild: guild) }

    /// Whether a channel is in the state.
    func isLive(_ channel: EntityID) -> Bool {
        guard let place = recordPlaces[channel], fates.fate(of: channel) == nil else { return false }
        return records[place].standing == .live
    }

    /// The live channels that the remote itself has stated, in the order in which they became known: a guild's, or
    /// (`nil`) those of direct messages. Channels that were only named are left out. Cost: O(channels).
    func stated(in guild: EntityID?) -> [EntityID] {
        records.filter { record in
            let isMeant = guild == nil ? record.fields.details.recipients != nil : record.fields.guild == guild
            return isMeant && !record.isOnlyNamed && isLive(record.fields.id)
        }
        .map(\.fields.id)
    }

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        // First, so that a change cannot revive a channel that it shows to be gone. The history entries of the fallen
        // come last, after the channel has a record.
        let fallen = fates.apply(change, at: context.event)
        switch change {
        case .channel(let change): apply(change, in: &context)
        case .message(let change): change.channel.map { name($0, guild: nil, in: &context) }
        case .community, .item, .session, .prompt, .row: break
        }
        for channel in fallen { fall(channel, in: &context) }
    }

    private mutating func apply(_ change: ChannelChange, in context: inout FoldContext) {
        switch change {
        case .named(let channel, let guild): name(channel, guild: guild, in: &context)
        case .stated(let fields): state(fields, in: &context)
        case .patched(let patch): self.patch(patch, in: &context)
        case .deleted(let channel, let cause, let permanence):
            if permanence == .untilWritten { vanish(channel, cause: cause, in: &context) }
        case .stands(let channel, let isPresent): stand(channel, isPresent: isPresent, in: &context)
        }
    }

    /// Makes a channel known, and its guild if it had none. A channel that is known to be gone gets no record.
    private mutating func name(_ channel: EntityID, guild: EntityID?, in context: inout FoldContext) {
        guard let place = recordPlaces[channel] else {
            guard fates.fate(of: channel) == nil else { return }
            let place = insert(ChannelFields(id: channel, guild: guild))
            records[place].enter(.created, at: context.event, isNaming: true)
            return context.touch(EntityKey(.channels, channel))
        }
        guard let guild, records[place].fields.guild == nil else { return }
        // Of a channel that is gone nothing is told any more. If it goes by this event, its end tells the guild.
        let end = fates.knownEnd(of: channel)
        if let end, end.sequence < context.event.sequence { return }
        records[place].fields.guild = guild
        if end != nil { return }
        records[place].enter(.edited, at: context.event, isNaming: true)
        context.touch(EntityKey(.channels, channel))
    }

    /// Sets all fields, except that a statement without a guild leaves the known one.
    private mutating func state(_ fields: ChannelFields, in context: inout FoldContext) {
        guard fates.fate(of: fields.id) == nil else { return }
        if let place = recordPlaces[fields.id] {
            // A repeat makes no entry, so a compaction may drop its event.
            guard records[place].state(fields, at: context.event) else { return }
        } else {
            records[insert(fields)].enter(.created, at: context.event)
        }
        context.touch(EntityKey(.channels, fields.id))
    }

    /// Sets the fields that a patch tells. A channel that is not known is made of them; one that is gone does not come back.
    private mutating func patch(_ patch: ChannelPatch, in context: inout FoldContext) {
        guard let place = recordPlaces[patch.fields.id] else { return state(patch.fields, in: &context) }
        guard records[place].standing == .live else { return }
        state(patch.applied(to: records[place].fields), in: &context)
    }

    /// Ends a channel that may come back. Does nothing if it is not live.
    private mutating func vanish(
        _ channel: EntityID,
        cause: MessageDeletion.Cause,
        in context: inout FoldContext
    ) {
        guard let place = recordPlaces[channel], records[place].standing == .live, fates.fate(of: channel) == nil else {
            return
        }
        records[place].standing = .deleted
        records[place].enter(.deleted(cause), at: context.event)
        context.touch(EntityKey(.channels, channel))
    }

    /// Makes a known channel appear or vanish without a history entry.
    private mutating func stand(_ channel: EntityID, isPresent: Bool, in context: inout FoldContext) {
        guard let place = recordPlaces[channel], fates.fate(of: channel) == nil else { return }
        records[place].standing = isPresent ? .live : .deleted
        context.touch(EntityKey(.channels, channel))
    }

    /// Records that a channel is gone for ever, alone or with its guild, at the event that told so: it may turn out late to be
    /// in a guild that was deleted long before.
    private mutating func fall(_ channel: EntityID, in context: inout FoldContext) {
        guard let fate = fates.fate(of: channel) else { return }
        let place = recordPlaces[channel] ?? insert(ChannelFields(id: channel, guild: fates.guild(of: channel)))
        records[place].enter(.deleted(fate.cause), at: context.event)
        context.touch(EntityKey(.channels, channel))
    }

    private mutating func insert(_ fields: ChannelFields) -> Int {
        assert(recordPlaces[fields.id] == nil, "a channel has one record")
        recordPlaces[fields.id] = records.count
        records.append(ChannelRecord(fields: fields))
        return records.count - 1
    }
}

extension Channels {
    /// The live channels, in the order of their ids.
    func keys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .channels else { return [] }
        return records.map(\.fields.id).filter(isLive).sorted { names.precedes($0, $1) }.map {
            EntityKey(.channels, $0)
        }
    }

    /// What a channel was called last; `nil` if no event told.
    func name(of channel: EntityID) -> String? { recordPlaces[channel].flatMap { records[$0].fields.name } }

    /// All channels that have a record, deleted ones included.
    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .channels else { return [] }
        return records.map(\.fields.id).sorted { names.precedes($0, $1) }.map { EntityKey(.channels, $0) }
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard key.section == .channels, isLive(key.first), let place = recordPlaces[key.first] else { return nil }
        return .object(records[place].fields.row(names: context.names))
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        entries(for: key, context)?.map { $0.historyEntry(names: context.names) }
    }

    /// The entries of a channel, with the one for the tip of a branch. A channel that is gone for ever has its end.
    private func entries(for key: EntityKey, _ context: RowContext) -> [ChannelRecord.Entry]? {
        guard key.section == .channels, let record = recordPlaces[key.first].map({ records[$0] }) else { return nil }
        guard fates.fate(of: key.first) == nil, let selection = context.tip.flatMap({ record.selection(at: $0) }) else {
            return record.entries
        }
        return record.entries + [selection]
    }

    /// Makes only the entries in `places`, unlike the default.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        guard let entries = entries(for: key, context) else { return [] }
        return entries[places.clamped(to: entries.indices)].map { $0.historyEntry(names: context.names) }[...]
    }

    /// Drops nothing; `facts` condense the channels that were only named.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    /// Adds the events of the fates, and all events of channels that were not only named.
    func collectNeeded(into sequences: inout SequenceSet) {
        fates.collectNeeded(into: &sequences)
        for record in records where !record.isOnlyNamed {
            for entry in record.entries { sequences.insert(entry.event.sequence.rawValue) }
        }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for place in sortedPlaces(names) { take(records[place].normalForm(names: names)) }
        take(fates.normalForm(names: names))
    }

    private func sortedPlaces(_ names: Names) -> [Int] {
        records.indices.sorted { names.precedes(records[$0].fields.id, records[$1].fields.id) }
    }

    /// The channels that only dropped events named, and the links to guilds. Keeping an event for each would be too
    /// much: every message names its channel.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue {
        let namings = sortedPlaces(names).lazy.flatMap { records[$0].namings(keeping: kept) }
        let named = namings.map { JSONValue.object($0.namingFact(names: names)) }
        return .object(["named": .array(Array(named)), "links": fates.facts(names: names)])
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let named = facts["named"]?.array else { throw ProjectionError.facts("channels have no `named`") }
        for fact in named {
            guard let id = fact["id"]?.string, let event = EventReference(normalForm: fact["event"]) else {
                throw ProjectionError.facts("a named channel has no id or event")
            }
            let guild = fact["guild"]?.string.map { names.id($0) }
            var context = FoldContext(names: names, event: event)
            // With the event that named it then, so the entry is the same. `name` makes no handles, so a copy of
            // `names` will do.
            name(names.id(id), guild: guild, in: &context)
        }
        fates.load(facts: facts["links"], names: &names)
    }
}

extension MessageChange {
    /// The channel that the change names; `nil` for `stands`, which concerns known messages only.
    fileprivate var channel: EntityID? {
        switch self {
        case .written(let write): write.key.channel
        case .deleted(let deletion): deletion.key.channel
        case .moved(_, let to, _, _): to.channel
        case .reaction(let key, _, _, _): key.channel
        case .stands, .reactions, .withdrawn: nil
        }
    }
}
