public import EventLog

extension LogState {
    /// Applies drafts in order, as the events with the next sequences: an empty state becomes that of a log of these
    /// events.
    ///
    /// Touched rows are not noted, so a digest taken afterwards is computed from scratch. Take it of a copy: once this
    /// value has a digest, later calls note touched rows to keep it up to date.
    public mutating func apply(_ drafts: some Sequence<DraftEvent>) {
        notesTouched = digestKeeper.isBuilt
        for draft in drafts { apply(draft) }
        notesTouched = true
    }

    /// Applies one draft as the event with the next sequence. Notes touched rows if `notesTouched` is set.
    mutating func apply(_ draft: DraftEvent) {
        let envelope = Envelope(
            sequence: SequenceNumber(sequence.rawValue + 1),
            recordedAt: draft.recordedAt,
            source: draft.source,
            kind: draft.kind,
            key: draft.key,
            attributes: draft.attributes
        )
        draft.payload.withUnsafeBytes { apply(envelope, payload: $0) }
    }
}
