/// A view of one prefix of a log. Appends and compactions do not change it while the session lasts (I6).
///
/// Keep it short: as long as it lasts, the space of replaced pages is not used again, and this process cannot enlarge
/// the map for an append.
public struct ReadSession: ~Copyable {
    private let transaction: ReadTransaction
    let generation: Generation
    let reader: LogReader
    /// The last sequence assigned when the session began, even if its event is dropped; zero for an empty log.
    public let head: SequenceNumber
    /// The head when the last compaction was decided; zero before the first.
    public let decidedAt: SequenceNumber
    /// Whether an act names the facts. False in the session that a rewrite's proof gets: the act comes after it.
    private let hasAct: Bool
    /// What a module above keeps with the store.
    package let attachment: (any Sendable)?

    init(
        transaction: consuming ReadTransaction,
        generation: Generation,
        head: UInt64,
        decidedAt: SequenceNumber,
        hasAct: Bool = true,
        attachment: (any Sendable)?
    ) {
        reader = LogReader(transaction.view, of: generation)
        self.transaction = transaction
        self.generation = generation
        self.head = SequenceNumber(head)
        self.decidedAt = decidedAt
        self.hasAct = hasAct
        self.attachment = attachment
    }

    /// The sixteen random bytes that identify this log.
    public func identity() throws -> [UInt8] { try reader.meta(MetaName.identity) ?? [] }

    /// Whether the log is a part of another one: it has the other's sequences and root, and lacks some of its events.
    public func isPart() throws -> Bool { try reader.isPart() }

    /// Which generation is read; it rises with every rewrite.
    package var generationNumber: UInt32 { generation.number }

    /// The event at a sequence, copied; `nil` if it is dropped.
    ///
    /// - Throws: `EventLogError` with code `notFound` for zero and beyond the head, `damaged` if the sequence is
    ///   neither held nor dropped.
    public func event(at sequence: SequenceNumber) throws -> RecordedEvent? {
        try checkPlace(sequence)
        if let event = try reader.event(at: sequence.rawValue) { return event }
        // `leafHash(at:)` throws where no run covers the sequence.
        if try reader.gapRun(at: sequence.rawValue) == nil { _ = try reader.leafHash(at: sequence.rawValue) }
        return nil
    }

    /// Passes the held events of a closed range to `body` in sequence order; `body` returns false to stop.
    ///
    /// Nothing is copied or allocated per event: payloads are lent from the map, whose pages the process gives back behind the
    /// walk, or from a block of sealed events.
    public func forEachEvent(
        in range: ClosedRange<SequenceNumber>,
        _ body: (borrowing EventView) throws -> Bool
    ) throws {
        var lanes = LaneLookup(reader)
        var passed = MapRelease()
        defer { passed.finish() }
        try reader.forEachRecord(
            in: range.lowerBound.rawValue...range.upperBound.rawValue,
            placed: { sequence, record, place in
                passed.pass(place.stored)
                let lane = try lanes.reference(record.laneNumber)
                return try body(EventView(sequence: sequence, record: record, lane: lane, block: place.block))
            }
        )
    }

    /// How much of an event is held. `dropped` also for an event that a part lacks.
    public func holding(at sequence: SequenceNumber) throws -> EventHolding {
        try checkPlace(sequence)
        return try reader.withRecord(at: sequence.rawValue) { $0.holding } ?? .dropped
    }

    /// The RFC 6962 leaf hash of an event, also of a dropped one.
    public func leafHash(at sequence: SequenceNumber) throws -> Hash256 {
        try checkPlace(sequence)
        return try reader.leafHash(at: sequence.rawValue)
    }

    /// A hash of all events up to a sequence, to bind derived data to them. It differs if any leaf hash or any stored
    /// clock up to there differs. Cost: reads one tree node per 256 events, and up to 255 leaf hashes.
    public func prefixHash(through sequence: SequenceNumber) throws -> Hash256 {
        if sequence != .zero { try checkPlace(sequence) }
        return try reader.prefixHash(through: sequence.rawValue)
    }

    /// The greatest `recordedAt` of the remote changes up to a sequence, dropped ones included; `nil` if there are
    /// none.
    ///
    /// A run of dropped events keeps only its greatest time, which counts at its last event. Within such a run, the
    /// result may be that of an earlier event.
    public func clock(at sequence: SequenceNumber) throws -> Timestamp? {
        if sequence != .zero { try checkPlace(sequence) }
        let clock = try reader.clock(at: sequence.rawValue)
        return clock == Clock.none ? nil : Timestamp(microseconds: clock)
    }

    /// The last sequence of the longest prefix whose clock is at or before `limit`; zero if there is none.
    public func lastSequence(clockAtMost limit: Timestamp) throws -> SequenceNumber {
        SequenceNumber(try reader.prefix(clockAtMost: limit.microseconds, head: head.rawValue))
    }

    /// The bookmark that the recorder of a source stored to resume from; `nil` without one. Only the recorder
    /// understands it.
    public func bookmark(of source: SourceName) throws -> [UInt8]? {
        try reader.summedValue(of: Array(source.rawValue.utf8), in: reader.tables.bookmarks)
    }

    /// The value that a rewrite stored beside the events under `name`; `nil` without one, and always in a part.
    ///
    /// - Throws: `EventLogError` with code `damaged` if the facts are not those that the rewrite's act names (I25).
    public func fact(_ name: String) throws -> [UInt8]? {
        if try name.isEmpty || isPart() { return nil }
        if hasAct { try reader.checkFacts() }
        return try reader.summedValue(of: Array(name.utf8), in: reader.tables.facts)
    }

    /// - Throws: `EventLogError` with code `notFound` for zero and beyond the head.
    private func checkPlace(_ sequence: SequenceNumber) throws {
        guard sequence == .zero || sequence > head else { return }
        throw EventLogError(
            .notFound,
            operation: "read sequence",
            object: sequence.description,
            reason: "the log has sequences 1 to \(head)"
        )
    }
}

// MARK: - Proofs

extension ReadSession {
    /// The root of the hash tree over the first `size` events (RFC 6962). Cost: at most 255 leaves, and each tree node
    /// that no earlier root or proof of this process has read.
    public func root(size: UInt64) throws -> Hash256 {
        try checkSize(size)
        return try reader.root(over: 0..<size)
    }

    /// The inclusion proof of an event in the tree over the first `size` events (RFC 6962).
    public func inclusionProof(of sequence: SequenceNumber, size: UInt64) throws -> [Hash256] {
        try checkPlace(sequence)
        try checkSize(size)
        return try MerkleTree.inclusionProof(leaf: sequence.rawValue - 1, size: size) { try reader.root(over: $0) }
    }

    /// The consistency proof that the tree of `first` events is a prefix of the tree of `second` events (RFC 6962).
    public func consistencyProof(from first: UInt64, to second: UInt64) throws -> [Hash256] {
        try checkSize(second)
        return try MerkleTree.consistencyProof(from: first, to: second) { try reader.root(over: $0) }
    }

    private func checkSize(_ size: UInt64) throws {
        guard size > head.rawValue else { return }
        throw EventLogError(
            .notFound,
            operation: "compute the root of size",
            object: String(size),
            reason: "the head is \(head)"
        )
    }
}
