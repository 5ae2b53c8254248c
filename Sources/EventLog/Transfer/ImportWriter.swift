/// Writes the pieces of a log into a generation. It checks their order and form only; `check` then verifies everything
/// that was written, hashes included.
///
/// `@unchecked Sendable` is right because one thread uses it at a time: `LogImport` waits for each write before the
/// next call.
final class ImportWriter: @unchecked Sendable {
    private let target: Generation
    private let interner = LaneInterner()
    /// The head, the open node and the clock of what was written so far.
    private var edge = TreeEdge()
    /// The lane of the last event, which most events share with the one before.
    private var lastLane: Lane?
    /// By object: `interner` makes equal lanes one object, and keeps it alive.
    private var laneNumbers: [ObjectIdentifier: UInt32] = [:]
    /// The last key of a dropped event; they must ascend from chunk to chunk.
    private var lastKey: DroppedKeys.Entry?
    /// How many events the part lacks so far.
    private(set) var missing: UInt64 = 0
    private let isPart: Bool

    init(_ target: Generation, isPart: Bool) {
        self.target = target
        self.isPart = isPart
    }

    /// Writes the values of the header.
    func begin(_ header: LogHeader) throws {
        try write { transaction, tables in
            try transaction.putMeta(header.identity, named: MetaName.identity, in: tables.meta)
            if header.decidedAt > .zero {
                let decidedAt = withKey(header.decidedAt.rawValue) { Array($0) }
                try transaction.putMeta(decidedAt, named: MetaName.decidedAt, in: tables.meta)
            }
            let acts = header.acts.flatMap { act in withKey(act.rawValue) { Array($0) } }
            if !acts.isEmpty { try transaction.putMeta(acts, named: MetaName.acts, in: tables.meta) }
            try store(header.facts, in: tables.facts, transaction)
            try store(header.bookmarks, in: tables.bookmarks, transaction)
        }
    }

    /// Writes pieces in one transaction.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` if a piece does not follow the one before.
    func write(_ pieces: [LogPiece]) throws {
        try write { transaction, tables in
            for piece in pieces {
                switch piece {
                case .event(let event): try store(event, transaction, tables)
                case .dropped(let run): try store(run, transaction, tables)
                case .missing(let run): try store(run, transaction, tables)
                case .keys(let bytes): try store(keys: bytes, transaction, tables)
                }
            }
        }
    }

    /// Verifies everything that was written, and compares it with the header.
    ///
    /// - Returns: whether acts name by hash what lies beside the events (I25).
    func check(_ header: LogHeader) throws -> Bool {
        guard edge.head == header.size else {
            throw invalid("\(edge.head) events came, the header says \(header.size)")
        }
        // A part that lacks nothing is a whole log.
        if missing > 0 { try write { try $0.putMeta([1], named: MetaName.part, in: $1.meta) } }
        // The leaf hashes came with the input. Only this pass shows that they are those of the events.
        let report = try target.read { reader in
            var verification = Verification(reader, generation: target.number, progress: nil)
            return verification.run(identity: header.identity, file: try DataFile(in: target.folder))
        }
        if let damage = report.damage { throw invalid("\(damage)") }
        guard report.root == header.root else {
            throw invalid("its events have the root \(report.root), the header says \(header.root)")
        }
        return report.provesRemains
    }

    private func write(_ body: (borrowing WriteTransaction, LogTables) throws -> Void) throws {
        let transaction = try target.environment.beginWrite()
        try body(transaction, target.tables)
        try transaction.commit()
    }

    private func invalid(_ reason: String) -> EventLogError {
        EventLogError(.invalidArgument, operation: "import log", object: "", reason: reason)
    }
}

// MARK: - Pieces

extension ImportWriter {
    private func store(
        _ event: RecordedEvent,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        let envelope = event.envelope
        try checkPlace(envelope.sequence)
        guard event.payload.count <= EnvelopeLimits.payloadBytesMax else {
            throw invalid("sequence \(envelope.sequence) has a payload of \(event.payload.count) bytes")
        }
        let lane = lane(of: envelope)
        let number = try number(of: lane, transaction, tables)
        guard let record = Record.bytes(of: event, lane: number) else {
            throw invalid("sequence \(envelope.sequence) has no salt of 16 bytes")
        }
        try withKey(envelope.sequence.rawValue) { key in
            try record.withUnsafeBytes { try transaction.append($0, at: key, in: tables.events) }
        }
        let clock = lane.isAct ? Clock.none : envelope.recordedAt.microseconds
        try extend(event.leafHash, clock: clock, transaction, tables)
        assert(edge.head == envelope.sequence.rawValue, "the tree ends with the event that was stored")
    }

    private func store(
        _ run: DroppedRun,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        try checkPlace(run.first)
        guard (1...1000).contains(run.leafHashes.count) else {
            throw invalid("a run of dropped events has \(run.leafHashes.count) leaf hashes")
        }
        let clock = run.clock?.microseconds ?? Clock.none
        let end = run.leafHashes.count
        // An exported run may be longer than a stored one. Only its last part has a clock, because the clock counts at
        // the last event of the whole run.
        for start in stride(from: 0, to: end, by: GapRun.hashCountMax) {
            let stop = min(start + GapRun.hashCountMax, end)
            let part = GapRun(
                first: run.first.rawValue + UInt64(start),
                rewrite: run.rewrite,
                clock: stop == end ? clock : Clock.none,
                hashes: Array(run.leafHashes[start..<stop])
            )
            try transaction.insertSummed(part.bytes, at: withKey(part.first) { Array($0) }, in: tables.gaps)
        }
        for (place, hash) in run.leafHashes.enumerated() {
            // A node that ends within the run has a clock that the run does not give, so the piece brings it.
            let isAtNode = (edge.head + 1).isMultiple(of: TreeNode.leafCount)
            let known = isAtNode ? run.clockAtNode?.microseconds ?? Clock.none : Clock.none
            try extend(hash, clock: place == end - 1 ? clock : known, transaction, tables)
        }
        assert(edge.head - run.first.rawValue == UInt64(end) - 1, "the tree ends with the run that was stored")
    }

    private func store(
        _ run: MissingRun,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        try checkPlace(run.first)
        guard isPart else { throw invalid("sequence \(run.first) is missing, and the header tells of a whole log") }
        guard let level = UInt8(exactly: run.level), run.level <= MissingRun.levelMax else {
            throw invalid("a subtree of level \(run.level) stands at sequence \(run.first), and the highest is 8")
        }
        let gap = GapRun(
            first: run.first.rawValue,
            level: level,
            rewrite: GapRun.missing,
            clock: Clock.none,
            hashes: [run.hash]
        )
        guard gap.isWellFormedMissing else {
            throw invalid("a subtree of \(gap.count) events may not begin at sequence \(run.first)")
        }
        try transaction.insertSummed(gap.bytes, at: withKey(gap.first) { Array($0) }, in: tables.gaps)
        missing += gap.count
        try extend(run.hash, level: run.level, clock: Clock.none, transaction, tables)
    }

    private func store(
        keys bytes: [UInt8],
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        guard let entries = bytes.withUnsafeBytes({ DroppedKeys.entries($0) }),
            entries.count <= DroppedKeys.chunkCountMax
        else {
            throw invalid("a chunk of keys of dropped events is malformed")
        }
        for entry in entries {
            if let lastKey, lastKey >= entry { throw invalid("the keys of dropped events do not ascend") }
            lastKey = entry
        }
        for chunk in DroppedKeys.chunks(of: entries) {
            try transaction.insertSummed(chunk.value, at: chunk.key, in: tables.keys)
        }
    }

    private func store(
        _ values: [String: [UInt8]],
        in table: Table,
        _ transaction: borrowing WriteTransaction
    ) throws {
        for (name, value) in values {
            guard (1...255).contains(name.utf8.count) else {
                throw invalid("a name in \(table.name) has \(name.utf8.count) bytes")
            }
            try transaction.insertSummed(value, at: Array(name.utf8), in: table)
        }
    }

    /// - Throws: `EventLogError` with code `invalidArgument` unless the sequence is the next one.
    private func checkPlace(_ sequence: SequenceNumber) throws {
        guard sequence.rawValue != edge.head + 1 else { return }
        throw invalid("sequence \(sequence) stands where \(edge.head + 1) belongs")
    }
}

// MARK: - The tree and the lanes

extension ImportWriter {
    /// Adds a leaf, or the root of a subtree, to the tree, and stores the node that it completes.
    private func extend(
        _ hash: Hash256,
        level: Int = 0,
        clock: Int64,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        guard let node = edge.append(hash, level: level, clock: clock) else { return }
        let key = withKey(edge.head / TreeNode.leafCount - 1) { Array($0) }
        try transaction.insertSummed(node.bytes, at: key, in: tables.nodes)
    }

    private func lane(of envelope: Envelope) -> Lane {
        if let lastLane, lastLane.isSame(as: envelope) { return lastLane }
        let lane = interner.lane(source: envelope.source, kind: envelope.kind, attributes: envelope.attributes)
        lastLane = lane
        return lane
    }

    /// The number of a lane, given in the order in which the lanes come. It enters no hash, so it may differ from the
    /// exported log's.
    private func number(
        of lane: Lane,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws -> UInt32 {
        if let number = laneNumbers[ObjectIdentifier(lane)] { return number }
        let number = UInt32(laneNumbers.count)
        try transaction.insertSummed(lane.bytes, at: withKey(number) { Array($0) }, in: tables.lanes)
        laneNumbers[ObjectIdentifier(lane)] = number
        return number
    }
}

extension Lane {
    /// Whether an event belongs to the lane. Compares bytes, because Swift's equality of texts is that of Unicode.
    func isSame(as envelope: Envelope) -> Bool {
        sameBytes(source.rawValue, envelope.source.rawValue) && sameBytes(kind.rawValue, envelope.kind.rawValue)
            && attributes.pairs.elementsEqual(envelope.attributes.pairs) { left, right in
                sameBytes(left.name, right.name) && sameBytes(left.value, right.value)
            }
    }
}

extension Record {
    /// The bytes of an event's record; `nil` if a whole event has no salt of 16 bytes.
    static func bytes(of event: RecordedEvent, lane: UInt32) -> [UInt8]? {
        let isRedacted = event.envelope.holding == .redacted
        // 47 bytes before salt or commitment, which have at most 32.
        let keyBytes = event.envelope.key?.rawValue.utf8.count ?? 0
        var writer = ByteWriter(capacity: 79 + keyBytes + event.payload.count)
        writer.write(version)
        writer.write(isRedacted ? EventHolding.redacted.rawValue : EventHolding.whole.rawValue)
        writer.write(lane)
        writer.write(event.envelope.recordedAt.microseconds)
        writer.write(UInt8(clamping: keyBytes))
        writer.write(event.leafHash)
        if isRedacted {
            writer.write(event.commitment)
        } else {
            guard let salt = event.salt, salt.count == saltBytes else { return nil }
            writer.write(salt)
        }
        if let key = event.envelope.key { writer.write(key.rawValue.utf8) }
        writer.write(event.payload)
        return writer.bytes
    }
}
