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
    /// The dropped messages that a reference can mean, sorted by source, channel and id. O(dropped messages), and reads
    /// the log's acts.
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
        let ledger = DropLedger(try session.fact(DropLedger.factName))
        let acts = try acts(of: session)
        return state.sources.sorted { $0.name < $1.name }.flatMap { source in
            let names = source.context.names
            let keys = source.parts.messages.compacted.keys(names) { reference.fits(source.parts(of: $0.entityKey)) }
            return keys.map { key in
                // With a single compaction the log needs no ledger to tell which one it was.
                let decidedAt = ledger.decision(of: key, in: source)
                let act = acts.first { $0.decidedAt == decidedAt } ?? (acts.count == 1 ? acts.first : nil)
                return DroppedMessage(
                    entity: EntityReference(kind: .message, parts: source.parts(of: key.entityKey)),
                    act: act.map { ($0.sequence, $0.recordedAt) }
                )
            }
        }
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

extension MessageKey {
    fileprivate var entityKey: EntityKey { EntityKey(.messages, channel, id) }
}
