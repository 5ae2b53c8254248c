// MARK: - The whole log

extension ReadSession {
    /// The header of the log: everything but its events and the keys of dropped ones. The facts and bookmarks are in
    /// memory.
    public func header() throws -> LogHeader {
        LogHeader(
            identity: try reader.meta(MetaName.identity) ?? [],
            size: head.rawValue,
            root: try root(size: head.rawValue),
            decidedAt: decidedAt,
            acts: try acts(),
            facts: try reader.values(of: reader.tables.facts),
            bookmarks: try reader.values(of: reader.tables.bookmarks)
        )
    }

    /// The header of a part. It has no facts, bookmarks or `decidedAt`: only the whole log proves what rewrites left
    /// (I25).
    public func partHeader() throws -> LogHeader { try partHeader(through: head) }

    /// The header of a part that ends with a sequence.
    func partHeader(through last: SequenceNumber) throws -> LogHeader {
        var header = LogHeader(
            identity: try reader.meta(MetaName.identity) ?? [],
            size: last.rawValue,
            root: try root(size: last.rawValue),
            acts: try acts().filter { $0 <= last }
        )
        header.what = .part
        return header
    }

    /// The header of the archive of what a compaction drops that was decided at a head.
    ///
    /// - Parameter facts: what the compaction leaves in place of facts that the log has.
    func archiveHeader(decidedAt last: SequenceNumber, leaving facts: [String: [UInt8]]) throws -> LogHeader {
        var header = try partHeader(through: last)
        header.what = .archive
        for (name, value) in try reader.values(of: reader.tables.facts) {
            header.factPatches[name] = try Zstandard.patch(value, against: facts[name] ?? value)
        }
        header.decidedAt = decidedAt
        return header
    }

    /// Passes the pieces of a part to `body` in order: the chosen events, and the acts of rewrites, because they name
    /// substitutes. Checks each of them first. All other events, dropped ones too, are missing in the part.
    ///
    /// - Throws: `EventLogError` with code `damaged`, naming the sequence, if an event is not as it was appended.
    public func forEachPiece(
        where isChosen: (borrowing EventView) throws -> Bool,
        _ body: (LogPiece) throws -> Void
    ) throws {
        try forEachPiece(through: head, where: isChosen, body)
    }

    /// Passes the pieces of a part that ends with a sequence.
    func forEachPiece(
        through last: SequenceNumber,
        where isChosen: (borrowing EventView) throws -> Bool,
        _ body: (LogPiece) throws -> Void
    ) throws {
        guard last > .zero else { return }
        let acts = Set(try acts())
        var next: UInt64 = 1
        try forEachEvent(in: SequenceNumber(1)...last) { event in
            guard try acts.contains(event.sequence) || isChosen(event) else { return true }
            try passMissing(from: next, before: event.sequence.rawValue, body)
            try check(event)
            try body(.event(event.copied()))
            next = event.sequence.rawValue + 1
            return true
        }
        try passMissing(from: next, before: last.rawValue + 1, body)
    }

    /// Passes the greatest aligned subtrees, each within one node, that make up the sequences from `first` to before
    /// `end`.
    private func passMissing(from first: UInt64, before end: UInt64, _ body: (LogPiece) throws -> Void) throws {
        for subtree in SubtreeCover(of: first - 1..<end - 1, levelMax: MissingRun.levelMax) {
            let hash = try reader.root(over: subtree.leaves)
            let first = SequenceNumber(subtree.leaves.lowerBound + 1)
            try body(.missing(MissingRun(first: first, level: subtree.level, hash: hash)))
        }
    }

    /// The sequence of each rewrite's act, in the order of the rewrites.
    public func acts() throws -> [SequenceNumber] {
        try reader.acts().map { SequenceNumber($0) }
    }

    /// Passes every piece of the log to `body` in order: events and runs by sequence, then the keys of dropped events.
    /// Checks each event first. Not for a part, whose missing events are no dropped ones.
    ///
    /// - Throws: `EventLogError` with code `damaged`, naming the sequence, if an event is not as it was appended.
    public func forEachPiece(_ body: (LogPiece) throws -> Void) throws {
        try forEachPiece(event: { try body(.event($0.copied())) }, other: body)
    }

    /// Does the same, and lends the events in place of copies.
    func forEachPiece(
        event take: (borrowing EventView) throws -> Void,
        other body: (LogPiece) throws -> Void
    ) throws {
        if head > .zero { try forEachPiece(in: SequenceNumber(1)...head, event: take, other: body) }
        try forEachKeyChunk { try body(.keys($0)) }
    }

    /// Passes the pieces of a range, which must not begin or end within a run of dropped events (`lastOfPiece`). Checks each event
    /// first.
    ///
    /// - Throws: `EventLogError` with code `damaged`, naming the sequence, if an event is not as it was appended.
    package func forEachPiece(
        in range: ClosedRange<SequenceNumber>,
        event take: (borrowing EventView) throws -> Void,
        other body: (LogPiece) throws -> Void
    ) throws {
        var next = range.lowerBound.rawValue
        try forEachEvent(in: range) { event in
            try passDropped(from: &next, before: event.sequence.rawValue, body)
            try check(event)
            try take(event)
            next = event.sequence.rawValue + 1
            return true
        }
        try passDropped(from: &next, before: range.upperBound.rawValue + 1, body)
    }

    /// The last sequence of the piece that covers a sequence: of a run of dropped events its last, else the sequence itself.
    package func lastOfPiece(at sequence: SequenceNumber) throws -> SequenceNumber {
        SequenceNumber(try reader.gapRun(at: sequence.rawValue)?.last ?? sequence.rawValue)
    }

    /// Passes the keys of dropped events, in chunks as in the table `keys`, ascending.
    package func forEachKeyChunk(_ body: ([UInt8]) throws -> Void) throws {
        var cursor = try Cursor(reader.view, reader.tables.keys)
        while try cursor.advance() {
            guard let value = Checksum.opened(cursor.value, table: "keys", key: cursor.key) else {
                throw reader.damaged("a chunk of the keys of dropped events is altered")
            }
            try body(Array(value))
        }
    }

    /// The roots of the subtrees that a range of leaves, counted from 0, consists of. Cost: that of `root(size:)`, and a tree node
    /// for each 256 leaves.
    package func subtreeRoots(of leaves: Range<UInt64>, levelMax: Int = 63) throws -> [Hash256] {
        try SubtreeCover(of: leaves, levelMax: levelMax).map { try reader.root(over: $0.leaves) }
    }

    /// The root of an aligned subtree of leaves, counted from 0.
    package func root(ofLeaves leaves: Range<UInt64>) throws -> Hash256 { try reader.root(over: leaves) }

    /// Passes the leaf hashes of a range in order, those of dropped events, too.
    package func forEachLeafHash(in range: ClosedRange<SequenceNumber>, _ body: (Hash256) throws -> Void) throws {
        try reader.forEachLeaf(in: range.lowerBound.rawValue...range.upperBound.rawValue) { try body($0.hash) }
    }

    /// Passes the runs of dropped events from `next` to before `end`, and moves `next` behind them.
    private func passDropped(from next: inout UInt64, before end: UInt64, _ body: (LogPiece) throws -> Void) throws {
        while next < end {
            guard let run = try reader.gapRun(at: next), run.first == next, run.level == 0, run.last < end else {
                throw reader.damaged("sequence \(next) is missing")
            }
            let piece = DroppedRun(
                first: SequenceNumber(run.first),
                leafHashes: run.hashes,
                rewrite: run.rewrite,
                clock: Self.time(run.clock),
                clockAtNode: try clockAtNode(in: run)
            )
            try body(.dropped(piece))
            next = run.last + 1
        }
    }

    /// The clock at the node that ends within a run; `nil` without one. The leaves of a run do not give it, since the
    /// run keeps only its greatest time.
    private func clockAtNode(in run: GapRun) throws -> Timestamp? {
        // The last sequence of the node in which the run begins. If that is the run's last one, its clock is the run's.
        let end = (run.first + TreeNode.leafCount - 1) / TreeNode.leafCount * TreeNode.leafCount
        guard end < run.last else { return nil }
        return try reader.node(end / TreeNode.leafCount - 1).flatMap { Self.time($0.clock) }
    }

    private static func time(_ clock: Int64) -> Timestamp? {
        clock == Clock.none ? nil : Timestamp(microseconds: clock)
    }
}

extension LogReader {
    /// All values of a table with checksums, by key, without their checksums.
    func values(of table: Table) throws -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        var cursor = try Cursor(view, table)
        while try cursor.advance() {
            guard let value = Checksum.opened(cursor.value, table: table.name, key: cursor.key) else {
                throw damaged("a value of the table \(table.name) is altered")
            }
            values[String(decoding: cursor.key, as: UTF8.self)] = Array(value)
        }
        return values
    }
}
