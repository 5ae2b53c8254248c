import EventLog

/// Which channels of its source an event can say anything of, as far as a channel's own rows go: the channel itself, its
/// messages, who types or speaks in it, what was read in it.
enum EventScope: Equatable {
    /// No channel at all: presence, members, control frames, repeats, what did not decode.
    case nothing
    case channels([EntityID])
    /// Any channel, named or not.
    case everything(naming: [EntityID])
    /// It is of an app whose events are not told apart by channel: neither are those of the whole source.
    case undivided

    /// More channels than these at once are as good as all.
    private static let countMax = 256

    /// The scope of all that one event brought.
    init(of changes: [Change]) {
        var named: [EntityID] = []
        var seen: Set<EntityID> = []
        var isOfAll = false
        for change in changes {
            for channel in change.channels where seen.insert(channel).inserted { named.append(channel) }
            isOfAll = isOfAll || change.isOfAllChannels
        }
        if isOfAll || named.count > Self.countMax {
            self = .everything(naming: named)
        } else {
            self = named.isEmpty ? .nothing : .channels(named)
        }
    }
}

extension Change {
    /// The channels that it names.
    fileprivate var channels: [EntityID] {
        switch self {
        case .channel(.named(let channel, _)), .channel(.deleted(let channel, _, _)), .channel(.stands(let channel, _)):
            [channel]
        case .channel(.stated(let fields)): [fields.id]
        case .message(.written(let write)): [write.key.channel]
        case .message(.deleted(let deletion)): [deletion.key.channel]
        case .message(.moved(let from, let to, _, _)): [from.channel, to.channel]
        case .message(.reaction(let key, _, _, _)), .message(.stands(let key, _)): [key.channel]
        case .community(.typing(let channel, _, _)): [channel]
        case .community(.voice(_, _, let channel)): channel.map { [$0] } ?? []
        case .community(.readStates(let states)): states.map(\.channel)
        case .community, .item, .session, .prompt, .row: []
        }
    }

    /// Whether it can say something of channels that it does not name: those of a guild, the one that a voice was in
    /// before, those that were read before.
    fileprivate var isOfAllChannels: Bool {
        switch self {
        case .community(.guildDeleted), .community(.voice), .community(.readStates): true
        case .community(.guildNamed), .community(.guildStated), .community(.membership), .community(.joined),
            .community(.memberStated), .community(.memberRemoved), .community(.roleStated), .community(.roleDeleted),
            .community(.ban), .community(.presence), .community(.typing):
            false
        case .channel, .message, .item, .session, .prompt, .row: false
        }
    }
}
