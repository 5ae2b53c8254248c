/// Copies a generation into a new one, dropping and redacting events as a plan says.
///
/// Everything else is copied as it is: sequences, lane numbers, leaf hashes, tree nodes and older gaps stay (I1,
/// I2). Events that are sealed, or that the plan seals, go into blocks (`SealedBlock`). Everything is written once; only the list of acts, which the proof needs, is replaced once the act is known. Use
/// it from one thread at a time. After an error the new generation is of no use.
final class GenerationCopy {
    private let plan: RewritePlan
    private let target: Generation
    /// The events that archives bring back; `nil` where none are.
    private let restoration: Restoration?
    /// The number of this rewrite, counted from 1.
    private let rewrite: UInt32
    /// Takes the events that lie in blocks; `nil` until the old generation says how far these reach.
    private var sealer: BlockSealer?
    /// Receives the number of sequences copied so far and the total.
    private let progress: PageCheck.Progress?
    /// The last sequence copied, dropped ones included.
    private(set) var copiedHead: UInt64 = 0
    /// The index in `plan.dropped` of the next event to drop.
    private var nextDropped = 0
    /// The run that dropped events are added to; not stored yet.
    private var openRun: GapRun?
    /// The keys of all events dropped by this rewrite and, in `storeKeys`, by earlier ones. In memory until they are
    /// stored.
    private var droppedKeys: [DroppedKeys.Entry] = []
    /// How many lanes the target has; the number of the next one.
    private var copiedLanes: UInt32 = 0
    /// How many tree nodes the target has; the number of the next one.
    private var copiedNodes: UInt64 = 0

    /// Bounds one write transaction of the copy.
    private static let batchEvents = 10_000
    private static let batchBytes = 16 << 20
    /// Whole chunks, so that batches change none.
    private static let batchKeys = DroppedKeys.chunkCountMax * 4096

    init(
        plan: RewritePlan,
        target: Generation,
        rewrite: UInt32,
        restoration: Restoration? = nil,
        progress: PageCheck.Progress?
    ) {
        self.plan = plan
        self.target = target
        self.restoration = restoration
        self.rewrite = rewrite
        self.progress = progress
    }

    /// Copies metadata, events up to the reader's head, runs, keys and facts: with that, the plan is carried out. Later
    /// events follow by `copyTail`, bookmarks by `copyBookmarks`.
    func copyDecided(_ reader: LogReader) throws {
        // Exactly: an array that grows by doubling would take three times the room.
        droppedKeys.reserveCapacity(plan.dropped.count)
        try copyMeta(reader)
        let through = max(plan.sealsThrough.rawValue, try reader.sealing()?.through ?? 0)
        sealer = try through > 0 ? BlockSealer(through: through) : nil
        try copyTail(reader)
        guard nextDropped == plan.dropped.count else {
            throw invalid("sequence \(plan.dropped[nextDropped]) is not held")
        }
        try restoration?.finish()
        try sortKeys(reader)
        let last = max(0, droppedKeys.count - 1) / Self.batchKeys * Self.batchKeys
        for start in stride(from: 0, to: last, by: Self.batchKeys) {
            try write { try storeKeys(start..<start + Self.batchKeys, $0, $1) }
        }
        try write { transaction, tables in
            try storeRun(transaction, tables)
            if let sealing = try sealer?.finish(transaction, tables) {
                try transaction.putMeta(sealing.bytes, named: MetaName.sealed, in: tables.meta)
            }
            sealer = nil
            try storeKeys(last..<droppedKeys.count, transaction, tables)
            droppedKeys = []
            try copyGaps(reader, transaction, tables)
            try copyFacts(reader, transaction, tables)
        }
    }

    /// Copies lanes, events and tree nodes after `copiedHead`, up to the reader's head. Events that a restoration brings back are
    /// written where they belong.
    func copyTail(_ reader: LogReader) throws {
        let head = try reader.head()
        while copiedHead < head {
            let before = copiedHead
            try write { transaction, tables in
                try copyLanes(reader, transaction, tables)
                try copyBatch(reader, head: head, transaction, tables)
                try copyNodes(reader, transaction, tables)
            }
            assert(before < copiedHead && copiedHead <= head, "each batch copies something, and nothing after the head")
            progress?(copiedHead, head)
        }
    }

    /// Copies the bookmarks, last of all, since every append may change them.
    func copyBookmarks(_ reader: LogReader, _ transaction: borrowing WriteTransaction) throws {
        try copyAll(reader, reader.tables.bookmarks, transaction, target.tables.bookmarks)
    }

    /// Runs one write transaction of the target.
    func write(_ body: (borrowing WriteTransaction, LogTables) throws -> Void) throws {
        let transaction = try target.environment.beginWrite()
        try body(transaction, target.tables)
        try transaction.commit()
    }

    private func invalid(_ reason: String) -> EventLogError {
        EventLogError(.invalidArgument, operation: "rewrite log at", object: target.logPath, reason: reason)
    }
}

// MARK: - Events

extension GenerationCopy {
    /// What a batch has room for.
    private struct Room {
        private var events = batchEvents
        private var bytes = batchBytes

        var isLeft: Bool { events > 0 && bytes > 0 }

        mutating func take(_ count: Int) {
            events -= 1
            bytes -= count
        }
    }

    /// Copies the next batch of events, and writes those that are restored between them: up to the reader's head, or until the
    /// batch is full.
    private func copyBatch(
        _ reader: LogReader,
        head: UInt64,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        var room = Room()
        while copiedHead < head, room.isLeft {
            let limit = try restoration?.nextSequence(reader).map { $0 - 1 } ?? head
            if copiedHead < limit {
                try copyEvents(reader, through: limit, &room, transaction, tables)
            } else if let bytes = try restoration?.takeRecord(reader) {
                copiedHead += 1
                try bytes.withUnsafeBytes { try store($0, copiedHead, transaction, tables) }
                room.take(bytes.count)
            }
        }
    }

    /// Copies events up to a sequence, or until the batch is full.
    private func copyEvents(
        _ reader: LogReader,
        through end: UInt64,
        _ room: inout Room,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        var last = copiedHead
        var passed = MapRelease()
        try reader.forEachRecord(
            in: copiedHead + 1...end,
            placed: { sequence, record, place in
                try copy(record, sequence, reader, transaction, tables)
                passed.pass(place.stored)
                last = sequence
                room.take(record.bytes.count)
                return room.isLeft
            }
        )
        passed.finish()
        // Only a full batch ends early. Otherwise the copy has reached the end, also where the last events are dropped.
        copiedHead = room.isLeft ? end : last
    }

    /// Copies one event, or drops or redacts it as the plan says.
    ///
    /// - Throws: `invalidArgument` if the next sequence to drop lies before this one: then the log does not hold it.
    private func copy(
        _ record: Record,
        _ sequence: UInt64,
        _ reader: LogReader,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        if nextDropped < plan.dropped.count, plan.dropped[nextDropped].rawValue <= sequence {
            let next = plan.dropped[nextDropped].rawValue
            guard next == sequence else { throw invalid("sequence \(next) is not held") }
            nextDropped += 1
            return try drop(record, sequence, reader, transaction, tables)
        }
        if sequence > plan.decidedAt.rawValue { try checkVoiding(record, sequence, reader) }
        if let substitute = plan.substitutes[SequenceNumber(sequence)] {
            let redacted = record.redacted(with: substitute)
            try redacted.withUnsafeBytes { try store($0, sequence, transaction, tables) }
        } else {
            try store(record.bytes, sequence, transaction, tables)
        }
    }

    /// Stores a record, or adds it to the open block.
    private func store(
        _ bytes: UnsafeRawBufferPointer,
        _ sequence: UInt64,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        if try sealer?.take(bytes, sequence, transaction, tables) == true { return }
        try withKey(sequence) { try transaction.append(bytes, at: $0, in: tables.events) }
    }

    /// - Throws: `EventLogError` if the event voids the plan.
    private func checkVoiding(_ record: Record, _ sequence: UInt64, _ reader: LogReader) throws {
        if plan.voidedBy.isEmpty { return }
        let lane = try reader.lane(record.laneNumber)
        guard lane.isAct, plan.voidedBy.contains(lane.kind) else { return }
        throw invalid("the act \(lane.kind) at \(sequence) came after the decision at \(plan.decidedAt); try again")
    }

    /// Keeps the leaf hash in a run, and the key among those of dropped events (I4). Runs of this rewrite are not
    /// joined with older ones: a run names one rewrite.
    private func drop(
        _ record: Record,
        _ sequence: UInt64,
        _ reader: LogReader,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        let lane = try reader.lane(record.laneNumber)
        guard !lane.isAct else { throw invalid("sequence \(sequence) is an act, which is never dropped") }
        if let key = record.key {
            droppedKeys.append(DroppedKeys.entry(source: lane.source, key: key, sequence: sequence))
        }
        if let run = openRun, run.last + 1 == sequence, run.hashes.count < GapRun.hashCountMax {
            openRun = run.extended(by: record.leafHash, clock: record.recordedAt)
        } else {
            try storeRun(transaction, tables)
            openRun = GapRun(
                first: sequence,
                rewrite: rewrite,
                clock: record.recordedAt,
                hashes: [record.leafHash]
            )
        }
    }

    /// Stores the open run, if there is one.
    private func storeRun(_ transaction: borrowing WriteTransaction, _ tables: LogTables) throws {
        guard let run = openRun else { return }
        openRun = nil
        try transaction.insertSummed(run.bytes, at: withKey(run.first) { Array($0) }, in: tables.gaps)
    }
}

// MARK: - The rest

extension GenerationCopy {
    private func copyMeta(_ reader: LogReader) throws {
        let before = try restoration?.decidedAt ?? reader.decidedAt().rawValue
        let decidedAt = max(plan.decidedAt.rawValue, try reader.decidedAt().rawValue)
        try write { transaction, tables in
            for name in [MetaName.identity, MetaName.acts] {
                if let value = try reader.meta(name) {
                    try transaction.putMeta(value, named: name, in: tables.meta)
                }
            }
            // Only a rewrite that drops events is a compaction and moves `decidedAt`.
            let last = plan.dropped.isEmpty ? before : decidedAt
            if last > 0 {
                try transaction.putMeta(withKey(last) { Array($0) }, named: MetaName.decidedAt, in: tables.meta)
            }
        }
    }

    private func copyLanes(
        _ reader: LogReader,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        var cursor = try Cursor(reader.view, reader.tables.lanes)
        var found = try cursor.seek(atLeast: copiedLanes)
        while found {
            // A lane's key and value stay the same, so its checksum fits in the target as well.
            try transaction.append(cursor.value, at: cursor.key, in: tables.lanes)
            copiedLanes += 1
            found = try cursor.advance()
        }
    }

    /// Copies the nodes whose leaves are all copied.
    private func copyNodes(
        _ reader: LogReader,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        var cursor = try Cursor(reader.view, reader.tables.nodes)
        var found = try cursor.seek(atLeast: copiedNodes)
        while found, (copiedNodes + 1) * TreeNode.leafCount <= copiedHead {
            try transaction.append(cursor.value, at: cursor.key, in: tables.nodes)
            copiedNodes += 1
            found = try cursor.advance()
        }
    }

    /// Puts the keys of all dropped events, old and new, in order. Cost: all of them are in memory.
    private func sortKeys(_ reader: LogReader) throws {
        var cursor = try Cursor(reader.view, reader.tables.keys)
        while try cursor.advance() {
            for entry in try DroppedKeys.entries(under: cursor, reader) where !isRestored(entry.sequence) {
                droppedKeys.append(entry)
            }
        }
        droppedKeys.sort()
    }

    /// Stores some of the sorted keys, beginning with a whole chunk.
    private func storeKeys(
        _ range: Range<Int>,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        for chunk in DroppedKeys.chunks(of: Array(droppedKeys[range])) {
            try transaction.insertSummed(chunk.value, at: chunk.key, in: tables.keys)
        }
    }

    private func copyGaps(
        _ reader: LogReader,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        try copyAll(reader, reader.tables.gaps, transaction, tables.gaps) { key in
            !(key.bigEndian(as: UInt64.self).map(isRestored) ?? false)
        }
    }

    private func isRestored(_ sequence: UInt64) -> Bool { restoration?.sequences.contains(sequence) ?? false }

    /// Stores the plan's facts, and those of the log that have other names. Names are compared as bytes. A restoration stores the
    /// facts from before the compaction, and no others.
    private func copyFacts(
        _ reader: LogReader,
        _ transaction: borrowing WriteTransaction,
        _ tables: LogTables
    ) throws {
        if let restoration = restoration {
            for (name, value) in restoration.facts {
                try transaction.insertSummed(value, at: Array(name.utf8), in: tables.facts)
            }
            return
        }
        let planned = plan.facts.sorted { $0.key < $1.key }.map { (name: Array($0.key.utf8), value: $0.value) }
        let names = Set(planned.map(\.name))
        try copyAll(reader, reader.tables.facts, transaction, tables.facts) { !names.contains(Array($0)) }
        for (name, value) in planned { try transaction.insertSummed(value, at: name, in: tables.facts) }
    }

    /// Copies the entries of a table whose keys `isKept` accepts.
    private func copyAll(
        _ reader: LogReader,
        _ source: Table,
        _ transaction: borrowing WriteTransaction,
        _ destination: Table,
        where isKept: (_ key: UnsafeRawBufferPointer) -> Bool = { _ in true }
    ) throws {
        var cursor = try Cursor(reader.view, source)
        while try cursor.advance() {
            if isKept(cursor.key) { try transaction.insert(cursor.value, at: cursor.key, in: destination) }
        }
    }
}
