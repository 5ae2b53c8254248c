/// Reads one generation within one transaction. It checks the form of every value that it reads, and checksums where
/// there are any, since the bytes may be damaged; it does not hash events. It must not outlive the transaction.
struct LogReader {
    let view: TransactionView
    let tables: LogTables
    let lanes: LaneTable
    let logPath: String
    private let generation: Generation

    /// The upper levels of the tree. Readers share them, so that a write transaction must not add nodes: it may be
    /// aborted.
    var upperTree: UpperTree { generation.upperTree }

    /// The substitutes that acts name.
    var substitutes: KnownSubstitutes { generation.substitutes }

    /// The blocks that were opened last.
    private var blocks: OpenBlocks { generation.blocks }

    init(_ view: TransactionView, of generation: Generation) {
        self.view = view
        tables = generation.tables
        lanes = generation.lanes
        logPath = generation.logPath
        self.generation = generation
    }

    /// An error with code `damaged` that names this log.
    func damaged(_ reason: String) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "read log at",
            object: logPath,
            reason: reason,
            advice: "see: logtool verify"
        )
    }
}

// MARK: - Small values

extension LogReader {
    /// The value under `key` in a table with checksums, copied without its checksum; `nil` without one.
    ///
    /// - Throws: `EventLogError` with code `damaged` if the checksum does not fit.
    func summedValue(of key: [UInt8], in table: Table) throws -> [UInt8]? {
        try key.withUnsafeBytes { key in
            guard let stored = try view.value(of: key, in: table) else { return nil }
            guard let value = Checksum.opened(stored, table: table.name, key: key) else {
                throw damaged("the value \"\(String(decoding: key, as: UTF8.self))\" of \(table.name) is altered")
            }
            return Array(value)
        }
    }

    /// The value under `name` in the table `meta`.
    func meta(_ name: String) throws -> [UInt8]? {
        try summedValue(of: Array(name.utf8), in: tables.meta)
    }

    /// The number of the generation that replaced this one; `nil` in the newest.
    func successor() throws -> UInt32? {
        try meta(MetaName.successor).flatMap { bytes in bytes.withUnsafeBytes { $0.bigEndian(as: UInt32.self) } }
    }

    /// The head when the last compaction was decided; zero before the first.
    func decidedAt() throws -> SequenceNumber {
        let bytes = try meta(MetaName.decidedAt) ?? []
        return SequenceNumber(bytes.withUnsafeBytes { $0.bigEndian(as: UInt64.self) } ?? 0)
    }

    /// Whether the log is a part: it lacks some events of another log.
    func isPart() throws -> Bool { try meta(MetaName.part) != nil }

    /// The sequence of each rewrite's act, in the order of the rewrites.
    func acts() throws -> [UInt64] {
        let bytes = try meta(MetaName.acts) ?? []
        return bytes.withUnsafeBytes { raw in
            stride(from: 0, to: raw.count, by: 8).compactMap { raw.bigEndian(at: $0, as: UInt64.self) }
        }
    }
}

// MARK: - Events

extension LogReader {
    /// The last sequence ever assigned: that of the last event, or the end of the last run if this is greater. Cost: a
    /// look at the end of two tables.
    func head() throws -> UInt64 {
        let event = try view.lastNumber(in: tables.events) ?? 0
        guard let gap = try view.lastNumber(in: tables.gaps), gap > event else { return event }
        return try gapRun(at: gap)?.last ?? event
    }

    /// Lends the record of a held event, in the map or in a block that was opened; `nil` if the sequence is not held. The record
    /// must not leave `body`.
    func withRecord<Result>(at sequence: UInt64, _ body: (Record) throws -> Result) throws -> Result? {
        if let value = try withKey(sequence, { try view.value(of: $0, in: tables.events) }), !SealedBlock.isBlock(value)
        {
            guard let record = Record(value) else { throw damaged("the record of sequence \(sequence) is malformed") }
            return try body(record)
        }
        // A block stands under the sequence of its last event.
        var cursor = try Cursor(view, tables.events)
        guard try cursor.seek(atLeast: sequence), SealedBlock.isBlock(cursor.value) else { return nil }
        let block = try block(under: cursor)
        let place = block.place(atLeast: sequence)
        guard place < block.sequences.count, block.sequences[place] == sequence else { return nil }
        return try withExtendedLifetime(block) {
            guard let record = block.record(at: place) else { throw damaged("sequence \(sequence) is malformed") }
            return try body(record)
        }
    }

    /// The event at a sequence, copied; `nil` if it is not held.
    func event(at sequence: UInt64) throws -> RecordedEvent? {
        try withRecord(at: sequence) { record in
            let lane = try lane(record.laneNumber)
            return withExtendedLifetime(lane) {
                EventView(sequence: sequence, record: record, lane: .passUnretained(lane)).copied()
            }
        }
    }

    /// The lane with a number. Reads lanes that were added since the last call.
    func lane(_ number: UInt32) throws -> Lane {
        var known = lanes.known
        if number >= known.count {
            try lanes.load(from: self)
            known = lanes.known
        }
        guard number < known.count else { throw damaged("lane \(number) is not there") }
        return known[Int(number)]
    }

    /// The run of dropped or missing events that contains a sequence, or `nil`.
    func gapRun(at sequence: UInt64) throws -> GapRun? {
        var cursor = try Cursor(view, tables.gaps)
        guard try cursor.seek(atMost: sequence) else { return nil }
        let run = try gapRun(under: cursor)
        return run.last >= sequence ? run : nil
    }

    /// The run at a cursor.
    ///
    /// - Throws: `EventLogError` with code `damaged` if it does not fit its checksum.
    func gapRun(under cursor: borrowing Cursor) throws -> GapRun {
        guard let first = cursor.key.bigEndian(as: UInt64.self), cursor.key.count == 8,
            let value = Checksum.opened(cursor.value, table: "gaps", key: cursor.key),
            let run = GapRun(first: first, value)
        else { throw damaged("a run of dropped events is altered") }
        return run
    }

    /// Tree node `number`, counted from 0; `nil` if the table has none.
    func node(_ number: UInt64) throws -> TreeNode? {
        try withKey(number) { key in
            guard let stored = try view.value(of: key, in: tables.nodes) else { return nil }
            guard let value = Checksum.opened(stored, table: "nodes", key: key), let node = TreeNode(value) else {
                throw damaged("tree node \(number) is altered")
            }
            return node
        }
    }

    /// Passes the held events of a closed range to `body` in order; `body` returns false to stop. Does not notice a
    /// sequence that is neither held nor dropped; `forEachLeaf` does.
    @inline(__always)
    func forEachRecord(
        in range: ClosedRange<UInt64>,
        _ body: (UInt64, Record) throws -> Bool
    ) throws {
        try forEachRecord(in: range, placed: { sequence, record, _ in try body(sequence, record) })
    }

    /// Does so, and tells where each record lies. Prefetches the next events
    /// (`docs/decisions/0015-walks-ask-for-bytes-early.md`).
    @inline(__always)
    func forEachRecord(
        in range: ClosedRange<UInt64>,
        placed body: (UInt64, Record, RecordPlace) throws -> Bool
    ) throws {
        let pageBytes = Int(try view.statistics(of: tables.events).pageSize)
        var cursor = try Cursor(view, tables.events)
        var found = try cursor.seek(atLeast: range.lowerBound)
        var before: UInt64 = 0
        while found {
            cursor.prefetch(pageBytes: pageBytes)
            guard let sequence = cursor.key.bigEndian(as: UInt64.self), cursor.key.count == 8 else {
                throw damaged("a key of the table events is malformed")
            }
            if let record = Record(cursor.value) {
                if sequence > range.upperBound { return }
                guard try body(sequence, record, RecordPlace(stored: record.bytes, block: nil)) else { return }
            } else {
                guard try walk(block: cursor, behind: before, in: range, body) else { return }
                if sequence >= range.upperBound { return }
            }
            before = sequence
            found = try cursor.advance()
        }
    }

    /// Passes the events of a range that the block at a cursor holds to `body`. False if `body` stopped.
    ///
    /// - Parameter last: The key of the entry before. Keys ascend; that a block begins behind it, only the block says.
    @inline(never)
    private func walk(
        block cursor: borrowing Cursor,
        behind last: UInt64,
        in range: ClosedRange<UInt64>,
        _ body: (UInt64, Record, RecordPlace) throws -> Bool
    ) throws -> Bool {
        let block = try block(under: cursor)
        guard let first = block.sequences.first, first > last else {
            throw damaged("a block of events begins before sequence \(last), which stands before it")
        }
        let place = RecordPlace(stored: cursor.value, block: .passUnretained(block))
        return try withExtendedLifetime(block) {
            for index in block.place(atLeast: range.lowerBound)..<block.sequences.count {
                let sequence = block.sequences[index]
                if sequence > range.upperBound { break }
                guard let record = block.record(at: index) else { throw damaged("sequence \(sequence) is malformed") }
                guard try body(sequence, record, place) else { return false }
            }
            return true
        }
    }

    /// The block at a cursor, opened.
    ///
    /// - Throws: `EventLogError` with code `damaged` if the value is neither a record nor a block.
    private func block(under cursor: borrowing Cursor) throws -> SealedBlock {
        let last = cursor.key.bigEndian(as: UInt64.self) ?? 0
        guard let block = blocks.block(cursor.value, last: last) else {
            throw damaged(
                SealedBlock.isBlock(cursor.value)
                    ? "the block of events up to \(last) is damaged" : "the record of sequence \(last) is malformed"
            )
        }
        return block
    }

    /// How far the log is sealed; `nil` for a log without blocks.
    func sealing() throws -> Sealing? { try meta(MetaName.sealed).flatMap { Sealing($0) } }

    /// How many events are held.
    func heldCount() throws -> UInt64 {
        let entries = try view.count(of: tables.events)
        guard let sealing = try sealing() else { return entries }
        return entries &- sealing.blocks &+ sealing.events
    }

    /// Passes the runs of dropped or missing events that begin in a closed range to `body`, which returns false to
    /// stop.
    func forEachGapRun(in range: ClosedRange<UInt64>, _ body: (GapRun) throws -> Bool) throws {
        var cursor = try Cursor(view, tables.gaps)
        var found = try cursor.seek(atLeast: range.lowerBound)
        while found {
            let run = try gapRun(under: cursor)
            guard run.first <= range.upperBound, try body(run) else { return }
            found = try cursor.advance()
        }
    }
}
