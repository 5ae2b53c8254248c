import EventLog

/// Turns the events of one kind of payload into domain changes, and keeps what later events need.
///
/// A decoder is a pure value, like a fold: the same events give the same changes (I10). A payload that does not decode
/// becomes an issue in the context, never a crash, never silence (I11). A decoder belongs to one source and never sees
/// the folds.
protocol SourceDecoder: StatePart {
    init()

    /// Reads one event and appends its changes. `payload` is valid only during the call. Events come in log order, each
    /// once, except that a compacted log brings kept events again after facts were loaded.
    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    )
}
