// MARK: - Whether events are as they were appended

extension ReadSession {
    /// Checks that an event's bytes fit its leaf hash and, if the payload is a substitute, that an act names it (I7).
    ///
    /// Does not compare the leaf hash with the tree; `verify` and `checkTree` do. Cost: two hashes an event; for a
    /// redacted one a third, and for the first one of a process a pass over all acts of rewrites.
    ///
    /// - Throws: `EventLogError` with code `damaged`, naming the sequence.
    public func check(_ event: borrowing EventView) throws {
        try reader.check(event.record, at: event.sequence.rawValue, in: event.lane)
    }

    /// Checks the event at a sequence. A dropped event always passes.
    ///
    /// - Throws: as `check(_:)`; `notFound` for zero and beyond the head.
    public func checkEvent(at sequence: SequenceNumber) throws {
        // Throws for a sequence outside the log, for which `record` would only return `nil`.
        _ = try holding(at: sequence)
        _ = try reader.withRecord(at: sequence.rawValue) { record in
            try reader.check(record, at: sequence.rawValue, in: try reader.lane(record.laneNumber))
        }
    }

    /// The act that names the substitute of a redacted event; `nil` if the event is not redacted or no act names it.
    public func actRedacting(_ sequence: SequenceNumber) throws -> SequenceNumber? {
        _ = try holding(at: sequence)
        let act = try reader.withRecord(at: sequence.rawValue) { record in
            record.holding == .redacted ? try reader.act(naming: record, at: sequence.rawValue) : nil
        }
        return act.flatMap { $0 }.map { SequenceNumber($0) }
    }

    /// Checks the leaf hashes up to a sequence: the root of each full block of 256 must equal the stored node. Hashes
    /// no events. Nothing stored covers the leaves after the last full block: the caller compares the root.
    ///
    /// - Returns: the root over all of them.
    /// - Throws: `EventLogError` with code `damaged`.
    public func checkTree(through last: SequenceNumber) throws -> Hash256 {
        var (whole, block) = (MerkleFrontier(), MerkleFrontier())
        guard last > .zero else { return whole.root }
        try reader.forEachLeaf(in: 1...last.rawValue) { leaf in
            block.append(leaf.hash, level: leaf.level)
            guard leaf.last.isMultiple(of: TreeNode.leafCount) else { return }
            let number = leaf.last / TreeNode.leafCount - 1
            guard let node = try reader.node(number), node.root == block.root else {
                throw reader.damaged("the leaf hashes up to sequence \(leaf.sequence) do not fit the tree")
            }
            whole.append(node.root, level: TreeNode.level)
            block = MerkleFrontier()
        }
        whole.append(block)
        return whole.root
    }
}

extension RewritePlan {
    /// The members by which an act's payload names the substitute of an event.
    public static func name(ofSubstitute payload: [UInt8], for sequence: SequenceNumber) -> String {
        "\"sequence\":\"\(sequence)\",\"substituteHash\":\"\(Hasher256.hash(payload).hex)\""
    }
}

extension LogReader {
    /// Checks a record against its own leaf hash and, if it is redacted, against the acts.
    @inline(__always)
    func check(_ record: Record, at sequence: UInt64, in lane: Lane) throws {
        guard record.recomputedLeafHash(in: lane) == record.leafHash else {
            throw altered(sequence, "its bytes do not fit its leaf hash")
        }
        if record.holding == .redacted, try act(naming: record, at: sequence) == nil {
            throw altered(sequence, "its text is a substitute that no act names")
        }
    }

    @inline(never)
    private func altered(_ sequence: UInt64, _ reason: String) -> EventLogError {
        EventLogError(
            .damaged,
            operation: "read sequence \(sequence) of",
            object: logPath,
            reason: reason,
            advice: "see what else is damaged with: logtool verify LOG; save the rest with: logtool salvage LOG -o NEW",
            sequence: SequenceNumber(sequence)
        )
    }
}
