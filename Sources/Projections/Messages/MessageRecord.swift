import EventLog

/// One message: what is known of it, what stands of it now, and what happened to it.
struct MessageRecord: Sendable {
    /// What the message's own events say of it; a channel that is gone for ever overrules it.
    enum Standing: Sendable {
        /// Neither live nor deleted: only reactions are known, it has moved away, or it is no message at this tip.
        case nowhere
        case live
        case deleted(End)
    }

    /// How it was deleted.
    struct End: Hashable, Sendable {
        var cause: MessageDeletion.Cause
        var permanence: Permanence
        var deletedAt: Timestamp?
        var deletedBy: String?
        var since: EventReference
    }

    /// What the last event that named a reaction said of it.
    struct Reaction: Sendable {
        var emoji: ExactText
        var user: EntityID
        var isPresent: Bool
        var sequence: UInt64
    }

    let key: MessageKey
    var standing = Standing.nowhere
    /// The version that counts, or, of a deleted message, counted last.
    var current: MessageRevision?
    /// In log order.
    private(set) var entries: [Entry] = []
    var reactions: [Reaction] = []
    /// The last event that gave a place in the remote's own list, which may be no revision.
    var placedBy: UInt64?
    /// The keys that it moved from or to.
    private(set) var relatives: [MessageKey] = []

    init(key: MessageKey) {
        self.key = key
    }

    /// - Parameter entries: in log order.
    init(key: MessageKey, standing: Standing, current: MessageRevision?, entries: [Entry]) {
        self.key = key
        self.standing = standing
        self.current = current
        self.entries = entries
    }

    /// The number of versions: distinct ones, or those that said something new.
    var revisionCount: Int { entries.count { $0.isNewRevision } }

    /// Whether a version of it was ever seen.
    var wasWritten: Bool { entries.contains { $0.revision != nil } }

    /// Adds an entry at its place in log order, which only the end of its channel may have before others.
    mutating func enter(_ entry: Entry) {
        let sequence = entry.event.sequence
        guard let last = entries.last, last.event.sequence > sequence else { return entries.append(entry) }
        let place = entries.firstIndex { $0.event.sequence > sequence } ?? entries.count
        entries.insert(entry, at: place)
    }

    /// Takes a version out of the revisions: an earlier one says the same.
    mutating func replace(_ version: Timestamp) {
        for index in entries.indices where entries[index].isWrite && entries[index].revision?.version == version {
            entries[index].isNewRevision = false
            entries[index].isReplaced = true
        }
    }

    /// Takes over the past of a message that moved here. An event that both know stands once.
    mutating func inherit(_ other: MessageRecord) {
        let known = Set(entries.map(\.event.sequence))
        for entry in other.entries where !known.contains(entry.event.sequence) { enter(entry) }
        let named = Set(reactions.map { ReactionName(emoji: $0.emoji, user: $0.user) })
        reactions += other.reactions.filter { !named.contains(ReactionName(emoji: $0.emoji, user: $0.user)) }
        current = other.current
        placedBy = other.placedBy
    }

    mutating func relate(to other: MessageKey) {
        if !relatives.contains(other) { relatives.append(other) }
    }

    /// Notes what an event says of a reaction; whether that changed anything.
    mutating func react(emoji: ExactText, user: EntityID, isPresent: Bool, sequence: UInt64) -> Bool {
        guard let index = reactions.firstIndex(where: { $0.user == user && $0.emoji == emoji }) else {
            reactions.append(Reaction(emoji: emoji, user: user, isPresent: isPresent, sequence: sequence))
            return isPresent
        }
        let changes = reactions[index].isPresent != isPresent
        reactions[index].isPresent = isPresent
        reactions[index].sequence = sequence
        return changes
    }

    private struct ReactionName: Hashable {
        var emoji: ExactText
        var user: EntityID
    }
}

extension MessageRecord {
    /// One event that changed what is known of the message.
    struct Entry: Sendable {
        /// What happened.
        enum Happening: Sendable {
            case created
            case edited
            case linked
            case restored
            case moved(from: MessageKey, to: MessageKey)
            case deleted(End)
        }

        var event: EventReference
        var happening: Happening
        /// The version that the event brought, or, of a delete or move, that was known then.
        var revision: MessageRevision?
        var isNewRevision = false
        /// Whether an earlier version that says the same came late and took the place of this one.
        var isReplaced = false
        var remoteTime: Timestamp?
        var by: String?

        /// Whether the event brought a version.
        var isWrite: Bool {
            switch happening {
            case .created, .edited, .linked, .restored: true
            case .moved, .deleted: false
            }
        }
    }
}
