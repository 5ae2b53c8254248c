/// The channels that one of Retrocast's clients lists, a list per guild. Only profiles use it.
///
/// Channels of direct messages have no guild; the web client files them under the guild `undefined`, the text that
/// JavaScript makes of a missing `guild_id`.
struct GatewayClientChannels: Codable, Sendable {
    /// How many copies of a channel a guild's list contains, at least 1. Keys are guild, then channel; the guild is
    /// `EntityID.none` for direct messages.
    private var copies: [EntityKey: Int] = [:]

    /// Applies a channel's fields: a creation may add a copy, an update changes every copy. Empty if the client ignores
    /// the update.
    mutating func stated(_ fields: ChannelFields, isCreated: Bool, context: inout FoldContext) -> [ChannelChange] {
        var seen = fields
        if fields.details.recipients != nil, context.rules.contains(.directChannelsAreOfNoKnownGuild) {
            seen.guild = context.names.id("undefined")
        }
        let key = Self.key(fields.id, in: seen.guild)
        let count = copies[key] ?? 0
        if !isCreated, count == 0, context.rules.contains(.unseenChannelIsNotUpdated) { return [] }
        let adds = count == 0 || (isCreated && context.rules.contains(.createAlwaysAdds))
        if adds { copies[key] = count + 1 }
        // A creation concerns one copy, the last: the one it adds or, where it adds none, the newest there is.
        let places = isCreated ? (adds ? count : count - 1)..<(adds ? count + 1 : count) : 0..<max(count, 1)
        assert(!places.isEmpty, "a channel with new fields has at least one copy")
        return places.map { copy in
            seen.id = GatewayClient.id(fields.id, copy: copy, context: &context)
            return .stated(seen)
        }
    }

    /// Deletes a channel: every copy leaves the list. It can be created again, and its messages stay.
    ///
    /// - Parameters:
    ///   - data: the dispatch's `d`, which alone names the guild; the canonical change does not.
    ///   - canonical: returned unchanged for clients that keep deleted channels deleted.
    mutating func deleted(
        _ channel: EntityID,
        _ data: ObjectView,
        else canonical: Change,
        context: inout FoldContext
    ) -> [Change] {
        guard context.rules.contains(.deletedMessageComesBack) else { return [canonical] }
        // A guild named by a number is not found among texts, so nothing is hidden.
        var guild = data["guild_id"]?.text.map { context.names.id($0) }
        if guild == nil, context.rules.contains(.directChannelsAreOfNoKnownGuild) {
            guild = context.names.id("undefined")
        }
        let key = Self.key(channel, in: guild)
        defer { copies[key] = nil }
        return hidden(key, from: 0, context: &context)
    }

    /// Applies a channel of a list that the client requested: exactly one copy remains, the one with the plain id.
    mutating func listed(_ fields: ChannelFields, context: inout FoldContext) -> [Change] {
        let key = Self.key(fields.id, in: fields.guild)
        let others = hidden(key, from: 1, context: &context)
        copies[key] = 1
        return others + [.channel(.stated(fields))]
    }

    /// Hides every listed channel of a guild that is not in `ids`; a `nil` guild means direct messages. Changes are in
    /// the order of the ids.
    mutating func keep(_ ids: Set<EntityID>, in guild: EntityID?, context: inout FoldContext) -> [Change] {
        let keys = copies.keys.filter { $0.first == guild ?? .none && !ids.contains($0.second) }
        return context.names.sorted(keys).flatMap { key in
            defer { copies[key] = nil }
            return hidden(key, from: 0, context: &context)
        }
    }

    /// The changes that hide the copies of a channel from number `first` on, counted from 0. Does not change `copies`.
    private func hidden(_ key: EntityKey, from first: Int, context: inout FoldContext) -> [Change] {
        (first..<max(first, copies[key] ?? 0)).map { copy in
            .channel(.stands(GatewayClient.id(key.second, copy: copy, context: &context), isPresent: false))
        }
    }

    private static func key(_ channel: EntityID, in guild: EntityID?) -> EntityKey {
        EntityKey(.channels, guild ?? .none, channel)
    }
}
