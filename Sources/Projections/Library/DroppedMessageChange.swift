public import EventLog
import Kinds

/// An event that came after a compaction and names a message that the compaction dropped, before any event stated it again.
public struct DroppedMessageChange: Sendable {
    /// The message.
    public let entity: EntityReference
    /// The event.
    public let sequence: SequenceNumber
    /// The event as an entry of the message's history; `nil` for one that a history does not tell, such as a reaction, and for
    /// one that repeats the entry before.
    ///
    /// What the message was before is not known any more. So a version is `edited` only if a commit or its time of the edit
    /// shows that it is a new one; else it is `stated`, which may repeat what was dropped.
    public let entry: HistoryEntry?
}

extension Compaction {
    /// What came since of the messages that compactions dropped, in the order of events.
    ///
    /// Cost: decodes the held events of the sources that lost messages, but for plain frames of others. O(1) if nothing was dropped, or nothing
    /// came since.
    ///
    /// - Parameters:
    ///   - isWanted: Whether to tell of a message.
    ///   - state: A state of the session's log. Later events are not told.
    /// - Throws: `EventLogError` if the log cannot be read; `ProjectionError` if its facts cannot be read.
    public static func changesOfDropped(
        where isWanted: (EntityReference) -> Bool,
        in state: LogState,
        _ session: borrowing ReadSession
    ) throws -> [DroppedMessageChange] {
        let acts = try Self.acts(of: session)
        let dropping = state.sources.filter { !$0.parts.messages.compacted.isEmpty }
        guard let first = acts.map(\.decidedAt).min(), first < state.sequence, !dropping.isEmpty else { return [] }
        var sources = Dictionary(
            uniqueKeysWithValues: dropping.map { source in (source.name, DroppingSource(state: source)) }
        )
        let lost = Dictionary(uniqueKeysWithValues: dropping.map { ($0.name, $0.parts.messages.compacted) })
        let clock = try LogState(before: session).clock
        var decoder = try ChangeDecoder(for: session)
        var changes: [DroppedMessageChange] = []
        try session.forEachEvent(in: SequenceNumber(1)...state.sequence) { event in
            if event.isAct { return true }
            let envelope = event.envelope
            // What a decoder remembers of a plain frame, it needs for frames of the same message alone.
            guard let ids = lost[event.source], !event.withPayload({ ids.miss(envelope, $0) }) else { return true }
            guard event.sequence > first else {
                event.withPayload { decoder.pass(envelope, payload: $0) }
                return true
            }
            let decoded = event.withPayload { decoder.decode(envelope, payload: $0) }
            for change in decoded.changes {
                sources[event.source]?.take(change, envelope, clock, isWanted, into: &changes)
            }
            return true
        }
        return changes
    }

    /// The edits, deletions, moves and restorations among them, in the order of events. Of the first one of a message nothing is known
    /// from before.
    public static func auditOfDropped(
        where isWanted: (EntityReference) -> Bool,
        in state: LogState,
        _ session: borrowing ReadSession
    ) throws -> [AuditEntry] {
        var readers: [EntityReference: AuditReader] = [:]
        return try changesOfDropped(where: isWanted, in: state, session).compactMap { change in
            change.entry.flatMap { readers[change.entity, default: AuditReader(change.entity)].read($0) }
        }
    }

    /// The history of a dropped message as far as the log still tells it: the compaction, then what came since. Empty if nothing came.
    public static func history(
        of dropped: DroppedMessage,
        in state: LogState,
        _ session: borrowing ReadSession
    ) throws -> [HistoryEntry] {
        var history = try changesOfDropped(where: { $0 == dropped.entity }, in: state, session).compactMap(\.entry)
        guard !history.isEmpty, let act = dropped.act else { return history }
        mark(&history, by: act)
        return history
    }

    /// The history of a message of a state as the log tells it. Where a compaction dropped what was before, the state begins it
    /// with the head of the decision; here its act takes that place, with what came before an event stated the message again.
    public static func told(
        _ history: [HistoryEntry],
        of entity: EntityReference,
        in state: LogState,
        _ session: borrowing ReadSession
    ) throws -> [HistoryEntry] {
        guard let first = history.first, first.change == HistoryEntry.compacted else { return history }
        let since = try changesOfDropped(where: { $0 == entity }, in: state, session).compactMap(\.entry)
        var told = since + history.dropFirst()
        if let act = act(decidedAt: first.sequence, among: try acts(of: session)) {
            mark(&told, by: (act.sequence, act.recordedAt))
        } else {
            told.insert(first, at: 0)
        }
        return told
    }

    /// Adds the act of a compaction to what came since. It comes behind what was appended while the compaction ran.
    private static func mark(
        _ history: inout [HistoryEntry],
        by act: (sequence: SequenceNumber, recordedAt: Timestamp)
    ) {
        let event = EventReference(sequence: act.sequence, recordedAt: act.recordedAt)
        let place = history.firstIndex { $0.sequence > act.sequence } ?? history.endIndex
        history.insert(HistoryEntry(at: event, change: HistoryEntry.compacted), at: place)
    }
}

extension CompactedMessages {
    /// Whether an event is a plain frame of a message that is none of these.
    fileprivate func miss(_ envelope: Envelope, _ payload: UnsafeRawBufferPointer) -> Bool {
        PlainFrame(envelope, payload: payload).map { !contains(id: $0.id) } ?? false
    }
}

/// A source of which compactions dropped messages.
private struct DroppingSource {
    let state: SourceState
    /// The last entry of each message that was named.
    private var last: [MessageKey: HistoryEntry] = [:]

    init(state: SourceState) { self.state = state }

    mutating func take(
        _ change: DecodedChange,
        _ envelope: Envelope,
        _ clock: Timestamp?,
        _ isWanted: (EntityReference) -> Bool,
        into changes: inout [DroppedMessageChange]
    ) {
        for name in change.messages {
            guard let (key, drop) = dropped(name, envelope.kind), envelope.sequence.rawValue > drop.decidedAt else {
                continue
            }
            let isOfServer = EventFamily(kind: envelope.kind) == .gateway
            let revival = state.parts.messages.revival(of: key, isOfServer: isOfServer)
            // From there on the message's own history tells it.
            if let revival, envelope.sequence >= revival { continue }
            let parts = state.parts(of: EntityKey(.messages, key.channel, key.id))
            let entity = EntityReference(kind: .message, parts: parts)
            guard isWanted(entity) else { continue }
            let isNew = EventFamily(kind: envelope.kind) == .git || change.isEdited(after: clock)
            let entry = change.entry(at: envelope, isNew: isNew, after: last[key])
            if let entry { last[key] = entry }
            changes.append(DroppedMessageChange(entity: entity, sequence: envelope.sequence, entry: entry))
        }
    }

    /// The dropped message that a name means; `nil` if it means none. A server gives each id once, in whatever channel.
    private func dropped(
        _ name: DecodedChange.MessageName,
        _ kind: EventKind
    ) -> (key: MessageKey, drop: CompactedMessages.Drop)? {
        let (names, messages) = (state.context.names, state.parts.messages)
        guard let id = names.find(name.id) else { return nil }
        if let channel = names.find(name.channel) {
            let key = MessageKey(channel: channel, id: id)
            if let drop = messages.compacted.drop(of: key) { return (key, drop) }
        }
        return EventFamily(kind: kind) == .gateway ? messages.compacted.onServer(id) : nil
    }
}

extension DecodedChange {
    /// The messages that the change names.
    fileprivate var messages: [MessageName] {
        switch self {
        case .message(let version): [version.name]
        case .messageMoved(let from, let to, _, _): [from, to]
        case .messageDeleted(let name, _, _), .reaction(let name, _, _, _), .messageWithdrawn(let name, _),
            .reactionsCleared(let name, _, _), .reactionsStand(let name, _), .messageStands(let name, _):
            [name]
        case .channel, .channelPatched, .channelNamed, .channelDeleted, .channelStands, .community, .items, .item,
            .itemPatched, .itemRemoved, .session, .sessionRemoved, .prompt, .promptUnreadable, .promptRemoved, .row:
            []
        }
    }

    /// Whether the change states a version that is later than an instant by the remote's time.
    fileprivate func isEdited(after instant: Timestamp?) -> Bool {
        guard case .message(let version) = self, let editedAt = version.editedAt else { return false }
        return instant.map { editedAt > $0 } ?? false
    }

    /// The change as an entry of a history; `nil` if it is none, or says the same again.
    fileprivate func entry(at envelope: Envelope, isNew: Bool, after last: HistoryEntry?) -> HistoryEntry? {
        let event = EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt)
        let isGone = last?.change == "deleted" || last?.change == "unselected"
        switch self {
        case .message(let version), .messageStands(_, let version?):
            let fields = version.fields
            if let last, !isGone, last.fields == fields { return nil }
            return HistoryEntry(
                at: event,
                change: !isNew ? "stated" : isGone ? "restored" : "edited",
                remoteTime: version.editedAt ?? version.createdAt,
                by: version.author,
                fields: fields
            )
        case .messageDeleted(_, let by, let time):
            if last?.change == "deleted" { return nil }
            return HistoryEntry(
                at: event,
                change: "deleted",
                remoteTime: time,
                by: by,
                fields: last?.fields ?? JSONObject()
            )
        case .messageStands(_, nil):
            if isGone { return nil }
            return HistoryEntry(at: event, change: "unselected", fields: last?.fields ?? JSONObject())
        case .messageMoved(let from, let to, let by, let time):
            var fields = last?.fields ?? JSONObject()
            for (name, place) in [("from", from), ("to", to)] {
                fields[name] = .object(["channel": .string(place.channel), "id": .string(place.id)])
            }
            return HistoryEntry(at: event, change: "moved", remoteTime: time, by: by, fields: fields)
        default: return nil
        }
    }
}

extension DecodedChange.Message {
    /// The version's members as the state document names them.
    fileprivate var fields: JSONObject {
        [
            "author": .text(author),
            "authorName": .text(authorName),
            "createdAt": .text(createdAt?.description),
            "editedAt": .text(editedAt?.description),
            "content": .string(content),
            "replyTo": .text(replyTo),
            "tags": tags.isEmpty ? nil : .array(tags.map { .string($0) }),
            "attachments": attachments.isEmpty ? nil : .array(attachments),
            "extra": extra.members.isEmpty ? nil : .object(extra),
        ]
    }
}
