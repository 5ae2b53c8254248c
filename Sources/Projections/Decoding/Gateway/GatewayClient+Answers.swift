import EventLog

/// What Retrocast's clients make of answers: a page of messages or a list of channels takes the place of what they have.
extension GatewayClient {
    /// The changes of an answer as a client sees them.
    mutating func seen(_ answer: GatewayAnswer, context: inout FoldContext) -> [Change] {
        let rules = context.rules
        var changes = answer.changes.flatMap { change -> [Change] in
            switch change {
            case .message(.written(let write)): answer.page == nil ? update(write, context: &context) : []
            case .message(.reaction): rules.contains(.reactionsAreIgnored) ? [] : [change]
            case .channel(.stated(let fields)): channels.listed(fields, context: &context)
            case .community(let said): community(said, rules) ? [rounded(said, &context)] : []
            default: [change]
            }
        }
        switch answer.page {
        case .first(let channel) where rules.contains(.answersReplaceLists):
            changes += replacement(of: channel, by: answer.writes, context: &context)
        case .first: changes += answer.writes.reversed().flatMap { add($0, context: &context) }
        case .older: changes += answer.writes.flatMap { put($0, inFront: true, context: &context) }
        case .found, nil: break
        }
        return changes
    }

    /// Whether a client keeps what an answer says of a guild.
    private func community(_ change: CommunityChange, _ rules: ReadingRules) -> Bool {
        switch change {
        case .ban: !rules.contains(.bansAreIgnored)
        case .voice: !rules.contains(.voiceIsNotShown)
        case .readStates: !rules.contains(.readStatesAreIgnored)
        case .roleStated, .roleDeleted: !rules.contains(.rolesAreIgnored)
        default: true
        }
    }

    /// A member with the roles that JavaScript's numbers name.
    private func rounded(_ change: CommunityChange, _ context: inout FoldContext) -> Change {
        guard case .memberStated(let guild, let user, let nickname, let roles) = change,
            context.rules.contains(.numbersAreRounded)
        else { return .community(change) }
        let seen = roles.map { context.names.id(JSONNumber(unchecked: context.names.text($0) + ".0").canonicalText) }
        return .community(.memberStated(guild: guild, user: user, nickname: nickname, roles: seen))
    }

    /// A message that was asked for alone, or that an answer to a request of the client's own states.
    private mutating func update(_ write: MessageWrite, context: inout FoldContext) -> [Change] {
        written(write, isCreated: false, context: &context)
    }

    /// A message of a page that leaves the list as it is: an update of one that is listed, else the last one.
    private mutating func add(_ write: MessageWrite, context: inout FoldContext) -> [Change] {
        has(write.key) ? update(write, context: &context) : put(write, inFront: false, context: &context)
    }

    /// The first page is all that a client has of a channel then; copies and older messages are gone from its list.
    private mutating func replacement(
        of channel: EntityID,
        by writes: [MessageWrite],
        context: inout FoldContext
    ) -> [Change] {
        let gone = takeAll(of: channel, context.names).flatMap { key, copies in
            copies.map { copy -> Change in
                let id = Self.id(key.id, copy: copy, context: &context)
                return .message(.stands(MessageKey(channel: key.channel, id: id), .nowhere))
            }
        }
        return gone + writes.reversed().flatMap { put($0, inFront: false, context: &context) }
    }

    /// Adds a message of a page: at the end of the list, or before all that a client has of the channel.
    private mutating func put(_ write: MessageWrite, inFront: Bool, context: inout FoldContext) -> [Change] {
        var seen = write
        let place = inFront ? takeFront(of: write.key.channel) : takeEnd(of: write.key.channel)
        let copy = add(write.key, at: place)
        seen.key.id = Self.id(write.key.id, copy: copy, context: &context)
        if context.rules.contains(.messagesStandAsTheyArrive) { seen.order = .at(place) }
        if context.rules.contains(.laterVersionCounts) { seen.revisesByArrival = true }
        return [.message(.written(seen))]
    }
}
