import EventLog
import Projections

/// One of several logs that are read as one, as it was when the join began. Later appends to it are not part of the join.
struct JoinMember: Sendable {
    /// The name that orders it among the others.
    let name: String
    /// Where it is.
    let path: String
    /// The sixteen bytes that identify it.
    let identity: [UInt8]
    /// Its last sequence.
    let head: SequenceNumber
    /// The root over its events.
    let root: Hash256
    /// Rises with every rewrite.
    let generation: UInt32
    /// The decoder files in force.
    let decoders: Decoders

    /// Reads what the join needs to know of a log.
    ///
    /// - Throws: `EngineError`: `trouble` for a part, or a log with a decoder file that this program cannot read; `no` for one that lacks events
    ///   since a compaction. `EventLogError` if the log cannot be read.
    init(_ store: EventStore, name: String) throws {
        (self.name, path) = (name, store.path)
        (identity, head, root, generation, decoders) = try store.read { session in
            if try session.isPart() {
                throw EngineError(
                    "join \"\(name)\": the log is a part of another one; what it lacks cannot be told apart from what never came, so take it away, or "
                        + "import the whole log"
                )
            }
            let decoders = try Decoders(inForce: session)
            for source in try session.kindsBySource().keys.sorted() {
                guard let fault = decoders.fault(of: source) else { continue }
                throw EngineError("join \"\(name)\": source \(source): \(fault); use a newer logtool")
            }
            let root = try session.root(size: session.head.rawValue)
            return (try session.identity(), session.head, root, session.generationNumber, decoders)
        }
        let statistics = try store.statistics()
        if statistics.dropped > 0 {
            throw EngineError(
                "join \"\(name)\": it lacks \(statistics.dropped) of its \(statistics.head) events, which a compaction dropped or a salvage lost, and what "
                    + "is kept of them belongs to that log alone; give its archives by --with-archive, or look at the log by itself",
                code: .no
            )
        }
    }
}

/// The remote changes of one member from a sequence on, read a chunk at a time.
struct JoinCursor {
    /// A remote change on its way into the joined log.
    struct Change {
        let draft: DraftEvent
        let sequence: UInt64
        /// The member's clock there.
        let clock: Int64
        let isRedacted: Bool
    }

    private let member: JoinMember
    private let open: () throws -> EventStore
    /// The payload bytes that one chunk may have.
    private let bytesMax: Int
    private var next: UInt64
    private var clock: Int64
    private var chunk: [Change] = []
    private var place = 0

    /// Bounds one chunk.
    private static let countMax = 4096

    /// A cursor behind a sequence, whose clock is `clock`.
    init(
        _ member: JoinMember,
        behind last: UInt64,
        clock: Int64,
        bytesMax: Int,
        open: @escaping () throws -> EventStore
    ) {
        (self.member, self.open, self.bytesMax) = (member, open, bytesMax)
        (next, self.clock) = (last + 1, clock)
    }

    /// The next change; `nil` at the end.
    ///
    /// - Throws: `EventLogError` with code `damaged` for an event that does not fit its leaf hash, `locked` if the log was rewritten since the
    ///   join began.
    mutating func peek() throws -> Change? {
        while place == chunk.count, next <= member.head.rawValue { try fill() }
        return place < chunk.count ? chunk[place] : nil
    }

    /// Goes on behind the change that `peek` gave.
    mutating func advance() { place += 1 }

    private mutating func fill() throws {
        (chunk, place) = ([], 0)
        chunk.reserveCapacity(Self.countMax)
        var bytes = 0
        let range = SequenceNumber(next)...member.head
        next = member.head.rawValue + 1
        let (countMax, bytesMax) = (Self.countMax, bytesMax)
        try open().read { session in
            guard session.generationNumber == member.generation else {
                throw EventLogError(
                    .locked,
                    operation: "join",
                    object: member.name,
                    reason: "the log was rewritten meanwhile",
                    advice: "try again"
                )
            }
            try session.forEachEvent(in: range) { event in
                guard chunk.count < countMax, bytes < bytesMax else {
                    next = event.sequence.rawValue
                    return false
                }
                if event.isAct { return true }
                // The joined log holds the bytes as if they had been appended so (I7).
                try session.check(event)
                clock = max(clock, event.recordedAt.microseconds)
                let draft = event.draft
                bytes += draft.payload.count
                chunk.append(
                    Change(
                        draft: draft,
                        sequence: event.sequence.rawValue,
                        clock: clock,
                        isRedacted: event.holding == .redacted
                    )
                )
                return true
            }
        }
    }
}
