public import EventLog

/// An app's own view of a log: a value that changes by `apply` alone.
///
/// The same events give the same value only if nothing but the event and the value decides: no clock, no randomness, no
/// locale, no order taken from a `Set` or a `Dictionary`. Nothing saves a projection: each replay folds from the first
/// event.
public protocol Projection {
    /// Applies one event's changes. Called once for every event, in sequence order, even if it changes nothing.
    ///
    /// - Throws: Any error ends the replay, which throws it on.
    mutating func apply(_ event: DecodedEvent) throws
}

extension Replay {
    /// Folds a log into an app's own projection. Reads canonically, on the calling thread; `options` decide only which
    /// events are folded.
    ///
    /// - Parameters:
    ///   - projection: The value to fold into; contains what was folded so far if an error ends the replay.
    ///   - point: The last event to fold; `nil` for the head.
    ///   - options: Which events are folded: `sources`, `without` and `retained`.
    /// - Throws: as `logState`, and what the projection throws.
    public static func fold(
        _ session: borrowing ReadSession,
        into projection: inout some Projection,
        through point: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions()
    ) throws {
        let last = point ?? session.head
        try refusePointBeforeCompaction(last, session: session, options: options)
        var decoder = try ChangeDecoder(for: session)
        guard last > .zero else { return }
        try session.forEachEvent(in: SequenceNumber(1)...last) { event in
            guard options.includes(event.source, event.sequence) else { return true }
            let envelope = event.envelope
            try projection.apply(event.withPayload { decoder.decode(envelope, payload: $0) })
            return true
        }
    }
}

extension EventStore {
    /// The decoded events of the log, from the first to the present head, for a `for try await` loop. Each iterator
    /// decodes from the first event on.
    ///
    /// - Throws: `EventLogError` or `ProjectionError` if the log cannot be read.
    public func decodedEvents() throws -> some AsyncSequence<DecodedEvent, any Error> {
        let decoder = try read { try ChangeDecoder(for: $0) }
        return DecodedEvents(events: events(), decoder: decoder)
    }
}

/// Decodes a log's events as they are read, one for each call of `next`.
private struct DecodedEvents: AsyncSequence {
    let events: RecordedEvents
    let decoder: ChangeDecoder

    func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), decoder: decoder)
    }

    struct Iterator: AsyncIteratorProtocol {
        var events: RecordedEvents.Iterator
        var decoder: ChangeDecoder

        mutating func next() async throws -> DecodedEvent? {
            try await events.next().map { decoder.decode($0) }
        }
    }
}
