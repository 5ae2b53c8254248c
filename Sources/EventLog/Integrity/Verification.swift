/// Reads a whole generation and recomputes everything that can be recomputed (I7), within one transaction. Use a value
/// once.
struct Verification {
    private let reader: LogReader
    private(set) var report = VerifyReport()
    /// The complete nodes so far.
    private var frontier = MerkleFrontier()
    /// The leaves since the last complete node.
    private var nodeFrontier = MerkleFrontier()
    /// The greatest known time of the remote changes so far, in microseconds.
    private var clock = Clock.none
    /// Whether the time of each leaf since the last node is known. A run of dropped events has only its greatest.
    private var isClockExact = true
    /// The blocks and the events in them so far; the last sequence of a block.
    private var sealing = Sealing(through: 0)
    private let decompressor = BlockDecompressor()
    /// Collects dropped and redacted events and acts; compares them once all events are read.
    private var gaps = GapExplanation()
    /// The sequences of dropped events, for the check of their keys.
    private var dropped = SequenceRanges()
    /// The next sequence to check.
    private var expected: UInt64 = 1
    /// Whether the pass over the events is under way, so that `expected` is the place of an error.
    private var isAmongEvents = false

    private let progress: PageCheck.Progress?

    init(_ reader: LogReader, generation: UInt32, progress: PageCheck.Progress?) {
        self.reader = reader
        self.progress = progress
        report.generation = generation
    }

    /// Why the check stopped.
    private struct Stop: Error {
        let damage: VerifyReport.Damage
    }

    /// Checks everything; stops at the first damage, which the report then names.
    mutating func run(identity: [UInt8], file: DataFile) -> VerifyReport {
        do {
            var pages = try PageCheck(file, transaction: reader.view.transaction, isGrown: true)
            pages.progress = progress
            try pages.begin(deferring: LogTables.events)
            try checkSmallTables(identity: identity)
            isAmongEvents = true
            try checkEvents(in: &pages)
            isAmongEvents = false
            try checkKeys()
            try checkCounts()
            try gaps.check(reader)
            if try reader.isPart() {
                try checkNothingBesideAPart()
            } else {
                report.provesRemains = try gaps.checkRemains(reader, head: report.head.rawValue)
            }
        } catch let stop as Stop {
            report.damage = stop.damage
        } catch let damage as PageCheck.Damage {
            report.damage = .init(damage)
            report.isDamageOfMetaPages = damage.page < 2
        } catch let error as EventLogError {
            report.damage = .init(sequence: error.sequence ?? placeOfEvents, reason: error.reason)
        } catch let error as LMDBError {
            report.damage = .init(sequence: placeOfEvents, reason: "\(error.reason), to \(error.operation)")
        } catch {
            report.damage = .init(sequence: nil, reason: "\(error)")
        }
        return report
    }

    /// The sequence that is being checked; `nil` outside the pass over events.
    private var placeOfEvents: SequenceNumber? { isAmongEvents ? SequenceNumber(expected) : nil }

    private func stop(_ reason: String, at sequence: UInt64? = nil) -> Stop {
        Stop(damage: .init(sequence: sequence.map { SequenceNumber($0) }, reason: reason))
    }
}

// MARK: - Events and gaps

extension Verification {
    /// Checks the events in one pass with their pages, so that the bytes that are hashed are those that were checked,
    /// read without LMDB (`docs/decisions/0016-verify-reads-events-once.md`). A damaged page is reported rather than a
    /// damaged event, wherever it lies: until all pages are checked, LMDB must not read the table.
    private mutating func checkEvents(in pages: inout PageCheck) throws {
        var lanes = LaneLookup(reader)
        var firstDamage: (any Error)?
        try pages.finish { key, value in
            guard firstDamage == nil else { return }
            do { try check(key, value, &lanes) } catch { firstDamage = error }
        }
        // From here on all pages are checked, and LMDB may read the table.
        let head = try reader.head()
        report.head = SequenceNumber(head)
        if let firstDamage { throw firstDamage }
        guard head > 0 else { return }
        try passGaps(before: head + 1)
        guard expected == head + 1 else { throw stop("it is neither held nor dropped", at: expected) }
        frontier.append(nodeFrontier)
        report.root = frontier.root
    }

    @inline(__always)
    private mutating func check(
        _ key: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer,
        _ lanes: inout LaneLookup
    ) throws {
        guard key.count == 8, let sequence = key.bigEndian(as: UInt64.self) else {
            throw reader.damaged("a key of the table events is malformed")
        }
        if let record = Record(value) {
            try check(record, sequence, &lanes)
        } else if let block = SealedBlock.open(value, last: sequence, with: decompressor) {
            try check(block, &lanes)
        } else {
            let what = SealedBlock.isBlock(value) ? "the block of events up to" : "the record of sequence"
            throw reader.damaged("\(what) \(sequence) is malformed")
        }
    }

    /// Checks the events of a block, which stands before all records.
    @inline(never)
    private mutating func check(_ block: SealedBlock, _ lanes: inout LaneLookup) throws {
        guard report.whole + report.redacted == sealing.events else {
            throw stop("a block lies behind an event that is not sealed", at: expected)
        }
        for (place, sequence) in block.sequences.enumerated() {
            guard let record = block.record(at: place) else { throw stop("its record is malformed", at: sequence) }
            try check(record, sequence, &lanes)
        }
        sealing.blocks += 1
        sealing.events += UInt64(block.sequences.count)
        sealing.through = block.sequences.last ?? 0
    }

    @inline(__always)
    private mutating func check(_ record: Record, _ sequence: UInt64, _ lanes: inout LaneLookup) throws {
        try passGaps(before: sequence)
        guard sequence == expected else { throw stop("it is neither held nor dropped", at: min(expected, sequence)) }
        try check(record, lanes.lane(record.laneNumber), sequence)
    }

    /// Compares the record with its leaf hash, and notes what the acts must name.
    private mutating func check(_ record: Record, _ lane: Lane, _ sequence: UInt64) throws {
        // The leaf hash covers bytes, so it fits a key that is no text as well.
        if let key = record.key, !key.isASCII, String(validating: key, as: UTF8.self) == nil {
            throw stop("its key is no UTF-8", at: sequence)
        }
        let hash = record.recomputedLeafHash(in: lane)
        guard hash == record.leafHash else { throw stop("its leaf hash does not fit its bytes", at: sequence) }
        if record.holding == .redacted {
            gaps.addRedacted(sequence, Hasher256.hash(Array(record.payload)))
            report.redacted += 1
        } else {
            report.whole += 1
        }
        if lane.isAct { gaps.addAct(sequence, Array(record.payload)) }
        try add(hash, clock: lane.isAct ? Clock.none : record.recordedAt)
    }

    /// Adds the runs of dropped or missing events before `sequence`.
    private mutating func passGaps(before sequence: UInt64) throws {
        while expected < sequence, let run = try reader.gapRun(at: expected) {
            guard run.first == expected, run.last < sequence else {
                throw stop("a run of dropped events overlaps with events", at: expected)
            }
            if run.rewrite == GapRun.missing || run.level > 0 {
                try passMissing(run)
                continue
            }
            gaps.add(run)
            dropped.append(run.first...run.last)
            report.dropped += run.count
            isClockExact = false
            for (place, hash) in run.hashes.enumerated() {
                try add(hash, clock: place == run.hashes.count - 1 ? run.clock : Clock.none)
            }
        }
    }

    /// Adds the root of a subtree of leaves that a part lacks.
    private mutating func passMissing(_ run: GapRun) throws {
        guard try reader.isPart(), run.isWellFormedMissing else {
            throw stop("events are missing, and the log is no part that lacks them", at: expected)
        }
        report.missing += run.count
        try add(run.hashes[0], level: Int(run.level), clock: Clock.none)
    }

    /// Checks that a part has nothing beside its events: only the whole log proves what a rewrite leaves there (I25).
    private func checkNothingBesideAPart() throws {
        let counts = try [reader.tables.facts, reader.tables.keys].map { try reader.view.count(of: $0) }
        guard try reader.decidedAt() == .zero, counts == [0, 0], report.dropped == 0 else {
            throw stop("the log is a part, and what a compaction leaves lies beside its events")
        }
        try gaps.checkActs(of: reader)
    }

    /// Adds a leaf, or the root of a subtree of 2^level leaves, and compares the node that ends with it.
    private mutating func add(_ hash: Hash256, level: Int = 0, clock leafClock: Int64) throws {
        clock = max(clock, leafClock)
        assert(level <= TreeNode.level, "a subtree lies within one node")
        assert((expected - 1).isMultiple(of: 1 << UInt64(level)), "a subtree begins at a multiple of its size")
        nodeFrontier.append(hash, level: level)
        expected += 1 << UInt64(level)
        let last = expected - 1
        if last.isMultiple(of: TreeNode.leafCount) { try checkNode(last / TreeNode.leafCount - 1) }
    }

    /// Compares a stored node with the leaves since the one before.
    ///
    /// If one of them belongs to a run of dropped events, the node may have a later clock than the known times give:
    /// the run has only its greatest time, at its end.
    private mutating func checkNode(_ number: UInt64) throws {
        guard let node = try reader.node(number) else { throw stop("tree node \(number) is missing") }
        guard node.root == nodeFrontier.root else { throw stop("tree node \(number) does not fit its leaves") }
        frontier.append(node.root, level: TreeNode.level)
        guard isClockExact ? node.clock == clock : node.clock >= clock || node.clock == Clock.none else {
            throw stop("the clock of tree node \(number) does not fit its events")
        }
        clock = max(clock, node.clock)
        nodeFrontier = MerkleFrontier()
        isClockExact = true
    }
}

// MARK: - The other tables

extension Verification {
    /// Loads the lanes, for `checkEvents` needs them, and checks every table but events, gaps and nodes, which the pass
    /// over the events checks.
    private func checkSmallTables(identity: [UInt8]) throws {
        try reader.lanes.load(from: reader)
        for name in MetaName.all { _ = try reader.meta(name) }
        guard try reader.meta(MetaName.identity) == identity else {
            throw stop("the identity is not that of the file FORMAT")
        }
        for table in [reader.tables.meta, reader.tables.facts, reader.tables.bookmarks, reader.tables.keys] {
            try checkSums(of: table)
        }
        try checkLanes()
    }

    private func checkSums(of table: Table) throws {
        var cursor = try Cursor(reader.view, table)
        while try cursor.advance() {
            guard Checksum.opened(cursor.value, table: table.name, key: cursor.key) != nil else {
                throw stop("a value of the table \(table.name) is altered")
            }
        }
    }

    /// Compares the table with the lanes in memory, which may have been read at an earlier time.
    private func checkLanes() throws {
        let known = reader.lanes.known
        var cursor = try Cursor(reader.view, reader.tables.lanes)
        var number: UInt32 = 0
        while try cursor.advance() {
            let value = Checksum.opened(cursor.value, table: "lanes", key: cursor.key)
            guard cursor.key.count == 4, cursor.key.bigEndian(as: UInt32.self) == number, let value,
                Int(number) < known.count, known[Int(number)].bytes.elementsEqual(value)
            else { throw stop("lane \(number) is altered") }
            number += 1
        }
        guard Int(number) == known.count else { throw stop("lane \(number) is missing") }
    }

    /// Checks that the keys of dropped events ascend and belong to dropped events.
    private func checkKeys() throws {
        var cursor = try Cursor(reader.view, reader.tables.keys)
        var last: DroppedKeys.Entry?
        while try cursor.advance() {
            for entry in try DroppedKeys.entries(under: cursor, reader) {
                if let last, last >= entry { throw stop("the keys of dropped events do not ascend") }
                guard dropped.contains(entry.sequence) else {
                    throw stop("its key stands among those of dropped events", at: entry.sequence)
                }
                last = entry
            }
        }
    }

    private mutating func checkCounts() throws {
        let nodes = try reader.view.count(of: reader.tables.nodes)
        guard nodes == report.head.rawValue / TreeNode.leafCount else {
            throw stop("\(nodes) tree nodes are there, expected \(report.head.rawValue / TreeNode.leafCount)")
        }
        let events = try reader.view.count(of: reader.tables.events)
        let found = report.whole + report.redacted - sealing.events + sealing.blocks
        guard events == found else { throw stop("the table events says \(events) entries, found \(found)") }
        let said = try reader.sealing()
        guard (said?.blocks ?? 0, said?.events ?? 0) == (sealing.blocks, sealing.events),
            sealing.through <= said?.through ?? 0
        else { throw stop("what is sealed is not what meta says") }
        report.sealed = sealing.events
    }
}
