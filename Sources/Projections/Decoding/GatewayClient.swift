import EventLog

/// What Retrocast's clients make of the dispatches of a gateway.
///
/// Their stores know no versions and no tombstones: a list of messages per channel that is added to, replaced in and
/// taken from as dispatches arrive.
struct GatewayClient: Codable, Sendable {
    /// The messages that a client has, each with the places of its copies in its channel.
    private var messages: [MessageKey: [Int]] = [:]
    /// How many messages a channel ever got.
    private var counts: [EntityID: Int] = [:]
    /// When each typing user was first seen typing.
    private var typing: [EntityKey: Timestamp] = [:]

    /// How long somebody is shown as typing, in seconds.
    private static let typingSeconds: Int64 = 8

    init() {}

    /// The changes of a dispatch as a client sees them; canonically the changes themselves.
    mutating func seen(
        _ changes: [Change],
        of event: GatewayEventName,
        in data: JSONValue?,
        by user: EntityID?,
        context: inout FoldContext
    ) -> [Change] {
        if context.rules.isEmpty { return changes }
        guard let data = data?.object, Self.reads(event, data, context.rules) else { return [] }
        return changes.flatMap { change -> [Change] in
            switch change {
            case .message(.written(let write)): written(write, isCreated: event == .messageCreate, context: &context)
            case .message(.deleted(let deletion)): deleted(deletion, context: &context)
            case .community(let change): community(change, data, by: user, context: &context).map(Change.community)
            case .channel(.stated(let fields)): [.channel(.stated(Self.channel(fields, &context)))]
            default: [change]
            }
        }
    }
}

extension GatewayClient {
    /// Whether a client does anything with a dispatch. What it fails to decode it drops without a word.
    private static func reads(_ event: GatewayEventName, _ data: JSONObject, _ rules: ReadingRules) -> Bool {
        let isDirect = data["recipients"] != nil
        switch event {
        case .messageReactionAdd, .messageReactionRemove: return !rules.contains(.reactionsAreIgnored)
        case .guildBanAdd, .guildBanRemove: return !rules.contains(.bansAreIgnored)
        case .voiceStateUpdate: return !rules.contains(.voiceIsNotShown)
        case .guildMemberAdd: return !(rules.contains(.memberNeedsRoles) && data["roles"]?.array == nil)
        case .guildMemberUpdate: return !rules.contains(.memberUpdateIsIgnored)
        case .guildRoleCreate, .guildRoleUpdate: return !rules.contains(.rolesAreIgnored)
        case .guildRoleDelete: return !rules.contains(.rolesAreIgnored) && finds(data["role_id"], rules)
        case .channelCreate, .channelUpdate: return !(isDirect && rules.contains(.directChannelsAreNotRead))
        case .channelDelete:
            if isDirect && rules.contains(.directChannelsAreOfNoKnownGuild) { return false }
            return isWhole(data, "name", rules) && finds(data["id"], rules)
        case .guildDelete: return isWhole(data, "name", rules) && finds(data["id"], rules)
        case .guildMemberRemove: return isWhole(data, "joined_at", rules) && finds(data["user_id"], rules)
        case .messageCreate, .messageUpdate, .messageDelete, .guildCreate, .guildUpdate, .typingStart, .presenceUpdate,
            .ready:
            return true
        }
    }

    private static func isWhole(_ data: JSONObject, _ member: String, _ rules: ReadingRules) -> Bool {
        !rules.contains(.deletionNeedsTheWholeObject) || data[member] != nil
    }

    /// Whether an id finds what is stored under a text.
    private static func finds(_ id: JSONValue?, _ rules: ReadingRules) -> Bool {
        !rules.contains(.numbersNameNothing) || id?.number == nil
    }
}

extension GatewayClient {
    private mutating func written(_ write: MessageWrite, isCreated: Bool, context: inout FoldContext) -> [Change] {
        let rules = context.rules
        var places = messages[write.key] ?? []
        if places.isEmpty || (isCreated && rules.contains(.createAlwaysAdds)) {
            if !isCreated, rules.contains(.unseenMessageIsNotUpdated) { return [] }
            let count = counts[write.key.channel] ?? 0
            counts[write.key.channel] = count + 1
            places.append(count)
            messages[write.key] = places
        }
        // An update reaches every copy, a creation makes the last.
        let copies = isCreated ? places.count - 1..<places.count : 0..<places.count
        return copies.map { copy in
            var seen = write
            seen.key.id = Self.id(write.key.id, copy: copy, context: &context)
            if rules.contains(.messagesStandAsTheyArrive) { seen.order = .at(places[copy]) }
            if rules.contains(.laterVersionCounts) { seen.revisesByArrival = true }
            return .message(.written(seen))
        }
    }

    private mutating func deleted(_ deletion: MessageDeletion, context: inout FoldContext) -> [Change] {
        var seen = deletion
        guard context.rules.contains(.deletedMessageComesBack) else { return [.message(.deleted(seen))] }
        seen.permanence = .untilWritten
        let places = messages.removeValue(forKey: deletion.key) ?? []
        return places.indices.map { copy in
            seen.key.id = Self.id(deletion.key.id, copy: copy, context: &context)
            return .message(.deleted(seen))
        }
    }

    private static func id(_ id: EntityID, copy: Int, context: inout FoldContext) -> EntityID {
        copy == 0 ? id : context.names.id("\(context.names.text(id))#\(copy + 1)")
    }

    private mutating func community(
        _ change: CommunityChange,
        _ data: JSONObject,
        by user: EntityID?,
        context: inout FoldContext
    ) -> [CommunityChange] {
        switch change {
        case .membership(let guilds) where context.rules.contains(.readyTakesNoGuildAway):
            return guilds.map { .joined($0, true) }
        case .typing(let channel, let typist):
            if typist == user, context.rules.contains(.ownTypingIsIgnored) { return [] }
            return startsTyping(EntityKey(.typing, channel, typist), context) ? [change] : []
        case .memberStated(let guild, let member, let nickname, _) where context.rules.contains(.numbersAreRounded):
            let roles = (data["roles"]?.array ?? []).compactMap { Self.roundedID($0, &context.names) }
            return [.memberStated(guild: guild, user: member, nickname: nickname, roles: roles)]
        default: return [change]
        }
    }

    private mutating func startsTyping(_ key: EntityKey, _ context: FoldContext) -> Bool {
        guard context.rules.contains(.typingEndsWithItsFirstTimer) else { return true }
        let now = context.event.recordedAt
        if let start = typing[key], start <= now,
            now < Timestamp(seconds: start.seconds + Self.typingSeconds, nanoseconds: start.nanoseconds)
        {
            return false
        }
        typing[key] = now
        return true
    }

    /// An id as JavaScript has it: a number's text is that of the nearest floating-point number.
    private static func roundedID(_ value: JSONValue, _ names: inout Names) -> EntityID? {
        if let text = value.string { return names.id(text) }
        guard let number = value.number, number.uint64 != nil else { return nil }
        return names.id(JSONValue.number(JSONNumber(unchecked: number.text + ".0")).canonicalText)
    }

    private static func channel(_ fields: ChannelFields, _ context: inout FoldContext) -> ChannelFields {
        guard fields.recipients != nil, context.rules.contains(.directChannelsAreOfNoKnownGuild) else { return fields }
        var seen = fields
        seen.guild = context.names.id("undefined")
        return seen
    }
}
