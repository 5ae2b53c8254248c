extension EventStore {
    /// Appends an act that is numbered among those of its kind (`ReadSession.newestActs`), durable on return.
    ///
    /// - Throws: `EventLogError` as `append`; with code `keyConflict` if another process has appended an act of the kind
    ///   meanwhile: try again.
    @discardableResult
    package func appendAct(
        _ kind: EventKind,
        attributes: [Attributes.Pair],
        payload: [UInt8],
        at time: Timestamp
    ) throws -> SequenceNumber {
        let (number, noted, head) = try read { session in
            (try session.lastActNumber(kind) + 1, try session.bookmark(of: .logtool) ?? [], session.head)
        }
        let pairs = attributes + [Attributes.Pair(name: "number", value: String(number))]
        let draft = DraftEvent(
            recordedAt: time,
            source: .logtool,
            kind: kind,
            attributes: try Attributes(pairs),
            payload: payload
        )
        let result = try begin(writer.batch(of: DraftBatch([draft])), bookmark: nil).wait().get()
        guard let sequence = result.sequences.first else { return head }
        // A note alone: without it the acts are looked for.
        let note = Array(noted.suffix(8 * 255)) + withUnsafeBytes(of: sequence.rawValue.bigEndian) { Array($0) }
        _ = try? begin(writer.batch(of: DraftBatch([])), bookmark: Bookmark(source: .logtool, bytes: note)).wait().get()
        return sequence
    }
}
