import EventLog

/// How a client of any app applies the changes that a decoder file reads, where reading rules of any app depart from what
/// the remote meant. Only profiles use it (I16).
///
/// What is shown is what the folds hold, so this type remembers little: how often a message is shown, what was shown since the
/// last connection opened, and how many messages were listed. It knows changes, never payloads.
///
/// It is no part of facts or normal forms: compactions are canonical, and a profile folds what they keep.
struct GenericClient: Codable, Sendable {
    /// The most copies of one message, and of one reaction: each edit reaches every copy, so that their number multiplies the
    /// cost of an event.
    static let copiesMax = 16

    /// How often each message is shown that is shown more than once.
    private var copies: [MessageKey: Int] = [:]
    /// The things that were stated since the last connection opened, numbered in that order. Empty without the rule that
    /// drops them.
    private var shown: [EntityKey: Int] = [:]
    /// How many messages were listed: the next place at the end. Zero without the rule that lists them so.
    private var listedCount = 0

    init() {}

    /// What the folds hold before a change.
    struct Folds {
        let messages: Messages
        let items: Items
    }

    /// The changes that a client makes of one that the remote meant; the change alone where no rule applies. Cost: O(1),
    /// and O(copies of the message).
    mutating func seen(_ change: Change, in folds: Folds, context: inout FoldContext) -> [Change] {
        let seen: [Change] =
            switch change {
            case .message(let change): self.seen(change, folds.messages, &context).map { .message($0) }
            case .channel(.deleted(let channel, let cause, .forever)) where context.rules.contains(.deletedComesBack):
                [.channel(.deleted(channel, cause: cause, permanence: .untilWritten))]
            case .item(.stated(let list, let item, _)) where context.rules.contains(.editsAreIgnored):
                folds.items.place(of: EntityKey(.items, list, item.id), names: context.names) == nil ? [change] : []
            case .item(.patched(var patch)): patched(&patch, folds.items, context)
            case .channel(.patched(var patch)) where context.rules.contains(.patchReplacesTheWhole):
                whole(&patch)
            default: [change]
            }
        if context.rules.contains(.openingDropsWhatIsShown) {
            for key in seen.compactMap(\.statedKey) where shown[key] == nil { shown[key] = shown.count }
        }
        return seen
    }

    /// What goes when a connection opens: all that was shown, in the order in which it was stated. Cost: O(n log n) in the things stated
    /// since the last time.
    mutating func dropped(_ messages: Messages) -> [Change] {
        let dropped = shown.sorted { $0.value < $1.value }.compactMap { $0.key.removal(messages) }
        shown = [:]
        return dropped
    }
}

extension GenericClient {
    private func patched(_ patch: inout ItemPatch, _ items: Items, _ context: FoldContext) -> [Change] {
        let isShown = patch.home.map {
            items.place(of: EntityKey(.items, $0, patch.item.id), names: context.names) != nil
        }
        if isShown ?? false, context.rules.contains(.editsAreIgnored) { return [] }
        patch.isWhole = context.rules.contains(.patchReplacesTheWhole)
        return [.item(.patched(patch))]
    }

    private func whole(_ patch: inout ChannelPatch) -> [Change] {
        patch.isWhole = true
        return [.channel(.patched(patch))]
    }

    private mutating func seen(
        _ change: MessageChange,
        _ messages: Messages,
        _ context: inout FoldContext
    ) -> [MessageChange] {
        let rules = context.rules
        switch change {
        case .written(let write): return written(write, messages, &context)
        case .deleted(var deletion):
            let shown = deletion.key
            if messages.state(of: shown) != .live, rules.contains(.deletionOfUnseenIsForgotten) { return [] }
            if rules.contains(.deletedComesBack) { deletion.permanence = .untilWritten }
            defer { copies[shown] = nil }
            return each(of: shown, &context) { key in
                deletion.key = key
                return .deleted(deletion)
            }
        case .withdrawn(let key, let version):
            if rules.contains(.editsAreIgnored) { return [] }
            return each(of: key, &context) { .withdrawn($0, version: version) }
        case .reactions(let key, .set(let reaction, let isPresent)) where rules.contains(.reactionsAreCounted):
            let counted = counted(reaction, isPresent, of: key, messages, &context)
            return each(of: key, &context) { .reactions($0, .set(counted, isPresent: isPresent)) }
        case .reactions(let key, .cleared(let emoji, let user?)) where rules.contains(.reactionsAreCounted):
            return (0..<Self.copiesMax).flatMap { copy in
                let counted = GatewayClient.id(user, copy: copy, context: &context)
                return each(of: key, &context) { .reactions($0, .cleared(emoji: emoji, user: counted)) }
            }
        case .reactions(let key, let change): return each(of: key, &context) { .reactions($0, change) }
        case .moved, .reaction, .stands: return [change]
        }
    }

    private mutating func written(
        _ write: MessageWrite,
        _ messages: Messages,
        _ context: inout FoldContext
    ) -> [MessageChange] {
        let rules = context.rules
        var write = write
        if messages.state(of: write.key) == .live {
            if rules.contains(.statedAgainIsAdded), let copy = messages.repeated(write, context.rules) {
                return added(copy, &context)
            }
            if rules.contains(.editsAreIgnored) { return [] }
            if rules.contains(.messagesAreListedAsTheyCame) {
                write.order = messages.order(of: write.key) ?? write.order
            }
        } else {
            copies[write.key] = nil
            if let parent = write.saying.replyTo, rules.contains(.replyToMissingIsDropped),
                messages.state(of: MessageKey(channel: write.key.channel, id: parent)) != .live
            {
                return []
            }
            if rules.contains(.messagesAreListedAsTheyCame) { write.order = takePlace() }
        }
        return each(of: write.key, &context) { key in
            write.key = key
            return .written(write)
        }
    }

    /// One more copy of a message that is stated again; none beyond the most.
    private mutating func added(_ write: MessageWrite, _ context: inout FoldContext) -> [MessageChange] {
        let count = copies[write.key] ?? 1
        guard count < Self.copiesMax else { return [] }
        copies[write.key] = count + 1
        var copy = write
        copy.key.id = GatewayClient.id(write.key.id, copy: count, context: &context)
        copy.meeting = .replaces
        if context.rules.contains(.messagesAreListedAsTheyCame) { copy.order = takePlace() }
        return [.written(copy)]
    }

    /// The change of each copy of a message.
    private func each(
        of key: MessageKey,
        _ context: inout FoldContext,
        _ change: (MessageKey) -> MessageChange
    ) -> [MessageChange] {
        (0..<(copies[key] ?? 1)).map { copy in
            let id = GatewayClient.id(key.id, copy: copy, context: &context)
            return change(MessageKey(channel: key.channel, id: id))
        }
    }

    private mutating func takePlace() -> MessageOrder {
        defer { listedCount += 1 }
        return .at(listedCount)
    }

    /// The reaction as one that is counted: of the first of `USER`, `USER#2` and so on who has not reacted so; a removal is
    /// that of the last who has. The most that are counted are `copiesMax`.
    private func counted(
        _ reaction: ReactionChange.Reaction,
        _ isPresent: Bool,
        of key: MessageKey,
        _ messages: Messages,
        _ context: inout FoldContext
    ) -> ReactionChange.Reaction {
        var last = reaction
        for copy in 0..<Self.copiesMax {
            let user = GatewayClient.id(reaction.user, copy: copy, context: &context)
            let counted = ReactionChange.Reaction(emoji: reaction.emoji, user: user)
            guard messages.has(counted, on: key) else { return isPresent ? counted : last }
            last = counted
        }
        return last
    }
}

extension Change {
    /// The key of the thing that the change states; `nil` for other changes, and for what no change removes.
    fileprivate var statedKey: EntityKey? {
        switch self {
        case .message(.written(let write)): EntityKey(.messages, write.key.channel, write.key.id)
        case .channel(.stated(let fields)): EntityKey(.channels, fields.id)
        case .community(.memberStated(let guild, let user, _, _)): EntityKey(.members, guild, user)
        case .item(.stated(let list, let item, _)): EntityKey(.items, list, item.id)
        case .channel(.patched(let patch)): EntityKey(.channels, patch.fields.id)
        case .item(.patched(let patch)): EntityKey(.items, patch.list, patch.item.id)
        case .session(.observed(let fields)): EntityKey(.sessions, fields.id)
        default: nil
        }
    }
}

extension EntityKey {
    /// The change that takes a thing out of what is shown; `nil` if that is no change.
    fileprivate func removal(_ messages: Messages) -> Change? {
        switch section {
        case .messages:
            let key = MessageKey(channel: first, id: second)
            guard messages.state(of: key) == .live else { return nil }
            return .message(
                .deleted(MessageDeletion(key: key, cause: .leftOut, permanence: .untilWritten, isOfChannel: true))
            )
        case .channels: return .channel(.deleted(first, cause: .leftOut, permanence: .untilWritten))
        case .members: return .community(.memberRemoved(guild: first, user: second))
        case .items: return .item(.removed(list: first, id: second))
        case .sessions: return .session(.removed(first))
        default: return nil
        }
    }
}
