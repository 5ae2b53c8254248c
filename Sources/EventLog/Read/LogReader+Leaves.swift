/// The leaf hash of one event, held or dropped; in a part also the root of a subtree of leaves that it lacks.
struct Leaf {
    let sequence: UInt64
    let hash: Hash256
    /// 0 for a single leaf; otherwise `hash` is the root of an aligned subtree of 2^level leaves.
    var level = 0
    /// The last sequence that the hash covers, but none beyond the requested range.
    var last: UInt64
    /// In microseconds: `recordedAt` of a held remote change; for the last event of a dropped run, the run's clock;
    /// otherwise `Clock.none`.
    let clock: Int64

    init(sequence: UInt64, hash: Hash256, clock: Int64) {
        (self.sequence, self.hash, self.clock) = (sequence, hash, clock)
        last = sequence
    }
}

extension LogReader {
    /// Passes all leaves of a range to `body` in order: merges events and runs, which together cover each sequence
    /// once.
    ///
    /// - Parameter cutsSubtrees: What happens where the range cuts a subtree that a part lacks: true passes the root of
    ///   the whole subtree, false throws.
    /// - Throws: `EventLogError` with code `damaged` if a sequence is neither held nor dropped, or both; `notFound` if
    ///   a subtree would be cut.
    func forEachLeaf(
        in range: ClosedRange<UInt64>,
        cutsSubtrees: Bool = false,
        _ body: (Leaf) throws -> Void
    ) throws {
        var expected = range.lowerBound
        // The range may begin within a run.
        if let run = try gapRun(at: expected) {
            expected = try walk(run, from: expected, in: range, cutsSubtrees, body)
        }
        var last: (number: UInt32, isAct: Bool) = (.max, false)
        if expected <= range.upperBound {
            try forEachRecord(in: expected...range.upperBound) { sequence, record in
                // Runs before this event. A run that reaches the event, or a hole, ends the search and shows below.
                while expected < sequence {
                    guard let run = try gapRun(at: expected), run.last < sequence else { break }
                    expected = try walk(run, from: expected, in: range, cutsSubtrees, body)
                }
                guard expected == sequence else { throw damaged("sequence \(expected) is missing") }
                if last.number != record.laneNumber {
                    last = (record.laneNumber, try lane(record.laneNumber).isAct)
                }
                let clock = last.isAct ? Clock.none : record.recordedAt
                try body(Leaf(sequence: sequence, hash: record.leafHash, clock: clock))
                expected = sequence + 1
                return true
            }
        }
        // Runs after the last event of the range.
        while expected <= range.upperBound {
            guard let run = try gapRun(at: expected) else { throw damaged("sequence \(expected) is missing") }
            expected = try walk(run, from: expected, in: range, cutsSubtrees, body)
        }
    }

    /// Passes the leaves of a run from `sequence` on to `body`. Returns the sequence after the last of them.
    private func walk(
        _ run: GapRun,
        from sequence: UInt64,
        in range: ClosedRange<UInt64>,
        _ cutsSubtrees: Bool,
        _ body: (Leaf) throws -> Void
    ) throws -> UInt64 {
        guard run.level == 0 else {
            guard cutsSubtrees || sequence == run.first && run.last <= range.upperBound else {
                throw EventLogError(
                    .notFound,
                    operation: "read leaf hash",
                    object: String(sequence),
                    reason: "this part of a log holds only the root of \(run.count) leaves there"
                )
            }
            var leaf = Leaf(sequence: sequence, hash: run.hashes[0], clock: Clock.none)
            leaf.level = Int(run.level)
            leaf.last = min(run.last, range.upperBound)
            try body(leaf)
            return leaf.last + 1
        }
        let end = min(run.last, range.upperBound)
        guard sequence <= end else { return sequence }
        for place in sequence...end {
            let clock = place == run.last ? run.clock : Clock.none
            try body(Leaf(sequence: place, hash: run.hashes[Int(place - run.first)], clock: clock))
        }
        return end + 1
    }

    /// The leaf hash of one event, held or dropped.
    func leafHash(at sequence: UInt64) throws -> Hash256 {
        if let hash = try withRecord(at: sequence, { $0.leafHash }) { return hash }
        var found: Hash256?
        try forEachLeaf(in: sequence...sequence) { found = $0.hash }
        guard let found else { throw damaged("sequence \(sequence) is missing") }
        return found
    }

    /// The root over a range of leaf indices, counted from 0. The range must begin at a multiple of each subtree that
    /// it is made of.
    ///
    /// Not for leaves that this transaction has written: `upperTree` may hold committed nodes only. Cost: at most 255
    /// leaves, and at the first call every node before the end of the range.
    func root(over range: Range<UInt64>) throws -> Hash256 {
        var frontier = MerkleFrontier()
        var index = range.lowerBound
        if index.isMultiple(of: TreeNode.leafCount), range.upperBound - index >= TreeNode.leafCount {
            let nodes = index / TreeNode.leafCount..<range.upperBound / TreeNode.leafCount
            try upperTree.append(nodes, to: &frontier, self)
            index = nodes.upperBound * TreeNode.leafCount
        }
        if index < range.upperBound {
            try forEachLeaf(in: index + 1...range.upperBound) { frontier.append($0.hash, level: $0.level) }
        }
        return frontier.root
    }

    /// A hash of the first `last` events that binds derived data to them: SHA-256 over the root and clock of each full
    /// node, then over the leaf hashes after them. Costs a tenth of the root.
    func prefixHash(through last: UInt64) throws -> Hash256 {
        var hasher = Hasher256()
        let nodes = last / TreeNode.leafCount
        var cursor = try Cursor(view, tables.nodes)
        var found = nodes > 0 ? try cursor.seek(atLeast: 0 as UInt64) : false
        for number in 0..<nodes {
            guard found, cursor.key.bigEndian(as: UInt64.self) == number, cursor.value.count >= 40 else {
                throw damaged("tree node \(number) is missing")
            }
            // Root and clock, without the checksum. The checksum is not compared: altered bytes give another hash.
            hasher.update(UnsafeRawBufferPointer(rebasing: cursor.value[..<40]))
            found = try cursor.advance()
        }
        let first = nodes * TreeNode.leafCount + 1
        if first <= last { try forEachLeaf(in: first...last, cutsSubtrees: true) { hasher.update($0.hash) } }
        return hasher.finalize()
    }

    /// The greatest `recordedAt` of the remote changes up to a sequence, in microseconds; `Clock.none` if there are
    /// none. Cost: one node and at most 255 leaves.
    func clock(at sequence: UInt64) throws -> Int64 {
        let nodes = sequence / TreeNode.leafCount
        var clock = nodes > 0 ? try node(nodes - 1)?.clock ?? Clock.none : Clock.none
        let first = nodes * TreeNode.leafCount + 1
        if first <= sequence {
            try forEachLeaf(in: first...sequence, cutsSubtrees: true) { clock = max(clock, $0.clock) }
        }
        return clock
    }

    /// The length of the longest prefix whose clock is at or before `limit`, in microseconds. Cost: O(log n) nodes and
    /// at most 256 leaves.
    func prefix(clockAtMost limit: Int64, head: UInt64) throws -> UInt64 {
        // The clocks of nodes never fall: binary search for the first node that is too late.
        var low: UInt64 = 0
        var high = head / TreeNode.leafCount
        while low < high {
            let middle = (low + high) / 2
            let clock = try node(middle)?.clock ?? Clock.none
            if clock <= limit { low = middle + 1 } else { high = middle }
        }
        var last = low * TreeNode.leafCount
        guard last < head else { return last }
        try forEachLeaf(in: last + 1...min(head, last + TreeNode.leafCount), cutsSubtrees: true) { leaf in
            // From the first leaf on that is too late, no leaf follows `last`.
            if leaf.sequence == last + 1, leaf.clock <= limit { last = leaf.last }
        }
        return last
    }
}
