package import EventLog

extension LogState {
    /// Decodes one event without folding it. The state then lacks the event, so use a state either to decode or to
    /// fold.
    ///
    /// - Parameter tells: whether to read also what deletions state beside.
    mutating func decode(_ envelope: Envelope, payload: UnsafeRawBufferPointer, tells: Bool) -> DecodedEvent {
        let index = sourceIndex(of: envelope.source)
        return sources[index].decodeOnly(envelope, payload: payload, tells: tells)
    }

    /// Decodes one event for what the decoder remembers of it alone.
    mutating func pass(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        let index = sourceIndex(of: envelope.source)
        sources[index].pass(envelope, payload: payload)
    }
}

extension LogState {
    /// The events that kept what a decoder file reads in an event, as far as the state has their values still; ascending. None for
    /// a source without such a file.
    package func keptEvents(readBy event: RecordedEvent) -> [SequenceNumber] {
        guard let decoder = state(of: event.envelope.source)?.parts.decoderFile else { return [] }
        return event.payload.withUnsafeBytes { decoder.keptEvents(readBy: event.envelope, payload: $0) }
            .map { SequenceNumber($0) }
    }
}

extension SourceState {
    /// Decodes one event of this source. Changes only what the decoders remember, the names, and the source's clock;
    /// the folds stay empty.
    fileprivate mutating func decodeOnly(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        tells: Bool
    ) -> DecodedEvent {
        (context.told, context.joined) = (tells ? [] : nil, [:])
        pass(envelope, payload: payload)
        let (told, joined) = (context.told ?? [], context.joined)
        (context.told, context.joined) = (nil, [:])
        let reading = ChangeReading(names: context.names)
        return DecodedEvent(
            envelope: envelope,
            changes: changes.map { reading.decoded($0) },
            told: told.map { reading.decoded($0) },
            joined: joined,
            issues: context.reasons
        )
    }

    fileprivate mutating func pass(_ envelope: Envelope, payload: UnsafeRawBufferPointer) {
        begin(EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt))
        decode(envelope, payload: payload)
    }
}
