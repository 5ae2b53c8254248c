import EventLog

/// Turns the events of one kind of payload into domain changes, and keeps what the next event needs to be understood.
///
/// A decoder is a pure value, as a fold is: the same events give the same changes. A payload that does not decode
/// becomes an issue in the context; never a crash, never silence (I11).
protocol EventDecoder: StatePart {
    init()

    /// Reads one event. `payload` is valid for the call only.
    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    )
}
