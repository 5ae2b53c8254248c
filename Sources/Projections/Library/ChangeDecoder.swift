public import EventLog

/// Turns recorded events into the changes that they state, for an app that folds them itself.
///
/// A value that remembers what the next event needs to be understood (the tree of a branch, the subscriptions of a
/// socket): events must come in sequence order, from the first on.
public struct ChangeDecoder: Sendable {
    private var workspace: Workspace

    /// A decoder that has seen nothing yet.
    public init() {
        workspace = Workspace()
    }

    /// A decoder for a log that may have been compacted: it knows what no kept event says.
    ///
    /// - Throws: `EventLogError` where the log cannot be read; `ProjectionError` where what a compaction stored is not
    ///   to be understood.
    public init(for session: borrowing ReadSession) throws {
        workspace = try Workspace(before: session)
    }

    /// Decodes one event. Total: what does not decode is among the issues. Of an act there is nothing to say.
    public mutating func decode(_ envelope: Envelope, payload: UnsafeRawBufferPointer) -> DecodedEvent {
        guard !envelope.isAct else { return DecodedEvent(envelope: envelope, changes: [], issues: []) }
        return workspace.decode(envelope, payload: payload)
    }

    /// Decodes one event that was copied out of a log.
    public mutating func decode(_ event: RecordedEvent) -> DecodedEvent {
        event.payload.withUnsafeBytes { decode(event.envelope, payload: $0) }
    }
}
