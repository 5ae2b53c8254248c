/// Makes the pieces of a new log from the parts that are left of a damaged one (I20).
///
/// Every event keeps its sequence. A lost event becomes a dropped one: with its leaf hash if its block of 256 proves
/// that, otherwise with zeros. An act names all events that are not held, so that the new log verifies and lists what
/// it lacks.
struct Salvage {
    private let parts: SalvagedParts
    /// The damaged log's identity, as far as it is known.
    private let identity: [UInt8]
    private let now: Timestamp
    private let head: UInt64
    private(set) var report = SalvageReport()
    /// By sequence − 1; zeros where the hash is unknown or unproved.
    private var leafHashes: [Hash256] = []
    /// The held events' records, by sequence − 1; `nil` for all others.
    private var records: [[UInt8]?] = []
    /// Whether a rewrite had dropped the event already, by sequence − 1.
    private var isDropped: [Bool] = []
    /// Whether the log is a part that never had the event, by sequence − 1.
    private var isMissing: [Bool] = []

    /// - Parameter head: the new log's last sequence before the act of the salvage, at least the last one found.
    init(_ parts: SalvagedParts, identity: [UInt8], head: UInt64, now: Timestamp) {
        assert(head >= parts.head, "the new log has room for everything that was found")
        self.parts = parts
        self.identity = identity
        self.head = head
        self.now = now
        fill()
        for block in 0..<UInt64(leafHashes.count) / TreeNode.leafCount { settle(block) }
        tell()
    }

    /// Adds what the generation's files tell of that was not found.
    mutating func doubt(_ evidence: SalvageEvidence, and doubts: [String]) {
        report.doubts += doubts + evidence.doubts
        if let count = evidence.counts[LogTables.events].map(parts.heldCount), count > report.held + report.lostCount {
            report.doubts.append("the tables count \(count) held events, and \(report.held) were found")
        }
        if !evidence.isWhole, let reason = remainsInDoubt { report.doubts.append(reason) }
        if !report.doubts.isEmpty { report.keepsIdentity = false }
    }

    /// Why what compactions left beside the events may be incomplete; `nil` if the last act proves it or none was there.
    private var remainsInDoubt: String? {
        // A part has nothing beside its events.
        if parts.isPart { return nil }
        guard let number = SalvagedParts.numbers(parts.meta[MetaName.acts] ?? []).last else {
            let isRewritten = report.dropped > 0 || !parts.facts.isEmpty || !parts.keys.isEmpty
            return isRewritten ? "the list of the acts of compactions is lost" : nil
        }
        guard number <= head, number > 0, let act = event(at: Int(number) - 1) else {
            return "the act of the last compaction is lost, so nothing proves the facts and keys beside the events"
        }
        guard act.payload.contains(Array("\"remains\":{".utf8)) else {
            return "the act of the last compaction names nothing of what lies beside the events"
        }
        let names = [
            ("facts", Remains.naming(facts: factsHash)), ("keys of dropped events", Remains.naming(keys: keysHash)),
        ]
        let missing = names.filter { !act.payload.contains(Array($0.1.utf8)) }.map(\.0)
        if missing.isEmpty { return nil }
        return "\(missing.joined(separator: " and ")) that compactions left beside the events are not whole"
    }

    /// For a log that was found whole, but whose acts do not prove what lies beside its events.
    mutating func doubtRemains() {
        report.doubts.append("what compactions left beside the events is not what the acts name")
        report.keepsIdentity = false
    }

    private var factsHash: Hash256 {
        Remains.hash(
            facts: parts.facts.map { (Array($0.key.utf8), $0.value) }
                .sorted { $0.0.lexicographicallyPrecedes($1.0) }
        )
    }

    private var keysHash: Hash256 {
        Hasher256.hash(DroppedKeys.chunks(of: parts.keys.sorted()).flatMap(\.value))
    }

    /// Takes a candidate for each sequence. A dropped event stays dropped, even if its record is found in an old page.
    private mutating func fill() {
        leafHashes = Array(repeating: .zero, count: Int(head))
        records = Array(repeating: nil, count: Int(head))
        isDropped = Array(repeating: false, count: Int(head))
        isMissing = Array(repeating: false, count: Int(head))
        for run in parts.missingRuns {
            for sequence in run.first...run.last { isMissing[Int(sequence) - 1] = true }
        }
        for run in parts.runs.values where run.level == 0 && !isMissing[Int(run.first) - 1] {
            for (place, hash) in run.hashes.enumerated() {
                leafHashes[Int(run.first) - 1 + place] = hash
                isDropped[Int(run.first) - 1 + place] = true
            }
        }
        for (sequence, found) in parts.events where !isDropped[Int(sequence) - 1] && !isMissing[Int(sequence) - 1] {
            // If two different whole events have one sequence, neither counts unless its block proves it (`settle`).
            let right = found.filter { $0.record != nil }
            guard let event = right.count == 1 ? right.first : right.isEmpty ? found.first : nil else { continue }
            leafHashes[Int(sequence) - 1] = event.leafHash
            records[Int(sequence) - 1] = event.record
        }
    }

    /// Compares a full block with its stored root. If they differ, tries the other candidates for one event after
    /// another. So it repairs a block with one wrong candidate, not with two. Cost: a root of 256 leaves for each other
    /// candidate.
    private mutating func settle(_ block: UInt64) {
        let range = Int(block * TreeNode.leafCount)..<Int((block + 1) * TreeNode.leafCount)
        guard let node = parts.nodes[block] else { return forgetUnproved(range) }
        if root(of: range) == node.root { return }
        for index in range {
            for event in parts.events[UInt64(index) + 1] ?? [] where event.leafHash != leafHashes[index] {
                let former = leafHashes[index]
                leafHashes[index] = event.leafHash
                if root(of: range) == node.root {
                    records[index] = event.record
                    return
                }
                leafHashes[index] = former
            }
        }
        forgetUnproved(range)
    }

    /// The root over the leaves at some indices. Of leaves that a part never had, it takes the roots of their subtrees.
    private func root(of range: Range<Int>) -> Hash256 {
        guard parts.isPart else { return MerkleTree.root(of: leafHashes[range]) }
        var frontier = MerkleFrontier()
        var index = range.lowerBound
        while index < range.upperBound {
            let run = missingRun(at: index)
            frontier.append(run?.hashes[0] ?? leafHashes[index], level: Int(run?.level ?? 0))
            index += Int(run?.count ?? 1)
        }
        return frontier.root
    }

    /// The run of events that a part never had, if one begins at an index.
    private func missingRun(at index: Int) -> GapRun? {
        guard isMissing[index], let run = parts.runs[UInt64(index) + 1], run.isWellFormedMissing else { return nil }
        return run
    }

    /// Whether the event at an index is neither held, nor dropped, nor missing in a part.
    private func isLost(_ index: Int) -> Bool { records[index] == nil && !isDropped[index] && !isMissing[index] }

    /// Clears the leaf hashes of lost events, which only the root of their block could have proved.
    private mutating func forgetUnproved(_ range: Range<Int>) {
        for index in range where isLost(index) { leafHashes[index] = .zero }
    }

    /// Fills the report.
    private mutating func tell() {
        assert(records.count == leafHashes.count && isDropped.count == leafHashes.count, "one of each for a sequence")
        // No stored root covers the leaves after the last full block, so their hashes are unproved.
        let open = leafHashes.count - leafHashes.count % Int(TreeNode.leafCount)
        forgetUnproved(open..<leafHashes.count)
        report.head = SequenceNumber(head)
        report.held = UInt64(records.count { $0 != nil })
        report.dropped = UInt64(isDropped.count { $0 })
        report.missing = UInt64(isMissing.count { $0 })
        var first: UInt64?
        // One step beyond the end closes a range that reaches it.
        for index in 0...records.count {
            let isLost = index < records.count && isLost(index)
            if isLost, first == nil { first = UInt64(index) + 1 }
            guard !isLost, let start = first else { continue }
            report.lost.append(SequenceNumber(start)...SequenceNumber(UInt64(index)))
            first = nil
        }
        report.keepsIdentity = !leafHashes.indices.contains { leafHashes[$0] == .zero && !isMissing[$0] }
    }
}

// MARK: - Pieces

extension Salvage {
    /// Whether the log is a part of another one.
    var isPart: Bool { parts.isPart }

    /// Whether events are missing that no existing act names, as far as the parts tell.
    var needsAct: Bool { !report.isComplete || (report.dropped > 0 && parts.meta[MetaName.acts] == nil) }

    /// The header and the pieces from which an import makes the new log. Sets the root in the report.
    ///
    /// With an act of the salvage, this is the only act that the header lists, and every run names it as its rewrite.
    mutating func pieces(
        newIdentity: [UInt8],
        needsAct: Bool
    ) throws -> (header: LogHeader, pieces: [LogPiece]) {
        var pieces: [LogPiece] = []
        var index = 0
        while index < records.count {
            if let event = event(at: index) {
                pieces.append(.event(event))
                index += 1
            } else {
                pieces.append(.dropped(run(from: &index, renumbered: needsAct)))
            }
        }
        var leaves = leafHashes
        if needsAct {
            let act = try act()
            pieces.append(.event(act))
            leaves.append(act.leafHash)
        }
        // A key counts only for an event that is not held.
        let keys = parts.keys.filter { (1...head).contains($0.sequence) && records[Int($0.sequence) - 1] == nil }
        pieces += DroppedKeys.chunks(of: keys.sorted()).map { .keys($0.value) }
        report.root = MerkleTree.root(of: leaves)
        return (header(needsAct: needsAct, size: UInt64(leaves.count), newIdentity), pieces)
    }

    /// The header and the pieces of a part: what is lost of it is missing as well. Sets the root in the report.
    ///
    /// An act of the salvage would have a sequence of the whole log, so a part gets none.
    mutating func partPieces(newIdentity: [UInt8]) -> (header: LogHeader, pieces: [LogPiece]) {
        var pieces: [LogPiece] = []
        var index = 0
        while index < records.count {
            let run = missingRun(at: index)
            if let event = event(at: index) {
                pieces.append(.event(event))
            } else {
                let (level, hash) = (Int(run?.level ?? 0), run?.hashes[0] ?? leafHashes[index])
                pieces.append(.missing(MissingRun(first: SequenceNumber(UInt64(index) + 1), level: level, hash: hash)))
            }
            index += Int(run?.count ?? 1)
        }
        report.root = root(of: 0..<records.count)
        let acts = SalvagedParts.numbers(parts.meta[MetaName.acts] ?? []).filter { (1...head).contains($0) }
        var header = LogHeader(
            identity: report.keepsIdentity ? identity : newIdentity,
            size: head,
            root: report.root,
            acts: acts.filter { records[Int($0) - 1] != nil }.map { SequenceNumber($0) }
        )
        header.what = .part
        return (header, pieces)
    }

    /// For a part whose acts do not name its substitutes any more.
    mutating func doubtActs() {
        report.doubts.append("the acts that the part holds do not name all substitutes in it")
        report.keepsIdentity = false
    }

    /// Without bookmarks: the new log may lack events that they count as read, so recorders must begin anew.
    private func header(needsAct: Bool, size: UInt64, _ newIdentity: [UInt8]) -> LogHeader {
        let stored = parts.meta[MetaName.acts].map { SalvagedParts.numbers($0).map { SequenceNumber($0) } }
        // Never beyond the head, though nothing of the events before it may be left.
        let decidedAt = parts.meta[MetaName.decidedAt].flatMap { SalvagedParts.numbers($0).first }.map { min($0, head) }
        return LogHeader(
            identity: report.keepsIdentity ? identity : newIdentity,
            size: size,
            root: report.root,
            decidedAt: SequenceNumber(decidedAt ?? (needsAct && report.dropped > 0 ? head : 0)),
            acts: needsAct ? [SequenceNumber(size)] : stored ?? [],
            facts: parts.facts
        )
    }

    /// The event at an index, copied; `nil` if it is not held.
    private func event(at index: Int) -> RecordedEvent? {
        records[index]?.withUnsafeBytes { bytes in
            guard let record = Record(bytes), let lane = parts.lanes[record.laneNumber] else { return nil }
            return withExtendedLifetime(lane) {
                EventView(sequence: UInt64(index) + 1, record: record, lane: .passUnretained(lane)).copied()
            }
        }
    }

    /// The run of events that are not held, beginning at `index`; moves `index` behind it. A run that was found ends
    /// where it ended. Any other ends before the next held event or found run, at the latest at a multiple of
    /// `GapRun.hashCountMax`.
    private func run(from index: inout Int, renumbered: Bool) -> DroppedRun {
        let start = index
        let known = parts.runs[UInt64(start) + 1]
        let block = start - start % GapRun.hashCountMax + GapRun.hashCountMax
        func goesOn(_ index: Int) -> Bool {
            guard index < records.count, records[index] == nil, isDropped[index] == isDropped[start] else {
                return false
            }
            if let known { return UInt64(index) + 1 <= known.last }
            return index < block && parts.runs[UInt64(index) + 1] == nil
        }
        repeat { index += 1 } while goesOn(index)
        let clock = known.map(\.clock) ?? Clock.none
        let boundary = UInt64(index) / TreeNode.leafCount
        let isWithin = UInt64(start) / TreeNode.leafCount != boundary && UInt64(index) % TreeNode.leafCount != 0
        let atNode = isWithin ? parts.nodes[boundary - 1]?.clock ?? Clock.none : Clock.none
        return DroppedRun(
            first: SequenceNumber(UInt64(start) + 1),
            leafHashes: Array(leafHashes[start..<index]),
            rewrite: renumbered ? 1 : known?.rewrite ?? 1,
            clock: clock == Clock.none ? nil : Timestamp(microseconds: clock),
            clockAtNode: atNode == Clock.none ? nil : Timestamp(microseconds: atNode)
        )
    }

    /// `logtool.salvage/1`: names every event that is not held whole.
    private func act() throws -> RecordedEvent {
        let missing = records.indices.filter { records[$0] == nil }.map { SequenceNumber(UInt64($0) + 1) }
        let lost = report.lost.map { "{\"from\":\"\($0.lowerBound)\",\"to\":\"\($0.upperBound)\"}" }
        let redacted = records.indices.compactMap { index -> String? in
            guard let event = event(at: index), event.envelope.holding == .redacted else { return nil }
            let hash = Hasher256.hash(event.payload).hex
            return "{\"sequence\":\"\(index + 1)\",\"substituteHash\":\"\(hash)\"}"
        }
        let payload =
            "{\"of\":\"\(hexText(identity))\",\"lost\":[\(lost.joined(separator: ","))],"
            + "\"doubts\":[\(report.doubts.map { "\"\($0)\"" }.joined(separator: ","))],"
            + "\"droppedHash\":\"\(RewritePlan.droppedHash(of: missing).hex)\","
            + "\"redacted\":[\(redacted.joined(separator: ","))]}"
        let lane = Lane(source: .logtool, kind: try EventKind("logtool.salvage/1"), attributes: .none)
        let salt = systemRandomBytes(16)
        let bytes = Array(payload.utf8)
        let commitment = salt.withUnsafeBytes { salt in
            bytes.withUnsafeBytes { LeafHash.commitment(salt: salt, payload: $0) }
        }
        let recordedAt = now.microseconds
        return RecordedEvent(
            envelope: Envelope(
                sequence: SequenceNumber(head + 1),
                recordedAt: Timestamp(microseconds: recordedAt),
                source: lane.source,
                kind: lane.kind
            ),
            payload: bytes,
            salt: salt,
            commitment: commitment,
            leafHash: LeafHash.hash(recordedAt: recordedAt, lane: lane, key: nil, commitment: commitment)
        )
    }
}
