import EventLog

/// The channels that are gone for ever, deleted by name or with their guild, and the event that deleted each.
///
/// The result does not depend on order of arrival: a channel whose guild is gone is gone too, whichever of the two
/// became known first. Deletion by name is the stronger cause.
///
/// `Channels` and `Community` each have a copy and give it every change, so both know the same fates without seeing
/// each other.
struct ChannelFates: Codable, Sendable {
    /// Why a channel is gone, and since which event.
    struct Fate: Codable, Hashable, Sendable {
        var cause: MessageDeletion.Cause
        var event: EventReference
    }

    /// The channels that a deletion named, with its event.
    private var byName: [EntityID: EventReference] = [:]
    /// The first guild that each channel was known to be in, and the reverse, in order of discovery. Entries stay after
    /// a deletion.
    private var guildOfChannel: [EntityID: EntityID] = [:]
    private var channelsOfGuild: [EntityID: [EntityID]] = [:]
    private var deletedGuilds: [EntityID: EventReference] = [:]
    /// The events that put a channel into a guild when one of the two was already gone. Until that event the channel may
    /// have been live, so a compaction keeps the event: as a fact, known from the start, it would hide that time.
    private var lateLinks: [EntityID: EventReference] = [:]

    /// Why a channel is gone for ever; `nil` if it is not.
    func fate(of channel: EntityID) -> Fate? {
        if let event = byName[channel] { return Fate(cause: .channelDeleted, event: event) }
        guard !deletedGuilds.isEmpty, let guild = guildOfChannel[channel] else { return nil }
        return deletedGuilds[guild].map { Fate(cause: .guildDeleted, event: $0) }
    }

    /// The event since which a channel is known to be gone; `nil` if it is not. Later than its fate's event if the guild was
    /// gone before the channel was known to be in it.
    func knownEnd(of channel: EntityID) -> EventReference? {
        let withGuild = guildOfChannel[channel].flatMap { deletedGuilds[$0] }.map { deletion in
            lateLinks[channel].map { $0.sequence > deletion.sequence ? $0 : deletion } ?? deletion
        }
        return [byName[channel], withGuild].compactMap { $0 }.min { $0.sequence < $1.sequence }
    }

    /// The guild that a channel is known to be in; `nil` if none was named, as for direct messages.
    func guild(of channel: EntityID) -> EntityID? { guildOfChannel[channel] }

    /// The channels known to be in a guild, in the order in which that became known.
    func channels(inGuild guild: EntityID) -> [EntityID] { channelsOfGuild[guild] ?? [] }

    /// Applies one change and returns the channels whose fate it changed. Cost: O(1), or O(channels of the guild) for a
    /// guild's deletion.
    mutating func apply(_ change: Change, at event: EventReference) -> [EntityID] {
        switch change {
        case .channel(let change): apply(change, at: event)
        case .community(.guildDeleted(let guild)): delete(guild: guild, at: event)
        case .community, .message, .item, .session, .prompt, .row: []
        }
    }

    private mutating func apply(_ change: ChannelChange, at event: EventReference) -> [EntityID] {
        switch change {
        case .named(let channel, let guild): return link(channel, to: guild, at: event)
        case .stated(let fields): return link(fields.id, to: fields.guild, at: event)
        case .patched(let patch): return link(patch.fields.id, to: patch.fields.guild, at: event)
        case .deleted(let channel, let cause, .forever):
            let before = fate(of: channel)
            // `.guildDeleted` names a channel without its guild, so it is noted by name. It must not replace a known fate.
            if cause == .guildDeleted, before != nil { return [] }
            guard byName[channel] == nil else { return [] }
            byName[channel] = event
            return [channel]
        case .deleted, .stands: return []
        }
    }

    /// Puts a channel into a guild; the first known guild stays. Returns the channel if that changed its fate.
    private mutating func link(
        _ channel: EntityID,
        to guild: EntityID?,
        at event: EventReference? = nil
    ) -> [EntityID] {
        guard let guild, guildOfChannel[channel] == nil else { return [] }
        guildOfChannel[channel] = guild
        channelsOfGuild[guild, default: []].append(channel)
        // `event` is `nil` for a fact, and a fact is no late link.
        if deletedGuilds[guild] != nil || byName[channel] != nil { lateLinks[channel] = event }
        return deletedGuilds[guild] != nil && byName[channel] == nil ? [channel] : []
    }

    private mutating func delete(guild: EntityID, at event: EventReference) -> [EntityID] {
        guard deletedGuilds[guild] == nil else { return [] }
        deletedGuilds[guild] = event
        return channels(inGuild: guild).filter { byName[$0] == nil }
    }
}

extension ChannelFates {
    /// Adds the sequences of the events that deleted channels or guilds, and of the late links.
    func collectNeeded(into sequences: inout SequenceSet) {
        for event in byName.values { sequences.insert(event.sequence.rawValue) }
        for event in deletedGuilds.values { sequences.insert(event.sequence.rawValue) }
        for event in lateLinks.values { sequences.insert(event.sequence.rawValue) }
    }

    /// The links from channels to guilds that no kept event contains.
    func facts(names: Names) -> JSONValue {
        Self.links(guildOfChannel.filter { lateLinks[$0.key] == nil }, names)
    }

    private static func links(_ table: [EntityID: EntityID], _ names: Names) -> JSONValue {
        let links = table.sorted { names.precedes($0.key, $1.key) }
        return .array(links.map { .array([.string(names.text($0.key)), .string(names.text($0.value))]) })
    }

    /// Takes over what `facts` gave.
    mutating func load(facts: JSONValue?, names: inout Names) {
        for link in facts?.array ?? [] {
            guard let pair = link.array, pair.count == 2, let channel = pair[0].string, let guild = pair[1].string
            else {
                continue
            }
            _ = self.link(names.id(channel), to: names.id(guild))
        }
    }

    /// The whole value, in an order that depends on the ids alone.
    func normalForm(names: Names) -> JSONValue {
        .object([
            "links": Self.links(guildOfChannel, names),
            "late": Self.events(lateLinks, names),
            "channels": Self.events(byName, names),
            "guilds": Self.events(deletedGuilds, names),
        ])
    }

    private static func events(_ table: [EntityID: EventReference], _ names: Names) -> JSONValue {
        .array(
            table.sorted { names.precedes($0.key, $1.key) }
                .map { .array([.string(names.text($0.key)), $0.value.normalForm]) }
        )
    }
}

extension EventReference {
    /// The event's sequence and time of receipt (microseconds since 1970), for normal forms and facts.
    var normalForm: JSONValue {
        .array([.string(sequence.description), .int(recordedAt.microseconds)])
    }

    /// Reads what `normalForm` gave; `nil` for anything else.
    init?(normalForm: JSONValue?) {
        guard let pair = normalForm?.array, pair.count == 2, let sequence = pair[0].string.flatMap(UInt64.init),
            let microseconds = pair[1].number?.int64
        else { return nil }
        self.init(sequence: SequenceNumber(sequence), recordedAt: Timestamp(microseconds: microseconds))
    }
}
