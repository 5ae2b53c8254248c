import EventLog

extension Workspace {
    /// Decodes one event without folding it. A state that only decodes is of no other use.
    mutating func decode(_ envelope: Envelope, payload: UnsafeRawBufferPointer) -> DecodedEvent {
        let index = sourceIndex(of: envelope.source)
        return sources[index].decodeOnly(envelope, payload: payload)
    }
}

extension SourceState {
    /// Reads one event of this source, changing what the decoders remember and nothing else.
    fileprivate mutating func decodeOnly(_ envelope: Envelope, payload: UnsafeRawBufferPointer) -> DecodedEvent {
        begin(EventReference(sequence: envelope.sequence, recordedAt: envelope.recordedAt))
        decode(envelope, payload: payload)
        let reading = ChangeReading(names: context.names)
        return DecodedEvent(
            envelope: envelope,
            changes: changes.map { reading.decoded($0) },
            issues: context.reasons
        )
    }
}
