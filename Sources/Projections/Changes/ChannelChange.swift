/// A change of a channel.
enum ChannelChange {
    /// Something else named the channel. It exists from now on, unless it was deleted; the guild is known or `nil`.
    case named(EntityID, guild: EntityID?)
    /// The remote stated all fields of the channel.
    case stated(ChannelFields)
    /// The remote stated some fields of the channel; the others stay. A channel that is gone stays so.
    case patched(ChannelPatch)
    /// The channel is gone, and its messages with it.
    case deleted(EntityID, cause: MessageDeletion.Cause, permanence: Permanence)
    /// The channel appeared or vanished because a branch's tip moved. Nobody made or removed it, so it gets no history
    /// entry.
    case stands(EntityID, isPresent: Bool)
}

/// Whether something deleted can come back.
enum Permanence: Codable, Hashable, Sendable {
    /// The id is never used again: the thing stays deleted whatever arrives (gateways).
    case forever
    /// A later write brings the thing back (files, rows).
    case untilWritten
}

/// A channel as a remote states it; absent members are `nil`.
struct ChannelFields: Codable, Equatable, Sendable {
    /// What gateways alone state, in memory of its own: most channels have none of it, and each entry of a channel's history
    /// has its fields.
    struct Details: Codable, Equatable, Sendable {
        var topic: String?
        var position: Int64?
        var parent: EntityID?
        var recipients: [EntityID]?

        static func == (left: Details, right: Details) -> Bool {
            Sameness.areSame(left.topic, right.topic) && left.position == right.position && left.parent == right.parent
                && left.recipients == right.recipients
        }
    }

    /// Indirect, so that absent details take a word.
    private indirect enum Box: Codable, Equatable, Sendable {
        case details(Details)
    }

    var id: EntityID
    var name: String?
    /// `folder`, `text`, `voice`, `category`, `dm`, `group` or `conversation`.
    var kind: String?
    var guild: EntityID?
    private let box: Box?

    init(id: EntityID, name: String? = nil, kind: String? = nil, guild: EntityID? = nil, details: Details = Details()) {
        (self.id, self.name, self.kind, self.guild) = (id, name, kind, guild)
        box = details == Details() ? nil : .details(details)
    }

    /// What gateways alone state.
    var details: Details {
        if case .details(let details)? = box { details } else { Details() }
    }

    /// Texts are the same only if all bytes are.
    static func == (left: ChannelFields, right: ChannelFields) -> Bool {
        left.id == right.id && Sameness.areSame(left.name, right.name) && Sameness.areSame(left.kind, right.kind)
            && left.guild == right.guild && left.box == right.box
    }
}

/// Some fields of a channel, as a remote states them.
struct ChannelPatch: Sendable {
    /// The values of the fields that are told.
    var fields: ChannelFields
    /// The fields that are told: one without a value says that there is none. A guild is told if it has a value.
    var told: ChannelMembers
    /// Whether a client takes the patch for the whole channel.
    var isWhole = false

    /// The fields after the patch.
    func applied(to known: ChannelFields) -> ChannelFields {
        if isWhole { return fields }
        var details = known.details
        if told.contains(.topic) { details.topic = fields.details.topic }
        return ChannelFields(
            id: known.id,
            name: told.contains(.name) ? fields.name : known.name,
            kind: told.contains(.kind) ? fields.kind : known.kind,
            guild: fields.guild ?? known.guild,
            details: details
        )
    }
}

/// Some fields of a channel.
struct ChannelMembers: OptionSet, Sendable {
    let rawValue: UInt8

    static let name = ChannelMembers(rawValue: 1)
    static let kind = ChannelMembers(rawValue: 2)
    static let topic = ChannelMembers(rawValue: 4)
}
