import EventLog

/// Turns the events of one kind of payload into domain changes, and keeps what the next event needs to be understood.
///
/// A decoder is a pure value, as a fold is: the same events give the same changes. A payload that does not decode
/// becomes an issue in the context; never a crash, never silence (C11).
protocol EventDecoder: Sendable {
    init()

    /// Reads one event. `payload` is valid for the call only.
    mutating func decode(
        _ envelope: Envelope,
        payload: UnsafeRawBufferPointer,
        into changes: inout [Change],
        context: inout FoldContext
    )

    /// Adds the sequence of every event that this decoder's state comes from and that a later event may need.
    func collectNeeded(into sequences: inout Set<UInt64>)

    /// What the decoder remembers between events, as `Fold.snapshot`.
    func snapshot(names: Names) -> JSONValue

    /// What it remembers that no kept event gives again.
    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue

    /// Takes over facts into an empty decoder.
    mutating func load(facts: JSONValue, names: inout Names) throws
}
