/// One prefix of a log, unchanged while the session lasts, whatever is appended or compacted meanwhile (I6).
public struct ReadSession: ~Copyable {
    private let transaction: ReadTransaction
    let generation: Generation
    let reader: LogReader
    /// The last sequence assigned when the session began, also where its event is dropped; zero for an empty log.
    public let head: SequenceNumber
    /// The head at the moment when the last compaction was decided, or zero.
    public let decidedAt: SequenceNumber
    /// Whether an act names the facts; not in a rewrite that has not come to its act.
    private let hasAct: Bool

    init(
        transaction: consuming ReadTransaction,
        generation: Generation,
        head: UInt64,
        decidedAt: SequenceNumber,
        hasAct: Bool = true
    ) {
        reader = LogReader(transaction.view, of: generation)
        self.transaction = transaction
        self.generation = generation
        self.head = SequenceNumber(head)
        self.decidedAt = decidedAt
        self.hasAct = hasAct
    }

    /// Sixteen random bytes that tell this log from every other.
    public func identity() throws -> [UInt8] { try reader.meta(MetaName.identity) ?? [] }

    /// Whether the log is a part of another one: it has the other's sequences and root, and lacks some of its events.
    public func isPart() throws -> Bool { try reader.isPart() }

    /// Which generation is read; it rises with every rewrite.
    var generationNumber: UInt32 { generation.number }

    /// The event at a sequence; `nil` where it is dropped. Copies its bytes.
    ///
    /// - Throws: `EventLogError` with code `notFound` for zero and beyond the head.
    public func event(at sequence: SequenceNumber) throws -> RecordedEvent? {
        try checkPlace(sequence)
        guard let record = try reader.record(at: sequence.rawValue) else {
            if try reader.gapRun(at: sequence.rawValue) == nil { _ = try reader.leafHash(at: sequence.rawValue) }
            return nil
        }
        let lane = try reader.lane(record.laneNumber)
        return withExtendedLifetime(lane) {
            EventView(sequence: sequence.rawValue, record: record, lane: .passUnretained(lane)).copied()
        }
    }

    /// Lends the held events of a closed range in sequence order; `body` returns false to stop.
    ///
    /// Nothing is copied or allocated per event: payloads are borrowed from the map.
    public func forEachEvent(
        in range: ClosedRange<SequenceNumber>,
        _ body: (borrowing EventView) throws -> Bool
    ) throws {
        var lanes = LaneLookup(reader)
        try reader.forEachRecord(in: range.lowerBound.rawValue...range.upperBound.rawValue) { sequence, record in
            try body(EventView(sequence: sequence, record: record, lane: try lanes.reference(record.laneNumber)))
        }
    }

    /// How much of an event is held.
    public func holding(at sequence: SequenceNumber) throws -> EventHolding {
        try checkPlace(sequence)
        return try reader.record(at: sequence.rawValue)?.holding ?? .dropped
    }

    /// The RFC 6962 leaf hash of an event, also of a dropped one.
    public func leafHash(at sequence: SequenceNumber) throws -> Hash256 {
        try checkPlace(sequence)
        return try reader.leafHash(at: sequence.rawValue)
    }

    /// A hash of all events up to a sequence, for what is derived from them: in a log in which any of them has another leaf
    /// hash, or the clock is another, it is another. No part of the format.
    public func prefixHash(through sequence: SequenceNumber) throws -> Hash256 {
        if sequence != .zero { try checkPlace(sequence) }
        return try reader.prefixHash(through: sequence.rawValue)
    }

    /// The greatest recordedAt of the remote changes up to a sequence, dropped ones included; `nil` where there is none.
    ///
    /// Of events that were dropped together only the greatest is left, at their end: within them the answer may be that of
    /// an earlier event.
    public func clock(at sequence: SequenceNumber) throws -> Timestamp? {
        if sequence != .zero { try checkPlace(sequence) }
        let clock = try reader.clock(at: sequence.rawValue)
        return clock == Clock.none ? nil : Timestamp(microseconds: clock)
    }

    /// The end of the longest prefix whose clock is at or before an instant; zero where there is none.
    public func lastSequence(clockAtMost limit: Timestamp) throws -> SequenceNumber {
        SequenceNumber(try reader.prefix(clockAtMost: limit.microseconds, head: head.rawValue))
    }

    /// What the recorder of a source stored to resume from.
    public func bookmark(of source: SourceName) throws -> [UInt8]? {
        try reader.sealedValue(of: Array(source.rawValue.utf8), in: reader.tables.bookmarks)
    }

    /// What a rewrite stored beside the events under a name.
    ///
    /// - Throws: `EventLogError` with code `damaged` where the facts are not those that the act of the rewrite names.
    public func fact(_ name: String) throws -> [UInt8]? {
        if try name.isEmpty || isPart() { return nil }
        if hasAct { try reader.checkFacts() }
        return try reader.sealedValue(of: Array(name.utf8), in: reader.tables.facts)
    }

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
    /// The root of the hash tree over the first `size` events (RFC 6962).
    public func root(size: UInt64) throws -> Hash256 {
        try checkSize(size)
        return try reader.root(over: 0..<size)
    }

    /// The hashes that prove that an event is in the tree of a size.
    public func inclusionProof(of sequence: SequenceNumber, size: UInt64) throws -> [Hash256] {
        try checkPlace(sequence)
        try checkSize(size)
        return try MerkleTree.inclusionProof(leaf: sequence.rawValue - 1, size: size) { try reader.root(over: $0) }
    }

    /// The hashes that prove that the tree of the first size is a prefix of that of the second.
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
