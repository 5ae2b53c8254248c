/// A rule, or a step of one: what is done with an event that fits, once or for each element of lists in it.
final class DecoderStep: Sendable {
    /// Where the file has it, from 1.
    let line: Int
    let when: DecoderTests
    /// The step is done the first time that this value comes; each time if `nil`.
    let once: DecoderValue?
    /// The arrays and objects whose elements and members the step is done for; once if there are none.
    let each: [DecoderPlace]
    /// The value that the members of the effect are read from, if not the innermost one.
    let from: DecoderValue?
    let effect: DecoderEffect?
    /// Done in order, each that fits.
    let steps: [DecoderStep]
    /// The values that are kept, by name.
    let kept: [(name: String, value: DecoderValue)]
    /// The text that names what they are kept for; the connection if `nil`.
    let keptOf: DecoderValue?

    init(
        line: Int,
        when: DecoderTests,
        once: DecoderValue?,
        each: [DecoderPlace],
        from: DecoderValue?,
        effect: DecoderEffect?,
        steps: [DecoderStep],
        kept: [(name: String, value: DecoderValue)],
        keptOf: DecoderValue?
    ) {
        (self.line, self.when, self.once, self.each, self.from) = (line, when, once, each, from)
        (self.effect, self.steps, self.kept, self.keptOf) = (effect, steps, kept, keptOf)
    }
}

/// What a step does.
final class DecoderEffect: Sendable {
    /// The things that a file can tell of.
    enum Subject: String, CaseIterable, Sendable {
        case message, channel, user, item, session, reaction, typing, presence, event, place, row
    }

    enum Operation: String, CaseIterable, Sendable {
        /// States the thing, which changes nothing if it is known.
        case make
        /// States some members; those that are missing stay as they are.
        case patch
        /// States the whole thing.
        case replace
        /// States what a text goes on with, as streamed messages come, and some other members.
        case append
        /// States some members by an event that has an id of its own, and so can be taken back; it may come before what it
        /// edits.
        case edit
        case delete
        /// Puts a reaction on a message, takes it away, or takes all away, or all of one emoji. Gives a thing its place.
        case add, remove, clear
        /// Takes back what the event with an id did: made a message, edited one, or put a reaction on one.
        case retract
        /// What a set held and this event does not state is gone.
        case snapshot
    }

    let operation: Operation
    let subject: Subject
    /// The ids of the thing, read from the value that the step is at.
    let ids: DecoderValues
    /// The id of the event itself, by which it can be taken back; `nil` if the remote gives none.
    let own: DecoderValue?
    /// The members, read from the value of `from`.
    let members: DecoderValues
    /// The members that are read from the value that the step is at.
    let outerMembers: DecoderValues
    /// The members that a patch changes in a thing that is known; all if `nil`.
    let changes: Set<DecoderName>?
    /// The members without which a patch makes no new thing.
    let needs: [DecoderName]
    /// The set that the thing belongs to, or that a snapshot states, and the scope within it.
    let set: (name: String, scope: DecoderValue?)?
    /// The reactions of a message, which replace those that it has.
    let reactions: DecoderReactions?
    /// The object whose members are columns of a row.
    let columns: DecoderValue?
    /// Whether a deleted thing stays deleted whatever is stated later.
    let isForEver: Bool

    init(
        operation: Operation,
        subject: Subject,
        ids: DecoderValues,
        own: DecoderValue?,
        members: DecoderValues,
        outerMembers: DecoderValues,
        changes: Set<DecoderName>?,
        needs: [DecoderName],
        set: (name: String, scope: DecoderValue?)?,
        reactions: DecoderReactions?,
        columns: DecoderValue?,
        isForEver: Bool
    ) {
        (self.operation, self.subject, self.ids, self.own) = (operation, subject, ids, own)
        (self.members, self.outerMembers, self.changes, self.needs) = (members, outerMembers, changes, needs)
        (self.set, self.reactions, self.columns, self.isForEver) = (set, reactions, columns, isForEver)
    }
}

/// The list or object of reactions to a message.
struct DecoderReactions: Sendable {
    let each: DecoderPlace
    let emoji: DecoderValue
    /// The ids of users, as `DecoderFound.users` reads them.
    let users: DecoderValue
}

extension DecoderEffect.Subject {
    /// The parts of the thing's name.
    var ids: [DecoderName] {
        switch self {
        case .message: [.channel, .id]
        case .channel: [.id, .guild]
        case .user: [.scope, .id]
        case .item: [.list, .id]
        case .session: [.id]
        case .reaction: [.channel, .id, .user, .emoji]
        case .typing: [.channel, .user]
        case .presence: [.user]
        case .event: [.id]
        case .place: [.channel, .id, .before, .mark]
        case .row: [.table, .id]
        }
    }

    /// The parts that an effect may leave out.
    func optionalIDs(of operation: DecoderEffect.Operation) -> [DecoderName] {
        switch (self, operation) {
        case (.channel, _): [.guild]
        case (.user, _): [.scope]
        case (.place, _): [.before, .mark]
        case (.item, .patch), (.item, .delete): [.list]
        case (.reaction, .clear): [.user, .emoji]
        default: []
        }
    }

    var members: [DecoderName] {
        switch self {
        case .message:
            [.author, .authorName, .content, .createdAt, .editedAt, .replyTo, .tags, .attachments, .version]
                + Self.deletion
        case .channel: [.name, .kind, .topic, .version]
        case .user: [.name, .version]
        case .item:
            [
                .text, .done, .status, .created, .version, .order, .parent, .section, .assignee, .due,
                .labels,
                .doneAt,
            ]
        case .session: [.project, .status, .timestamp, .device]
        case .presence: [.status]
        case .row: [.version]
        case .event: Self.deletion
        case .reaction, .typing, .place: []
        }
    }

    /// What a deletion of a message tells: who did it, and when.
    static let deletion: [DecoderName] = [.by, .deletedAt]

    /// Whether any other name is a member, too: the columns of a row.
    var takesAnyMember: Bool { self == .row }

    var operations: [DecoderEffect.Operation] {
        switch self {
        case .message: [.make, .patch, .replace, .append, .edit, .delete]
        case .event: [.retract]
        case .channel, .item: [.make, .patch, .replace, .delete]
        case .user: [.make, .replace, .delete]
        case .session, .typing: [.replace, .delete]
        case .reaction: [.add, .remove, .clear]
        case .presence: [.replace]
        case .place: [.add]
        case .row: [.make, .patch, .replace, .delete]
        }
    }
}

extension DecoderEffect.Subject {
    /// The subject's place in the list of all, for memories.
    var number: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }

    init?(number: UInt8) {
        guard Int(number) < Self.allCases.count else { return nil }
        self = Self.allCases[Int(number)]
    }
}
