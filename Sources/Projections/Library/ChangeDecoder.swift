public import EventLog
import Kinds

/// Decodes recorded events into the changes that they state, for an app that folds them itself.
///
/// Remembers what later events need to be decoded (the tree of a branch, the subscriptions of a socket), so events must
/// come in sequence order, from the first on. A value: a copy decodes on its own. Reads canonically.
public struct ChangeDecoder: Sendable {
    private var logState: LogState

    /// A decoder that has seen nothing yet.
    public init() {
        logState = LogState()
    }

    /// A decoder that reads by the decoder files of a state, which holds no events.
    package init(readingAs state: LogState) {
        logState = state
    }

    /// A decoder for a log that may have been compacted: it begins with the facts that the compaction stored.
    ///
    /// - Throws: `EventLogError` if the log cannot be read; `ProjectionError` if the facts cannot be read.
    public init(for session: borrowing ReadSession) throws {
        logState = try LogState(before: session)
    }

    /// A decoder for a log whose facts are others than it has: those that a rewrite is about to store.
    ///
    /// - Throws: `EventLogError` if the log cannot be read; `ProjectionError` if the facts cannot be read.
    package init(for session: borrowing ReadSession, facts: [UInt8]) throws {
        logState = try LogState(facts: facts)
        try logState.begin(session)
    }

    /// A decoder that has seen nothing of a log, not even what a compaction stored, but reads by its decoder files.
    ///
    /// - Throws: `EventLogError` if the log cannot be read.
    package init(withoutFactsOf session: borrowing ReadSession) throws {
        logState = LogState()
        try logState.begin(session)
    }

    /// Decodes one event. Never fails: what does not decode is among the issues (I11). An act has no changes and no
    /// issues.
    public mutating func decode(_ envelope: Envelope, payload: UnsafeRawBufferPointer) -> DecodedEvent {
        guard !envelope.isAct else {
            return DecodedEvent(envelope: envelope, changes: [], told: [], joined: [:], issues: [])
        }
        return logState.decode(envelope, payload: payload, tells: true)
    }

    /// Goes on to the next event, whose changes nobody asks for. It costs less than `decode`.
    package mutating func pass(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        if !envelope.isAct { logState.pass(envelope, payload: payload) }
    }

    /// Whether an item of an event that was decoded is one thing in whatever list it is: it is of a decoder file or a registered
    /// decoder. Elsewhere, items of two lists with the same id are two.
    package func hasItemsAcrossLists(_ envelope: Envelope) -> Bool {
        logState.state(of: envelope.source)?.parts.decoderFile.reads(envelope.kind, EventFamily(kind: envelope.kind))
            ?? false
    }

    /// Decodes one event that was copied out of a log.
    public mutating func decode(_ event: RecordedEvent) -> DecodedEvent {
        event.payload.withUnsafeBytes { decode(event.envelope, payload: $0) }
    }
}
