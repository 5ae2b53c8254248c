public import EventLog

/// Which file reads a source, where a compaction leaves the choice.
extension Decoders {
    /// Puts a file in force for a source, or takes its file away. An act that holds the whole file, durable on return.
    ///
    /// - Parameters:
    ///   - file: `nil` to leave the source without a file.
    ///   - time: when it was done.
    ///   - isForced: Whether the file counts also where a compaction dropped events of the source that another decoder had
    ///     read. What the facts keep of them stays as that one read them.
    /// - Returns: the act's sequence.
    /// - Throws: `EngineError` as `checkDropped`; otherwise as `EventStore.append`.
    @discardableResult
    public static func set(
        _ file: DecoderFile?,
        for source: SourceName,
        in store: EventStore,
        at time: Timestamp,
        isForced: Bool = false
    ) throws -> SequenceNumber {
        if !isForced { try store.read { try checkDropped(file, for: source, in: $0) } }
        let payload = JSONValue.object([
            "decoder": file.map { .string($0.name) },
            "sha256": file.map { .string($0.hash.hex) },
            "file": file.map { .string($0.text) } ?? .null,
        ])
        return try store.appendAct(
            actKind,
            attributes: [Attributes.Pair(name: sourceAttribute, value: source.rawValue)],
            payload: Array(payload.canonicalText.utf8),
            at: time
        )
    }

    /// Has a decoder file stand in for the one in force for a source, which may have none.
    ///
    /// It counts for this `store`, until the store is gone: nothing is written into the log, and no state is kept beside it. Use
    /// it before the first replay.
    ///
    /// - Throws: `EngineError` with code `refused` if a compaction dropped events of the source that another decoder had read;
    ///   `EventLogError` if the log cannot be read.
    public static func standIn(_ file: DecoderFile, for source: SourceName, in store: EventStore) throws {
        try store.read { try checkDropped(file, for: source, in: $0) }
        attach(to: store) { $0.standIns[source] = file }
    }

    /// Refuses a file for a source of which a compaction dropped events that another decoder had read: what the facts keep of
    /// them has that decoder's reading, and no later one can mend it (C18).
    ///
    /// - Parameter file: The file that is to read the source; `nil` for none.
    /// - Throws: `EngineError` with code `refused` (exit 4), naming both. `EventLogError` if the log cannot be read.
    public static func checkDropped(
        _ file: DecoderFile?,
        for source: SourceName,
        in session: borrowing ReadSession
    ) throws {
        let file = DecoderIdentity(file: file)
        guard let reader = DropLedger(try session.fact(DropLedger.factName)).readers[source], reader != file else {
            return
        }
        throw EngineError(
            "read source \(source) by \(file): a compaction dropped events of it that \(reader) had read, and what is kept of "
                + "these stays as that decoder read them; --force has the rest read by \(file)",
            code: .refused
        )
    }
}
