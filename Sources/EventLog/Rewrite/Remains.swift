/// Hashes of everything that rewrites have left beside the events (I25): the deciding sequence, facts, keys of dropped
/// events, runs of dropped events, and clocks.
///
/// A rewrite's act names them as they are once the rewrite has taken effect. They stay the same until the next rewrite.
/// The tree covers the act, so the last rewrite's act proves all of them.
struct Remains: Equatable {
    let decidedAt: UInt64
    /// SHA-256 over `str name ‖ u64 length ‖ value` of each fact, in the order of the names' bytes.
    let factsHash: Hash256
    /// SHA-256 over all entries of the table `keys`, ascending.
    let keysHash: Hash256
    /// SHA-256 over acts, runs and clocks: see `docs/format.md`.
    let runsHash: Hash256

    /// Computes the hashes. Cost: reads all facts, keys, runs and nodes.
    ///
    /// - Parameters:
    ///   - acts: the acts of all rewrites, including the last one.
    ///   - head: the last event before the last act.
    init(_ reader: LogReader, acts: [UInt64], head: UInt64) throws {
        decidedAt = try reader.decidedAt().rawValue
        factsHash = try Self.factsHash(reader)
        keysHash = try Self.keysHash(reader)
        runsHash = try Self.runsHash(reader, acts, head)
    }

    /// The last member of the act's payload, which is a JSON object.
    var text: String {
        "\(Self.opening(decidedAt)),\"factsHash\":\"\(factsHash.hex)\",\"keysHash\":\"\(keysHash.hex)\","
            + "\"runsHash\":\"\(runsHash.hex)\"}"
    }

    /// The beginning of the member.
    static func opening(_ decidedAt: UInt64) -> String { "\"remains\":{\"decidedAt\":\"\(decidedAt)\"" }

    /// The part of the member that names the facts.
    static func naming(facts hash: Hash256) -> String { "\"factsHash\":\"\(hash.hex)\"" }

    /// The part of the member that names the keys of dropped events.
    static func naming(keys hash: Hash256) -> String { "\"keysHash\":\"\(hash.hex)\"" }

    static func factsHash(_ reader: LogReader) throws -> Hash256 {
        var hasher = Hasher256()
        var cursor = try Cursor(reader.view, reader.tables.facts)
        while try cursor.advance() {
            guard let value = Checksum.opened(cursor.value, table: "facts", key: cursor.key) else {
                throw reader.damaged("a value of the table facts is altered")
            }
            hasher.update(fact: value, named: cursor.key)
        }
        return hasher.finalize()
    }

    /// The same hash of facts in memory, in the order of the bytes of their names.
    static func hash(facts: [(name: [UInt8], value: [UInt8])]) -> Hash256 {
        var hasher = Hasher256()
        for fact in facts {
            fact.name.withUnsafeBytes { name in
                fact.value.withUnsafeBytes { hasher.update(fact: $0, named: name) }
            }
        }
        return hasher.finalize()
    }

    private static func keysHash(_ reader: LogReader) throws -> Hash256 {
        var hasher = Hasher256()
        var cursor = try Cursor(reader.view, reader.tables.keys)
        while try cursor.advance() {
            guard let value = Checksum.opened(cursor.value, table: "keys", key: cursor.key) else {
                throw reader.damaged("a chunk of the keys of dropped events is altered")
            }
            hasher.update(value)
        }
        return hasher.finalize()
    }

    /// SHA-256 over `u64 count ‖ u64 act …`, then `u64 first ‖ u64 count ‖ u32 rewrite ‖ i64 clock` of each run, a
    /// `u64` zero, and the clock of each node that was full before the act.
    private static func runsHash(_ reader: LogReader, _ acts: [UInt64], _ head: UInt64) throws -> Hash256 {
        var hasher = Hasher256()
        hasher.update(number: UInt64(acts.count))
        for act in acts { hasher.update(number: act) }
        try reader.forEachGapRun(in: 0...UInt64.max) { run in
            hasher.update(number: run.first)
            hasher.update(number: run.count)
            hasher.update(number: run.rewrite)
            hasher.update(number: run.clock)
            return true
        }
        // No run begins at 0, so this zero ends the list of runs.
        hasher.update(number: 0 as UInt64)
        for number in 0..<head / TreeNode.leafCount {
            guard let node = try reader.node(number) else { throw reader.damaged("tree node \(number) is missing") }
            hasher.update(number: node.clock)
        }
        return hasher.finalize()
    }
}

extension Hasher256 {
    /// `str name ‖ u64 length ‖ value`.
    fileprivate mutating func update(fact value: UnsafeRawBufferPointer, named name: UnsafeRawBufferPointer) {
        update(number: UInt16(clamping: name.count))
        update(name)
        update(number: UInt64(value.count))
        update(value)
    }

    fileprivate mutating func update(number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { update($0) }
    }
}

extension RewritePlan {
    /// The act with `remains` as the last member of its payload.
    func act(naming remains: Remains) -> DraftEvent {
        assert(isActOpen, "`check` refuses a plan whose act is no JSON object")
        var named = act
        named.payload.removeLast()
        if named.payload.count > 1 { named.payload.append(UInt8(ascii: ",")) }
        named.payload += Array(remains.text.utf8) + [UInt8(ascii: "}")]
        assert(named.payload.count <= act.payload.count + Self.remainsBytesMax, "the limit on acts leaves room for it")
        return named
    }

    /// The most bytes that `act(naming:)` adds to the payload.
    static let remainsBytesMax = 320

    /// Whether the act's payload looks like a JSON object, so that a member can be added. Checks the braces only.
    var isActOpen: Bool {
        act.payload.count >= 2 && act.payload.first == UInt8(ascii: "{") && act.payload.last == UInt8(ascii: "}")
    }
}

// MARK: - Checking

extension GapExplanation {
    /// Compares what lies beside the events with what the last rewrite's act names (I25).
    ///
    /// - Returns: false if an earlier program version wrote that act, which does not name it; true otherwise, also
    ///   without any rewrite.
    /// - Throws: `EventLogError` with code `damaged` if they differ.
    func checkRemains(_ reader: LogReader, head: UInt64) throws -> Bool {
        let decidedAt = try reader.decidedAt().rawValue
        guard decidedAt <= head else {
            throw reader.damaged("the last compaction was decided at \(decidedAt), and the head is \(head)")
        }
        // Found among the events, which the tree covers, and not by the list in `meta`, which somebody may have
        // altered.
        guard let (act, payload) = lastRewrite else {
            let counts = try [reader.tables.facts, reader.tables.keys].map { try reader.view.count(of: $0) }
            guard decidedAt == 0, counts == [0, 0], try reader.acts().isEmpty else {
                throw reader.damaged("something lies beside the events, and no act tells of a rewrite")
            }
            return true
        }
        guard payload.contains(Array("\"remains\":{".utf8)) else {
            return try isUnnamedPossible(act, payload, decidedAt, reader)
        }
        let remains = try Remains(reader, acts: reader.acts(), head: act - 1)
        guard payload.contains(Array(remains.text.utf8)) else {
            throw reader.damaged(
                "what compactions left beside the events is not what the act at \(act) names: \(remains.difference(payload))"
            )
        }
        return true
    }

    /// Checks an act of an earlier version, which names at most when the compaction was decided. Returns false.
    private func isUnnamedPossible(
        _ act: UInt64,
        _ payload: [UInt8],
        _ decidedAt: UInt64,
        _ reader: LogReader
    ) throws -> Bool {
        let isOther =
            payload.contains(Array("\"decidedAt\":\"".utf8))
            && !payload.contains(Array("\"decidedAt\":\"\(decidedAt)\"".utf8))
        guard decidedAt < act, !isOther else {
            throw reader.damaged("the act at \(act) was not decided at \(decidedAt)")
        }
        return false
    }
}

extension Remains {
    /// The names of the parts that differ from those in an act.
    fileprivate func difference(_ payload: [UInt8]) -> String {
        let parts = [
            ("the deciding sequence", Self.opening(decidedAt)), ("facts", Self.naming(facts: factsHash)),
            ("keys of dropped events", Self.naming(keys: keysHash)),
            ("runs of dropped events or clocks", "\"runsHash\":\"\(runsHash.hex)\""),
        ]
        return parts.filter { !payload.contains(Array($0.1.utf8)) }.map(\.0).joined(separator: ", ")
    }
}

extension LogReader {
    /// Compares the facts with the act that `meta` lists as the last rewrite's.
    ///
    /// Cost: reads one event and all facts. `verify` finds that act among the events instead of trusting `meta`.
    ///
    /// - Throws: `EventLogError` with code `damaged`.
    func checkFacts() throws {
        guard let act = try acts().last, let event = try event(at: act) else { return }
        let payload = event.payload
        // An act of an earlier program version names no facts, so there is nothing to compare.
        guard payload.contains(Array("\"remains\":{".utf8)) else { return }
        let hash = try Remains.factsHash(self)
        guard payload.contains(Array(Remains.naming(facts: hash).utf8)),
            try withRecord(at: act, { $0.recomputedLeafHash(in: try lane($0.laneNumber)) }) == event.leafHash
        else { throw damaged("the facts are not those that the act at \(act) names") }
    }
}
