/// One write transaction of the log: places batches, each as a whole or not at all (I5). Nothing is durable before
/// `commit`; without it, `deinit` of the transaction aborts everything. The caller holds the write lock.
struct AppendTransaction: ~Copyable {
    private let transaction: WriteTransaction
    private let reader: LogReader
    /// Whether the table `keys` has entries. If so, the greatest keys alone do not prove that a key is new.
    private let hasDroppedKeys: Bool
    /// The writer's state after the commit. It is invalid once the transaction is given up.
    private var state: WriterState
    /// The events that this transaction adds, in order; the first has the sequence `base + 1` (I1).
    private var pending: [PreparedEvent] = []
    /// The head before this transaction.
    let base: UInt64
    /// The numbers of lanes that this transaction adds, by interned lane. `LaneTable` learns of them after the commit.
    private var newLanes: [ObjectIdentifier: UInt32] = [:]
    /// The lane of the last event written: most events have that of the one before.
    private var lastLane: (lane: Lane, number: UInt32)?
    /// The last bookmark of each source, by its name's bytes: stored once, at the end (`WriteTransaction.insert` says
    /// why).
    private var bookmarks: [[UInt8]: [UInt8]] = [:]
    /// Whether anything was written. Batches of duplicates alone need no commit, and so no sync.
    private var isDirty = false
    /// The sequence that holds the previous draft's key; `nil` if that draft is new.
    private var lastHeld: UInt64?
    /// Events that got a key of their own here. Their records' bytes belong to these batches, so they are kept until
    /// the end.
    private var separated: [PreparedBatch] = []

    init(_ transaction: consuming WriteTransaction, generation: Generation, state: consuming WriterState) throws {
        let reader = LogReader(transaction.view, of: generation)
        let hasDroppedKeys = try reader.view.count(of: reader.tables.keys) > 0
        self.transaction = transaction
        self.reader = reader
        self.hasDroppedKeys = hasDroppedKeys
        self.state = state
        base = self.state.edge.head
    }

    /// Places one batch.
    ///
    /// - Parameter separatesKeys: whether a draft whose key is held with another payload gets a key of its own; else
    ///   the batch is refused.
    /// - Throws: `EventLogError` with code `keyConflict` where a key is held with another payload; then nothing of the
    ///   batch is placed and the transaction goes on. After every other error the transaction must be given up.
    mutating func place(
        _ batch: PreparedBatch,
        bookmark: Bookmark? = nil,
        separatesKeys: Bool = false
    ) throws -> AppendResult {
        let firstNew = pending.count
        let sequences = try resolve(batch, separatesKeys)
        for place in firstNew..<pending.count { try write(pending[place], base + UInt64(place) + 1) }
        if let bookmark { keep(bookmark) }
        let appended = pending.count - firstNew
        return AppendResult(sequences: sequences, appended: appended, first: base + UInt64(firstNew) + 1)
    }

    /// Stores a bookmark with the batches, in place of an earlier one of its source.
    mutating func keep(_ bookmark: Bookmark) {
        bookmarks[Array(bookmark.source.rawValue.utf8)] = bookmark.bytes
    }

    /// Makes the batches durable (I5); returns what the writer knows of the log after them.
    consuming func commit() throws -> WriterState {
        let state = state
        let isDirty = isDirty || !bookmarks.isEmpty
        let isLonger = !pending.isEmpty
        for (source, bytes) in bookmarks { try transaction.putSummed(bytes, at: source, in: reader.tables.bookmarks) }
        if isDirty { try transaction.commit() }
        if isLonger { state.keys?.committed(head: state.edge.head) }
        return state
    }
}

// MARK: - Keys

extension AppendTransaction {
    /// The sequences of a batch's events, or of the events that hold their keys (I4). If it throws, nothing is placed.
    private mutating func resolve(_ batch: PreparedBatch, _ separatesKeys: Bool) throws -> [SequenceNumber] {
        let firstNew = pending.count
        let first = base + UInt64(firstNew) + 1
        // One comparison shows that all keys are new, unless a dropped event had one of them.
        if let ascent = batch.keyAscent, !hasDroppedKeys,
            try state.heldKeys(reader, head: base).insertNew(batch, ascent, from: first)
        {
            pending += batch.events
            lastHeld = nil
            return batch.events.indices.map { SequenceNumber(first + UInt64($0)) }
        }
        do {
            return try batch.events.map { SequenceNumber(try resolve($0, separatesKeys)) }
        } catch {
            withdraw(from: firstNew)
            throw error
        }
    }

    /// The sequence of the event that holds the draft's key, or of the event that the draft becomes.
    private mutating func resolve(_ event: PreparedEvent, _ separatesKeys: Bool) throws -> UInt64 {
        do {
            return try place(event)
        } catch let error as EventLogError {
            guard error.code == .keyConflict, separatesKeys else { throw error }
            guard let batch = try PreparedBatch(separating: event) else { throw error }
            separated.append(batch)
            guard let other = batch.events.first else { throw error }
            return try place(other)
        }
    }

    /// The sequence of the event that holds the draft's key. If there is none, the draft gets the next sequence.
    private mutating func place(_ event: PreparedEvent) throws -> UInt64 {
        let sequence = base + UInt64(pending.count) + 1
        if event.record.key != nil {
            let keys = try state.heldKeys(reader, head: base)
            if let held = try holder(of: event, keys) {
                lastHeld = held
                return held
            }
            keys.insert(event, at: sequence)
        }
        pending.append(event)
        lastHeld = nil
        return sequence
    }

    /// The sequence of the event, held, placed here or dropped, that has the draft's key; `nil` if the key is new.
    private func holder(of event: PreparedEvent, _ keys: HeldKeys) throws -> UInt64? {
        // Drafts that are appended again mostly come in their first order, so compare with the event after the last
        // duplicate before any lookup.
        if let next = lastHeld.map({ $0 + 1 }), next <= base + UInt64(pending.count), try isHeld(event, at: next) {
            return next
        }
        let held = try keys.first(of: event, reader) { try isHeld(event, at: $0) ? $0 : nil }
        if let held { return held }
        return hasDroppedKeys ? try DroppedKeys.sequence(of: event, in: reader) : nil
    }

    /// Whether the event at a sequence has the same source and key. The key of a redacted event decides alone (I4).
    ///
    /// - Throws: `keyConflict` if kind or payload differ.
    private func isHeld(_ event: PreparedEvent, at sequence: UInt64) throws -> Bool {
        if sequence > base {
            let other = pending[Int(sequence - base - 1)]
            return try isSame(event, other.record, other.lane, sequence)
        }
        return try reader.withRecord(at: sequence) { held in
            try isSame(event, held, try reader.lane(held.laneNumber), sequence)
        } ?? false
    }

    /// Whether a record is the event's, by its key.
    ///
    /// - Throws: `EventLogError` with code `conflict` if it has the key and another content.
    private func isSame(_ event: PreparedEvent, _ record: Record, _ lane: Lane, _ sequence: UInt64) throws -> Bool {
        guard event.hasKey(of: record, in: lane) else { return false }
        guard record.holding == .redacted || event.hasContent(of: record, in: lane) else {
            throw conflict(event, sequence)
        }
        return true
    }

    private func conflict(_ event: PreparedEvent, _ sequence: UInt64) -> EventLogError {
        let key = event.record.key.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return EventLogError(
            .keyConflict,
            operation: "append to",
            object: reader.logPath,
            reason: "key \"\(key)\" of source \"\(event.lane.source)\" is already "
                + "sequence \(sequence) with another payload; nothing was appended",
            sequence: SequenceNumber(sequence)
        )
    }

    /// Forgets the events of a refused batch, none of which is written yet.
    private mutating func withdraw(from place: Int) {
        for index in place..<pending.count where pending[index].record.key != nil {
            state.keys?.remove(pending[index], at: base + UInt64(index) + 1)
        }
        pending.removeSubrange(place...)
    }
}

// MARK: - Writing

extension AppendTransaction {
    /// Writes a record, and the tree node that it completes, if any. The lane's number goes into the reserved bytes
    /// only: the batch's own memory does not change.
    private mutating func write(_ event: PreparedEvent, _ sequence: UInt64) throws {
        let lane = try number(of: event.lane)
        isDirty = true
        try withKey(sequence) { key in
            try transaction.append(byteCount: event.record.bytes.count, at: key, in: reader.tables.events) { room in
                event.write(to: room, lane: lane)
            }
        }
        let node = state.edge.append(event.leafHash, clock: event.clock)
        let head = state.edge.head
        precondition(head == sequence, "the tree takes up events in the order of their sequences")
        if let node { try store(node, number: sequence / TreeNode.leafCount - 1) }
    }

    private func store(_ node: TreeNode, number: UInt64) throws {
        try withKey(number) { key in
            let summed = Checksum.summed(node.bytes, table: "nodes", key: key)
            try summed.withUnsafeBytes { try transaction.append($0, at: key, in: reader.tables.nodes) }
        }
    }

    /// The number of a lane; a new lane gets the next one.
    private mutating func number(of lane: Lane) throws -> UInt32 {
        if let lastLane, lastLane.lane === lane { return lastLane.number }
        let number = try reader.lanes.number(of: lane) ?? newLanes[ObjectIdentifier(lane)] ?? add(lane)
        lastLane = (lane, number)
        return number
    }

    private mutating func add(_ lane: Lane) throws -> UInt32 {
        // `LaneTable` knows all committed lanes, because `WriterState.catchUp` has read them in this transaction.
        let number = reader.lanes.count + UInt32(newLanes.count)
        try withKey(number) { key in
            let summed = Checksum.summed(lane.bytes, table: "lanes", key: key)
            try summed.withUnsafeBytes { try transaction.append($0, at: key, in: reader.tables.lanes) }
        }
        newLanes[ObjectIdentifier(lane)] = number
        return number
    }
}
