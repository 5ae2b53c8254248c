/// The arrays of the state document, in its order. The raw values are the members' names in documents and digests, so
/// they do not change.
public enum Section: String, CaseIterable, Codable, Hashable, Sendable {
    case channels, messages, deletedMessages, guilds, members, roles, bans, presences, typing, voiceStates, readStates
    case items, sessions, sessionAggregates, prompts, rows, issues

    /// Whether the rows are messages, live or deleted.
    var isOfMessages: Bool { self == .messages || self == .deletedMessages }

    /// The members of the section's rows that depend on sequence numbers or passing time alone.
    var membersOutsideDigest: [String] {
        switch self {
        case .deletedMessages: ["sequence"]
        case .sessions: ["stale", "state"]
        default: []
        }
    }
}

/// Identifies one row of the state document within its source. A key of handles: it means nothing in another state.
///
/// `first` and `second` are the row's ids in the order of the document's columns: (channel, id) of a message, (list,
/// id) of an item, (guild, user) of a member, (table, id) of a row. `second` is `EntityID.none` for rows with one id. A
/// message has two keys, one for each of its sections.
package struct EntityKey: Codable, Hashable, Sendable {
    let section: Section
    let first: EntityID
    let second: EntityID

    init(_ section: Section, _ first: EntityID, _ second: EntityID = .none) {
        self.section = section
        self.first = first
        self.second = second
    }

    /// Feeds the ids alone, since a pair of ids names few rows. By default the section would be hashed as a text.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(first)
        hasher.combine(second)
    }
}
