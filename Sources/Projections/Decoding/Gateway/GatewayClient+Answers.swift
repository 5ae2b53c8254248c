import EventLog

/// How Retrocast's clients apply answers: a page of messages or a list of channels replaces their own list.
extension GatewayClient {
    /// Returns the changes of an answer as a client sees them. The answer's complete sets are not in it:
    /// `SourceState.readAnswer` adds their removals.
    mutating func seen(_ answer: GatewayAnswer, context: inout FoldContext) -> [Change] {
        let rules = context.rules
        var changes = answer.changes.flatMap { change -> [Change] in
            switch change {
            // The messages of a page are applied below, in the page's order.
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
        // A page lists the newest message first; the client's list has the newest last.
        case .first: changes += answer.writes.reversed().flatMap { add($0, context: &context) }
        // The newest first, each before the one above: the oldest ends at the front.
        case .older: changes += answer.writes.flatMap { put($0, inFront: true, context: &context) }
        // The results of a search enter no channel's list.
        case .found, nil: break
        }
        return changes
    }

    /// Whether a client applies an answer's change to a guild.
    private func community(_ change: CommunityChange, _ rules: ReadingRules) -> Bool {
        switch change {
        case .ban: !rules.contains(.bansAreIgnored)
        case .voice: !rules.contains(.voiceIsNotShown)
        case .readStates: !rules.contains(.readStatesAreIgnored)
        case .roleStated, .roleDeleted: !rules.contains(.rolesAreIgnored)
        default: true
        }
    }

    /// Rounds a member's role ids as JavaScript rounds numbers. The change does not tell which ids were numbers, so all
    /// of them are taken for numbers.
    private func rounded(_ change: CommunityChange, _ context: inout FoldContext) -> Change {
        guard case .memberStated(let guild, let user, let nickname, let roles) = change,
            context.rules.contains(.numbersAreRounded)
        else { return .community(change) }
        let seen = roles.map { role in
            context.names.id(ScriptNumber.rounded(JSONNumber(unchecked: context.names.text(role))))
        }
        return .community(.memberStated(guild: guild, user: user, nickname: nickname, roles: seen))
    }

    /// Applies a message that is the whole answer, or an update of a listed one.
    private mutating func update(_ write: MessageWrite, context: inout FoldContext) -> [Change] {
        written(write, isCreated: false, context: &context)
    }

    /// Applies one message of a page that extends the list: updates a listed message, else appends it.
    private mutating func add(_ write: MessageWrite, context: inout FoldContext) -> [Change] {
        has(write.key) ? update(write, context: &context) : put(write, inFront: false, context: &context)
    }

    /// Replaces a channel's list by the first page; its copies and older messages leave the list. They are hidden and
    /// not deleted, because nobody deleted them.
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

    /// Adds a message of a page at the end of the channel's list, or at its front. A message that is listed already
    /// gets a further copy.
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
