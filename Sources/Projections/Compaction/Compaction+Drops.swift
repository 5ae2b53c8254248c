public import EventLog

/// A message that a compaction dropped.
public struct DroppedMessage: Hashable, Sendable {
    /// Which message.
    public let entity: EntityReference
    /// The act of the compaction that dropped it, and the time when that was recorded; `nil` if the log does not tell
    /// which of several compactions it was.
    public let act: (sequence: SequenceNumber, recordedAt: Timestamp)?

    /// Whether both name the same message and the same act.
    public static func == (left: DroppedMessage, right: DroppedMessage) -> Bool {
        left.entity == right.entity && left.act?.sequence == right.act?.sequence
    }

    /// Feeds the value to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(act?.sequence)
    }
}

extension Compaction {
    /// The dropped messages that a reference can mean, sorted by source, channel and id, without those that are live again.
    /// O(dropped messages), and reads the log's acts.
    ///
    /// - Parameters:
    ///   - reference: A message, whole or with parts left out; others give none.
    ///   - state: A state of the session's log.
    /// - Throws: `EventLogError` if the log cannot be read.
    public static func dropped(
        _ reference: EntityReference,
        in state: LogState,
        _ session: borrowing ReadSession
    ) throws -> [DroppedMessage] {
        guard reference.kind == .message else { return [] }
        let acts = try acts(of: session)
        return state.sources.sorted { $0.name < $1.name }.flatMap { source in
            let messages = source.parts.messages
            var dropped: [DroppedMessage] = []
            messages.compacted.forEachSorted(source.context.names) { key, drop in
                let parts = source.parts(of: EntityKey(.messages, key.channel, key.id))
                guard reference.fits(parts), messages.store.place(of: key) == nil else { return }
                let act = act(decidedAt: SequenceNumber(drop.decidedAt), among: acts)
                dropped.append(
                    DroppedMessage(
                        entity: EntityReference(kind: .message, parts: parts),
                        act: act.map { ($0.sequence, $0.recordedAt) }
                    )
                )
            }
            return dropped
        }
    }

    /// The act of the compaction that was decided at a head; a single one needs no head.
    static func act(decidedAt head: SequenceNumber, among acts: [Act]) -> Act? {
        acts.first { $0.decidedAt == head } ?? (acts.count == 1 ? acts.first : nil)
    }

    /// When the log was compacted last; `nil` if it never was.
    package static func newest(in session: borrowing ReadSession) throws -> Timestamp? {
        try acts(of: session).last?.recordedAt
    }

    typealias Act = (sequence: SequenceNumber, recordedAt: Timestamp, decidedAt: SequenceNumber)

    /// The acts of compactions, in the order of the log. Acts of a form that this program does not know are left out.
    static func acts(of session: borrowing ReadSession) throws -> [Act] {
        var acts: [Act] = []
        for sequence in try session.acts() {
            guard let event = try session.event(at: sequence), event.envelope.kind == actKind,
                let payload = try? JSONValue.parse(event.payload),
                let decidedAt = payload["decidedAt"]?.string.flatMap({ UInt64($0) })
            else { continue }
            acts.append((sequence, event.envelope.recordedAt, SequenceNumber(decidedAt)))
        }
        return acts
    }
}
