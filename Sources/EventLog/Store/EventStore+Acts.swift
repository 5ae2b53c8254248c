extension EventStore {
    /// Appends an act that is numbered among those of its kind (`ReadSession.newestActs`), durable on return.
    ///
    /// - Parameter last: The number of the last act that this one goes on from (`ReadSession.lastActNumber`); `nil` for whichever is
    ///   the last.
    /// - Throws: `EventLogError` as `append`; with code `keyConflict` if another act of the kind has come since `last`: read that, and
    ///   try again.
    @discardableResult
    package func appendAct(
        _ kind: EventKind,
        attributes: [Attributes.Pair],
        payload: [UInt8],
        after last: Int? = nil,
        at time: Timestamp
    ) throws -> SequenceNumber {
        let (newest, noted, head) = try read { session in
            (try session.lastActNumber(kind), try session.bookmark(of: .logtool) ?? [], session.head)
        }
        let number = (last ?? newest) + 1
        let pairs = attributes + [Attributes.Pair(name: "number", value: String(number))]
        let draft = DraftEvent(
            recordedAt: time,
            source: .logtool,
            kind: kind,
            // Of two acts that go on from the same one, the second is refused.
            key: try last.map { _ in try EventKey("\(kind)/\(number)") },
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
