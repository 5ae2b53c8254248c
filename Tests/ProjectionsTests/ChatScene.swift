import EventLog

@testable import Projections

/// The channels and messages of one source, driven by changes in short words: given, when, then.
struct ChatScene {
    var names = Names()
    var channels = Channels()
    var messages = Messages()
    private(set) var issues: [Issue] = []
    private(set) var touched: [EntityKey] = []
    private(set) var last: UInt64 = 0

    /// Applies changes that came with one event: the next one unless told.
    @discardableResult
    mutating func apply(_ changes: [Change], at sequence: UInt64? = nil) -> UInt64 {
        last = sequence ?? last + 1
        let recordedAt = Timestamp(seconds: 1_700_000_000 + Int64(last))
        var context = FoldContext(
            names: names,
            event: EventReference(sequence: SequenceNumber(last), recordedAt: recordedAt)
        )
        for change in changes {
            channels.apply(change, in: &context)
            messages.apply(change, in: &context)
        }
        names = context.names
        touched = context.touched
        issues += context.reasons.map { Issue(sequence: SequenceNumber(last), reason: $0) }
        return last
    }

    @discardableResult
    mutating func apply(_ change: Change, at sequence: UInt64? = nil) -> UInt64 {
        apply([change], at: sequence)
    }

    /// Adds what a decoder could not make sense of in the last event.
    mutating func note(_ reasons: [String]) {
        issues += reasons.map { Issue(sequence: SequenceNumber(last), reason: $0) }
    }

    var context: RowContext { RowContext(names: names, asOf: Timestamp(seconds: 0)) }

    func rows(_ section: Section) -> [JSONValue] {
        let keys =
            section == .channels ? channels.keys(in: section, names: names) : messages.keys(in: section, names: names)
        return keys.compactMap {
            section == .channels ? channels.row(for: $0, context: context) : messages.row(for: $0, context: context)
        }
    }

    /// Everything that the state document shows, without sequences.
    var document: JSONValue {
        .array(
            [Section.channels, .messages, .deletedMessages].map { section in
                .array(
                    rows(section).map { row in
                        var members = row.object ?? JSONObject()
                        members["sequence"] = nil
                        return .object(members)
                    }
                )
            }
        )
    }

    func ids(_ section: Section) -> [String] {
        rows(section).map { $0["id"]?.string ?? "?" }
    }

    mutating func row(_ section: Section, _ channel: String, _ id: String) -> JSONValue? {
        messages.row(for: EntityKey(section, names.id(channel), names.id(id)), context: context)
    }

    /// The words of a message's history.
    mutating func history(_ channel: String, _ id: String) -> [String] {
        entries(channel, id).map(\.change)
    }

    /// Of each entry of a message, its place among the versions if it came late.
    mutating func lates(_ channel: String, _ id: String) -> [String?] {
        entries(channel, id).map { entry in entry.late.map { "\($0.number) of \($0.count)" } }
    }

    mutating func entries(_ channel: String, _ id: String) -> [HistoryEntry] {
        messages.history(of: EntityKey(.messages, names.id(channel), names.id(id)), context: context) ?? []
    }

    mutating func key(_ channel: String, _ id: String) -> MessageKey {
        MessageKey(channel: names.id(channel), id: names.id(id))
    }

    /// A gateway's message: ordered by id, versions by `edited`.
    mutating func message(
        _ text: String,
        _ id: String,
        in channel: String = "7",
        edited: Int64? = nil,
        replyTo: String? = nil
    ) -> Change {
        var write = MessageWrite(key: key(channel, id), order: .byID, saying: MessageSaying(text: MessageText(text)))
        write.version = edited.map { Timestamp(seconds: $0) }
        write.saying.editedAt = write.version
        write.saying.author = "ann"
        write.saying.replyTo = replyTo.map { names.id($0) }
        return .message(.written(write))
    }

    /// A file's message: ordered by creation, versions by arrival.
    mutating func file(
        _ text: String,
        _ id: String,
        in channel: String = "general",
        date: Int64 = 0,
        replyTo: String? = nil
    ) -> MessageWrite {
        var write = MessageWrite(
            key: key(channel, id),
            order: .byCreation,
            saying: MessageSaying(text: MessageText(text))
        )
        write.saying.createdAt = Timestamp(seconds: date)
        write.saying.author = "ann"
        write.revisesByArrival = true
        write.saying.replyTo = replyTo.map { names.id($0) }
        return write
    }

    mutating func delete(_ id: String, in channel: String = "7", _ permanence: Permanence = .forever) -> Change {
        .message(.deleted(MessageDeletion(key: key(channel, id), permanence: permanence)))
    }

    mutating func reaction(
        _ emoji: String,
        on id: String,
        by user: String,
        in channel: String = "7",
        _ present: Bool = true
    ) -> Change {
        .message(.reaction(key(channel, id), emoji: emoji, user: names.id(user), present: present))
    }

    mutating func deleteChannel(_ channel: String, _ permanence: Permanence = .forever) -> Change {
        .channel(.deleted(names.id(channel), cause: .channelDeleted, permanence: permanence))
    }

    mutating func named(_ channel: String, guild: String? = nil) -> Change {
        .channel(.named(names.id(channel), guild: guild.map { names.id($0) }))
    }

    mutating func stated(_ channel: String, name: String, guild: String? = nil) -> Change {
        .channel(
            .stated(ChannelFields(id: names.id(channel), name: name, kind: "text", guild: guild.map { names.id($0) }))
        )
    }

    mutating func deleteGuild(_ guild: String) -> Change {
        .community(.guildDeleted(names.id(guild)))
    }

    /// What a compaction does: retain, note facts, fold them and the needed events of `stream` anew.
    func compacted(_ stream: [(sequence: UInt64, changes: [Change])], keep: Int) throws -> (
        retained: ChatScene, refolded: ChatScene
    ) {
        var retained = self
        retained.retainMessages(RetentionPolicy(messagesPerChannel: keep))
        retained.channels.retain(RetentionPolicy(messagesPerChannel: keep), names: names)
        let needed = retained.needed
        var refolded = ChatScene()
        // Changes hold handles, so the new state must give the same ones.
        refolded.names = names
        try refolded.messages.load(
            facts: retained.messages.facts(keeping: needed, names: names),
            names: &refolded.names
        )
        try refolded.channels.load(
            facts: retained.channels.facts(keeping: needed, names: names),
            names: &refolded.names
        )
        for event in stream where needed.contains(event.sequence) { refolded.apply(event.changes, at: event.sequence) }
        return (retained, refolded)
    }

    mutating func retainMessages(_ policy: RetentionPolicy) {
        messages.retain(policy, names: names, CompactionDecision(head: SequenceNumber(last), clock: nil))
    }

    var needed: SequenceSet {
        var sequences: SequenceSet = []
        messages.collectNeeded(into: &sequences)
        channels.collectNeeded(into: &sequences)
        return sequences
    }

    var normalForm: [String] { messages.normalFormLines(names) + channels.normalFormLines(names) }
}
