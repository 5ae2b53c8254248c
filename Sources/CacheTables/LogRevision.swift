import EventLog

/// Tells whether a log was rewritten since something was made of it.
struct LogRevision {
    /// Where the last compaction was decided.
    let decidedAt: SequenceNumber
    let generation: UInt32

    init(decidedAt: SequenceNumber, generation: UInt32) {
        (self.decidedAt, self.generation) = (decidedAt, generation)
    }

    init(of session: borrowing ReadSession) {
        self.init(decidedAt: session.decidedAt, generation: session.generationNumber)
    }

    /// False once the log was compacted again; for a map with events also after any other rewrite, since a redaction
    /// replaces payloads and compacts nothing.
    func continues(in session: borrowing ReadSession, for map: CacheMap) -> Bool {
        session.decidedAt == decidedAt && (!map.hasEvents || session.generationNumber == generation)
    }
}
