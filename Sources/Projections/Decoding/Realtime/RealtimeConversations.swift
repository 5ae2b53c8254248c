import EventLog
import JSON

/// Reads the rows of `conversations`: each is a channel of kind `conversation`, its `messages` array the messages.
///
/// Edits and deletions follow from consecutive rows in order of commit, in whatever order they arrived; see
/// `ConversationTimeline`.
struct RealtimeConversations: Codable, Sendable {
    private struct Conversation: Codable {
        var register = RowRegister()
        var timeline = ConversationTimeline()
        /// The changes that had an effect on the row or on its messages. Changes from before a deletion count: their
        /// messages still existed.
        var applied = AppliedChanges()
    }

    private var conversations: [EntityID: Conversation] = [:]

    /// Adds the changes that a row change makes to the conversation and its messages: the channel first, then the
    /// messages, then the channel's deletion if the row is gone.
    mutating func apply(_ change: RowChange, into changes: inout [Change], context: inout FoldContext) {
        if let place = conversations.index(forKey: change.id) {
            // The conversation changes where it is stored, without a copy.
            Self.apply(change, to: &conversations.values[place], into: &changes, context: &context)
        } else {
            var conversation = Conversation()
            Self.apply(change, to: &conversation, into: &changes, context: &context)
            // A change without effect on an unknown conversation leaves nothing.
            if !conversation.applied.isEmpty { conversations[change.id] = conversation }
        }
    }

    private static func apply(
        _ change: RowChange,
        to conversation: inout Conversation,
        into changes: inout [Change],
        context: inout FoldContext
    ) {
        guard !conversation.applied.contains(change.identity) else { return }
        let sequence = context.event.sequence.rawValue
        let before = Self.standing(conversation.register)
        let effect = conversation.register.apply(
            change,
            at: sequence,
            comparing: false,
            noting: false,
            &context.relations
        )
        let isEffective = effect != nil
        // A stale reading changes nothing. A late frame goes on: too old for the register, it may still be a version of
        // its messages.
        if change.isReading, !isEffective { return }
        let after = Self.standing(conversation.register)
        if let after, before.map({ !$0.isSame(as: after) }) ?? true {
            let fields = ChannelFields(id: change.id, name: after.title?.string, kind: "conversation")
            changes.append(.channel(.stated(fields)))
        }
        let channels = changes.count
        let isStated = state(change, in: &conversation, into: &changes, context: &context)
        if isEffective || isStated { conversation.applied.append(change.identity, at: sequence) }
        // Late messages name their channel, so its deletion is repeated after them.
        if after == nil, before != nil || changes.count > channels {
            changes.append(.channel(.deleted(change.id, cause: .channelDeleted, permanence: .untilWritten)))
        }
    }

    /// Adds the changes of the messages that a row change makes; false if it leaves them as they are.
    ///
    /// A deletion states that no message is left, and so does an INSERT without `messages`: it replaces the row whole.
    /// An UPDATE without them leaves them. Elements without an id, and repeated ids, are issues and do not count.
    private static func state(
        _ change: RowChange,
        in conversation: inout Conversation,
        into changes: inout [Change],
        context: inout FoldContext
    ) -> Bool {
        let position = RowRegister.Position(committedAt: change.committedAt, sequence: context.event.sequence.rawValue)
        func insert(_ statement: ConversationStatement, _ altered: [ConversationStatement.Altered]) {
            let messages = conversation.timeline.insert(
                statement,
                altered: altered,
                at: position,
                in: change.id,
                event: context.event
            )
            let sortsByTime = context.rules.contains(.messagesAreSortedByTime)
            for message in messages { changes.append(.message(sortsByTime ? sortedByTime(message) : message)) }
        }
        let array = change.operation == .delete ? nil : change.record.text(of: "messages")
        guard let array, !array.isNull else {
            if change.operation == .update { return false }
            insert(ConversationStatement(isRowGone: change.operation == .delete), [])
            return true
        }
        return array.withBytes { text in
            var (altered, faults): ([ConversationStatement.Altered], [String]) = ([], [])
            let statement = ConversationStatement(
                array,
                text: text,
                after: conversation.timeline.lastStatement(before: position) ?? ConversationStatement(),
                names: &context.names,
                altered: &altered
            ) { faults.append($0) }
            for fault in faults { context.issue("conversation: \(fault)") }
            guard let statement else {
                context.issue("conversation: messages is no array")
                return false
            }
            insert(statement, altered)
            return true
        }
    }

    /// Every applied change is needed: a later row may be committed between any two of them.
    func collectNeeded(into sequences: inout SequenceSet) {
        for conversation in conversations.values { sequences.formUnion(conversation.applied.sequences) }
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for id in conversations.keys.sorted(by: { names.precedes($0, $1) }) {
            take(
                .object([
                    "id": .string(names.text(id)),
                    "register": conversations[id]?.register.normalForm(),
                    "timeline": conversations[id]?.timeline.normalForm(names: names),
                    "applied": conversations[id]?.applied.normalForm(),
                ])
            )
        }
    }
}

extension RealtimeConversations {
    /// The fields of a row that its channel shows.
    private struct Standing {
        var title: StoredJSON?

        func isSame(as other: Standing) -> Bool {
            if let title, let other = other.title, title.isSame(as: other) { return true }
            return Sameness.areSame(title?.string, other.title?.string)
        }
    }

    /// The part of the row that the channel shows; `nil` if the row does not exist.
    private static func standing(_ register: RowRegister) -> Standing? {
        register.isPresent ? Standing(title: register.text(of: "title")) : nil
    }

    private static func sortedByTime(_ change: MessageChange) -> MessageChange {
        guard case .written(var write) = change else { return change }
        write.order = .byCreation
        return .written(write)
    }
}
