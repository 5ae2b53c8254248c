import EventLog

/// The channels of its source whose rows an event can change: the channel itself, its messages, who types or speaks in
/// it, what was read in it. May contain too many channels, which costs time, never too few, which would be wrong (I21).
enum EventScope: Equatable {
    /// No channel: presence, members, control frames, repeats, payloads that did not decode.
    case nothing
    case channels([EntityID])
    /// Any channel, named or not.
    case everything(naming: [EntityID])
    /// The app's events are not told apart by channel, so the source cannot be divided.
    case undivided

    /// An event that names more channels than this concerns all.
    private static let countMax = 256

    /// The scope of all changes of one event.
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
    /// The channels that the change names. Switches without `default`, here and below, so that a new change must
    /// decide.
    fileprivate var channels: [EntityID] {
        switch self {
        case .channel(.named(let channel, _)), .channel(.deleted(let channel, _, _)), .channel(.stands(let channel, _)):
            [channel]
        case .channel(.stated(let fields)): [fields.id]
        case .channel(.patched(let patch)): [patch.fields.id]
        case .message(.written(let write)): [write.key.channel]
        case .message(.deleted(let deletion)): [deletion.key.channel]
        case .message(.moved(let from, let to, _, _)): [from.channel, to.channel]
        case .message(.reaction(let key, _, _, _)), .message(.stands(let key, _)), .message(.reactions(let key, _)),
            .message(.withdrawn(let key, _)):
            [key.channel]
        case .community(.typing(let channel, _, _)): [channel]
        case .community(.voice(_, _, let channel)): channel.map { [$0] } ?? []
        case .community(.readStates(let states)): states.map(\.channel)
        case .community, .item, .session, .prompt, .row: []
        }
    }

    /// The messages that the change names.
    var messages: [MessageKey] {
        guard case .message(let change) = self else { return [] }
        return switch change {
        case .written(let write): [write.key]
        case .deleted(let deletion): [deletion.key]
        case .moved(let from, let to, _, _): [from, to]
        case .reaction(let key, _, _, _), .stands(let key, _), .reactions(let key, _), .withdrawn(let key, _): [key]
        }
    }

    /// Whether the change can concern channels that it does not name: a guild's channels, the voice channel that a user
    /// leaves, the channels of earlier read states.
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

    /// Whether the change touches no rows but those of the channels that it names, the row of a new guild aside: that one
    /// is touched in the fold of the channel, too, whose events may not have named the guild before.
    var isOfNamedChannels: Bool {
        switch self {
        case .message(.moved): false
        case .channel, .message, .community(.typing), .community(.guildNamed): true
        case .community(.guildDeleted), .community(.voice), .community(.readStates), .community(.guildStated),
            .community(.membership), .community(.joined), .community(.memberStated), .community(.memberRemoved),
            .community(.roleStated), .community(.roleDeleted), .community(.ban), .community(.presence):
            false
        case .item, .session, .prompt, .row: false
        }
    }
}
