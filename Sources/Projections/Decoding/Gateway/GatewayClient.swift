import EventLog
import JSON

/// How Retrocast's clients apply the dispatches of a gateway. Only profiles use it (I16).
///
/// Their stores have no versions and no tombstones. Each channel has a list of messages; dispatches add to it, replace
/// in it and remove from it. This type remembers the lists, which the canonical state does not contain, and rewrites
/// the decoder's changes into those that leave the folds with what a client shows.
///
/// It is no part of facts or normal forms: compactions are canonical, and a profile folds what they keep.
struct GatewayClient: Codable, Sendable {
    /// The listed messages, each with the places of its copies in its channel: element 0 is the message's own id,
    /// element *n* the id `ID#(n+1)`.
    private var messages = ListedMessages()
    /// How many messages were ever appended to a channel's list: the next place at the end. Removals do not lower it.
    private var counts: [EntityID: Int] = [:]
    /// The least place of a channel's list, at most 0: pages of older messages get negative places.
    private var fronts: [EntityID: Int] = [:]
    /// The frames of each typing user whose timers still ran at the last frame, the oldest first.
    private var typing: [EntityKey: [EventReference]] = [:]
    /// The listed channels and their copies.
    var channels = GatewayClientChannels()

    init() {}

    /// Returns the changes of a dispatch as a client sees them; unchanged under the canonical profile.
    ///
    /// - Parameters:
    ///   - changes: what the dispatch means canonically.
    ///   - data: the dispatch's `d`. A dispatch without an object there changes nothing for a client.
    ///   - user: the user whose connection is recorded; `nil` before READY.
    mutating func seen(
        _ changes: [Change],
        of event: GatewayEventName,
        in data: ValueView?,
        by user: EntityID?,
        context: inout FoldContext
    ) -> [Change] {
        if context.rules.isEmpty { return changes }
        guard let data = data?.members, Self.reads(event, data, context.rules) else { return [] }
        return changes.flatMap { change -> [Change] in
            switch change {
            case .message(.written(let write)): written(write, isCreated: event == .messageCreate, context: &context)
            case .message(.deleted(let deletion)): deleted(deletion, context: &context)
            case .community(let change): community(change, of: event, data, by: user, context: &context)
            case .channel(.stated(let fields)):
                channels.stated(fields, isCreated: event == .channelCreate, context: &context).map(Change.channel)
            case .channel(.deleted(let channel, _, _)):
                channels.deleted(channel, data, else: change, context: &context)
            case .channel(.named) where event == .ready && context.rules.contains(.readStatesAreIgnored): []
            default: [change]
            }
        } + Self.consequences(of: event, data, context: &context)
    }
}

extension GatewayClient {
    /// The place of the only copy of a message that a plain frame writes, which is listed if it is new: the usual case, in which
    /// the copy has the message's id. `nil`, without a change, if the frame is a deletion, or does something else.
    mutating func listed(_ frame: PlainFrame, _ rules: ReadingRules) -> Int? {
        guard frame.happening == .written else { return nil }
        if let known = messages.onlyPlace(of: frame.key) {
            return frame.isCreated && rules.contains(.createAlwaysAdds) ? nil : known
        }
        guard frame.isCreated || !rules.contains(.unseenMessageIsNotUpdated), !messages.contains(frame.key) else {
            return nil
        }
        let place = takeEnd(of: frame.channel)
        messages.append(place, of: frame.key)
        return place
    }

    /// The changes of a plain frame as a client sees them, but for what follows from them.
    mutating func seen(_ frame: PlainFrame, context: inout FoldContext) -> [Change] {
        switch frame.change {
        case .message(.written(let write)): written(write, isCreated: frame.isCreated, context: &context)
        case .message(.deleted(let deletion)): deleted(deletion, context: &context)
        default: []
        }
    }
}

extension GatewayClient {
    /// Whether a client applies a dispatch. It silently drops one that it cannot decode.
    ///
    /// No `default`: a new dispatch must be decided here for every client.
    private static func reads(_ event: GatewayEventName, _ data: ObjectView, _ rules: ReadingRules) -> Bool {
        // Only direct messages have recipients (`GatewayMembers.channel`).
        let isDirect = data["recipients"] != nil
        switch event {
        case .messageReactionAdd, .messageReactionRemove: return !rules.contains(.reactionsAreIgnored)
        case .guildBanAdd, .guildBanRemove: return !rules.contains(.bansAreIgnored)
        case .voiceStateUpdate: return !rules.contains(.voiceIsNotShown)
        case .guildMemberAdd: return !(rules.contains(.memberNeedsRoles) && data["roles"]?.kind != .array)
        case .guildMemberUpdate: return !rules.contains(.memberUpdateIsIgnored)
        case .guildRoleCreate, .guildRoleUpdate: return !rules.contains(.rolesAreIgnored)
        case .guildRoleDelete: return !rules.contains(.rolesAreIgnored) && finds(data["role_id"], rules)
        case .channelCreate, .channelUpdate: return !(isDirect && rules.contains(.directChannelsAreNotRead))
        case .channelDelete: return isWhole(data, "name", rules) && finds(data["id"], rules)
        case .guildDelete: return isWhole(data, "name", rules) && finds(data["id"], rules)
        case .guildMemberRemove: return isWhole(data, "joined_at", rules) && finds(data["user_id"], rules)
        case .messageCreate, .messageUpdate, .messageDelete, .guildCreate, .guildUpdate, .typingStart, .presenceUpdate,
            .ready:
            return true
        }
    }

    /// Whether a deletion passes a client's decoder. `member` is one that the whole object always has and the server's
    /// shortened deletion lacks.
    private static func isWhole(_ data: ObjectView, _ member: StaticString, _ rules: ReadingRules) -> Bool {
        !rules.contains(.deletionNeedsTheWholeObject) || data[member] != nil
    }

    /// Whether an id matches a stored text. A client that compares without conversion does not find the text `"1"` by
    /// the number `1`.
    private static func finds(_ id: ValueView?, _ rules: ReadingRules) -> Bool {
        !rules.contains(.numbersNameNothing) || id?.kind != .number
    }
}

extension GatewayClient {
    /// Returns one write for each copy that a client changes; none if it ignores the update. Adds the message to its
    /// channel's list if it is not listed, or as a further copy where creations always add.
    mutating func written(_ write: MessageWrite, isCreated: Bool, context: inout FoldContext) -> [Change] {
        let rules = context.rules
        var places = messages.places(of: write.key)
        if places.isEmpty || (isCreated && rules.contains(.createAlwaysAdds)) {
            if !isCreated, rules.contains(.unseenMessageIsNotUpdated) { return [] }
            // An update of an unlisted message adds it, except where the rule above ended the function.
            _ = add(write.key, at: takeEnd(of: write.key.channel))
            places = messages.places(of: write.key)
        }
        assert(!places.isEmpty, "a listed message has a place")
        // An update reaches every copy. A creation concerns the last copy alone: the one just added, or the only one.
        let copies = isCreated ? places.count - 1..<places.count : 0..<places.count
        return copies.map { copy in
            var seen = write
            seen.key.id = Self.id(write.key.id, copy: copy, context: &context)
            if rules.contains(.messagesStandAsTheyArrive) { seen.order = .at(places[copy]) }
            if rules.contains(.laterVersionCounts) { seen.revisesByArrival = true }
            return .message(.written(seen))
        }
    }

    /// Returns the deletion of every copy. For clients without tombstones a later creation brings the message back, and
    /// a deletion of an unlisted message does nothing.
    private mutating func deleted(_ deletion: MessageDeletion, context: inout FoldContext) -> [Change] {
        var seen = deletion
        guard context.rules.contains(.deletedMessageComesBack) else { return [.message(.deleted(seen))] }
        seen.permanence = .untilWritten
        let places = messages.remove(deletion.key)
        return places.indices.map { copy in
            seen.key.id = Self.id(deletion.key.id, copy: copy, context: &context)
            return .message(.deleted(seen))
        }
    }

    /// The id of a copy, counted from 0: `ID`, `ID#2`, `ID#3`.
    static func id(_ id: EntityID, copy: Int, context: inout FoldContext) -> EntityID {
        copy == 0 ? id : context.names.id("\(context.names.text(id))#\(copy + 1)")
    }

    /// Returns what a client makes of one change of a guild, or of something in it.
    private mutating func community(
        _ change: CommunityChange,
        of event: GatewayEventName,
        _ data: ObjectView,
        by user: EntityID?,
        context: inout FoldContext
    ) -> [Change] {
        // GUILD_CREATE makes a `joined` too, which clients do follow.
        let isOwnMember = event == .guildMemberAdd || event == .guildMemberRemove
        switch change {
        case .membership(let guilds) where context.rules.contains(.readyTakesNoGuildAway):
            // The whole set would take away the guilds that it lacks.
            return guilds.map { .community(.joined($0, true)) }
        case .joined where isOwnMember && context.rules.contains(.ownMembershipIsNotFollowed): return []
        case .readStates where context.rules.contains(.readStatesAreIgnored): return []
        case .typing(let channel, let typist, .begins):
            if typist == user, context.rules.contains(.ownTypingIsIgnored) { return [] }
            guard context.rules.contains(.typingEndsWithItsFirstTimer) else { return [.community(change)] }
            let oldest = startTimer(EntityKey(.typing, channel, typist), context.event)
            return [.community(.typing(channel: channel, user: typist, .counts(from: oldest)))]
        // From the payload, because the change's handles do not tell a number from its text, and JavaScript rounds
        // numbers only.
        case .memberStated(let guild, let member, let nickname, _) where context.rules.contains(.numbersAreRounded):
            let roles = (data["roles"]?.elements ?? []).compactMap { Self.roundedID($0, &context.names) }
            return [.community(.memberStated(guild: guild, user: member, nickname: nickname, roles: roles))]
        default: return [.community(change)]
        }
    }

    /// Starts a typing timer and returns the oldest one still running: the first to expire ends the typing.
    ///
    /// A timer that seems to start later than now is dropped too: `recordedAt` may step back between events.
    private mutating func startTimer(_ key: EntityKey, _ event: EventReference) -> EventReference {
        let now = event.recordedAt
        let running = (typing[key] ?? []).filter {
            $0.recordedAt <= now && now < TypingChange.end(ofTypingAt: $0.recordedAt)
        }
        typing[key] = running + [event]
        return running.first ?? event
    }

    /// The changes that a client makes on a dispatch beyond the dispatch's own. A member that is missing or no id has
    /// none.
    private static func consequences(
        of event: GatewayEventName,
        _ data: ObjectView,
        context: inout FoldContext
    ) -> [Change] {
        let members = GatewayMembers(data, path: "d", isChecked: false)
        switch event {
        case .messageCreate where context.rules.contains(.messageEndsTyping):
            guard let channel = try? members.id("channel_id", names: &context.names),
                let author = try? members.id("author_id", names: &context.names)
            else { return [] }
            return [.community(.typing(channel: channel, user: author, .ends))]
        case .guildUpdate where context.rules.contains(.guildUpdateListsTheGuild):
            return (try? members.id("id", names: &context.names)).map { [.community(.joined($0, true))] } ?? []
        default: return []
        }
    }

    /// An id as JavaScript has it: a number becomes the text of the nearest floating-point number. `nil` for anything
    /// but a text or a whole number from 0 on.
    private static func roundedID(_ value: ValueView, _ names: inout Names) -> EntityID? {
        if let text = value.text { return names.id(text) }
        guard let number = value.number, number.uint64 != nil else { return nil }
        return names.id(ScriptNumber.rounded(number))
    }
}

extension GatewayClient {
    /// Adds a copy of a message at a place and returns the copy's number, from 0.
    mutating func add(_ key: MessageKey, at place: Int) -> Int {
        messages.append(place, of: key)
    }

    /// Whether the channel's list contains a message.
    func has(_ key: MessageKey) -> Bool { messages.contains(key) }

    /// Takes the next place after all messages of a channel.
    mutating func takeEnd(of channel: EntityID) -> Int {
        defer { counts[channel, default: 0] += 1 }
        return counts[channel] ?? 0
    }

    /// Takes the next place before all messages of a channel: -1, -2, and so on.
    mutating func takeFront(of channel: EntityID) -> Int {
        fronts[channel, default: 0] -= 1
        return fronts[channel] ?? 0
    }

    /// Removes the messages of a channel and returns them, ordered by id, with their copies. The places given so far
    /// are not given again. Cost: O(listed messages of the source).
    mutating func takeAll(of channel: EntityID, _ names: Names) -> [(key: MessageKey, copies: Range<Int>)] {
        let keys = messages.keys(in: channel)
        let byID = Dictionary(uniqueKeysWithValues: keys.map { ($0.id, $0) })
        return names.sorted(byID.keys).compactMap { id in
            byID[id].map { ($0, messages.remove($0).indices) }
        }
    }
}
