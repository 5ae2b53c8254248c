import EventLog
import Projections

/// Tells whether a log was rewritten since something was made of it.
struct LogRevision {
    /// Where the last compaction was decided.
    let decidedAt: SequenceNumber
    let generation: UInt32
    /// The last redaction.
    let redactedAt: SequenceNumber

    init(of session: borrowing ReadSession) throws {
        (decidedAt, generation) = (session.decidedAt, session.generationNumber)
        redactedAt = try Redactions.newest(in: session)
    }

    /// False once the log was compacted or redacted again; for a map with events also after any other rewrite.
    func continues(in session: borrowing ReadSession, for map: CacheMap) throws -> Bool {
        let isSame = try session.decidedAt == decidedAt && Redactions.newest(in: session) == redactedAt
        return isSame && (!map.hasEvents || session.generationNumber == generation)
    }
}
