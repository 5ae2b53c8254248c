import EventLog

/// The table `states` of what is derived from a log: saved states by reading rules and sequence.
///
/// A state is kept as what came since the one before it, its *base*, or from the beginning. Keys: the rules, `h`, u64
/// sequence: the head of a state, written last; the rules, `p`, u64 sequence, u32 piece: its pieces, first those of all but
/// messages. What cannot be read is as good as none, with all that is based on it.
struct KeptStates: Sendable {
    static let name = "states"
    /// About so much is written in one commit.
    private static let commitBytes = 16 << 20
    private let rules: [UInt8]
    let version: UInt32

    /// A state that is kept.
    struct Kept: Sendable {
        let sequence: SequenceNumber
        /// Tells its messages, and those of all that it is based on, from others.
        let sum: UInt64
        /// Of what was written for this one.
        let byteCounts: SavedByteCounts
        /// How many bytes the payloads have that it is the state after.
        let payloadBytes: Int
    }

    /// What is to be written of one state.
    struct Saving: Sendable {
        let kept: Kept
        fileprivate let head: [UInt8]
        fileprivate let pieces: [[UInt8]]
    }

    private struct Head: Codable {
        var baseSequence: UInt64?
        var baseSum: UInt64
        /// Of the pieces of messages, and of the base's.
        var sum: UInt64
        /// Of the pieces of all else.
        var restSum: UInt64
        var restPieceCount: UInt32
        var pieceCount: UInt32
        var byteCounts: SavedByteCounts
        var payloadBytes: Int
        /// Of the log up to the event that the state ends with.
        var prefixHash: Hash256

        /// Counts a piece in.
        mutating func add(_ piece: UnsafeRawBufferPointer) {
            let hash = FastHash(piece)
            pieceCount += 1
            if SavedState.isOfMessages(piece) {
                sum = FastHash.mix(sum ^ hash.high, hash.low)
            } else {
                restSum = FastHash.mix(restSum ^ hash.high, hash.low)
                restPieceCount += 1
            }
        }

        func kept(_ sequence: SequenceNumber) -> Kept {
            Kept(sequence: sequence, sum: sum, byteCounts: byteCounts, payloadBytes: payloadBytes)
        }
    }

    init(rules: ReadingRules, build: String) {
        let rules = rules.shortName
        self.rules = Array((String(repeating: "0", count: max(0, 32 - rules.utf8.count)) + rules).utf8)
        version = Hasher256.hash(Array(build.utf8)).bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// By which rules states are kept.
    static func rules(in session: borrowing ReadSession, build: String) -> [ReadingRules] {
        let states = KeptStates(rules: [], build: build)
        var rules: [ReadingRules] = []
        try? states.table(in: session)?.forEach { key, _ in
            guard key.count == states.headKey(.zero).count, key[32] == UInt8(ascii: "h"),
                let found = ReadingRules(shortName: String(decoding: key.prefix(32), as: UTF8.self))
            else { return true }
            if rules.last != found { rules.append(found) }
            return true
        }
        return rules
    }

    /// The sequences of the states that are there, ascending.
    func sequences(in session: borrowing ReadSession) -> [SequenceNumber] {
        var sequences: [SequenceNumber] = []
        let end = headKey(SequenceNumber(.max))
        try? table(in: session)?.forEach(from: headKey(.zero), to: end) { key, _ in
            sequences.append(SequenceNumber(key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }))
            return true
        }
        return sequences
    }

    /// The state kept at a sequence; `nil` where it or what it is based on cannot be read.
    func state(at sequence: SequenceNumber, in session: borrowing ReadSession) -> (state: Workspace, kept: Kept)? {
        guard let table = try? table(in: session), let chain = chain(to: sequence, in: table),
            let last = chain.last, let prefixHash = try? session.prefixHash(through: sequence),
            last.head.prefixHash == prefixHash
        else { return nil }
        guard var state = try? SavedState() else { return nil }
        for link in chain {
            // Of the states that it is based on, nothing but messages is needed.
            let first = link.sequence == sequence ? 0 : link.head.restPieceCount
            guard (try? take(link.head, at: link.sequence, from: first, of: table, into: &state)) == true else {
                return nil
            }
        }
        guard let workspace = try? state.workspace(), workspace.sequence == sequence else { return nil }
        return (workspace, last.head.kept(sequence))
    }

    /// The heads from the first saving to the one of a sequence.
    private func chain(to sequence: SequenceNumber, in table: DerivedTable) -> [(sequence: SequenceNumber, head: Head)]?
    {
        var chain: [(sequence: SequenceNumber, head: Head)] = []
        var next: SequenceNumber? = sequence
        while let here = next {
            guard let bytes = try? table.value(at: headKey(here)),
                let head = try? StateDecoder.value(Head.self, from: bytes)
            else { return nil }
            if let above = chain.last, above.head.baseSum != head.sum { return nil }
            chain.append((here, head))
            next = head.baseSequence.map { SequenceNumber($0) }
            if let next, next >= here { return nil }
        }
        return chain.reversed()
    }

    /// Takes in the pieces of one saving from a number on; false where they are not those that the head speaks of.
    private func take(
        _ head: Head,
        at sequence: SequenceNumber,
        from first: UInt32,
        of table: DerivedTable,
        into state: inout SavedState
    ) throws -> Bool {
        var found = head
        (found.sum, found.restSum, found.pieceCount, found.restPieceCount) = (head.baseSum, 0, first, first)
        if first > 0 { found.restSum = head.restSum }
        state.begin()
        try table.forEach(from: pieceKey(sequence, first), to: pieceKey(sequence, head.pieceCount)) { _, piece in
            found.add(piece)
            try state.take(piece)
            return true
        }
        return found.sum == head.sum && found.restSum == head.restSum && found.pieceCount == head.pieceCount
            && found.restPieceCount == head.restPieceCount
    }

    /// What of a state is to be written: what came since its base, or all of it.
    ///
    /// - Parameter payloadBytes: as `Kept.payloadBytes`.
    func saving(
        of state: Workspace,
        base: Kept?,
        payloadBytes: Int,
        in session: borrowing ReadSession
    ) throws -> Saving {
        let sequence = state.sequence
        var head = Head(
            baseSequence: base?.sequence.rawValue,
            baseSum: base?.sum ?? 0,
            sum: base?.sum ?? 0,
            restSum: 0,
            restPieceCount: 0,
            pieceCount: 0,
            byteCounts: SavedByteCounts(),
            payloadBytes: payloadBytes,
            prefixHash: try session.prefixHash(through: sequence)
        )
        let pieces = try state.pieces(whole: base == nil)
        for piece in pieces {
            piece.withUnsafeBytes { head.add($0) }
            head.byteCounts.add(piece)
        }
        return Saving(kept: head.kept(sequence), head: try StateEncoder.bytes(of: head), pieces: pieces)
    }

    /// Writes a saving, its head last.
    func write(_ saving: Saving, to table: DerivedTable) throws {
        let sequence = saving.kept.sequence
        var pending: [(key: [UInt8], value: [UInt8])] = []
        var pendingBytes = 0
        for (index, piece) in saving.pieces.enumerated() {
            pending.append((pieceKey(sequence, UInt32(index)), piece))
            pendingBytes += piece.count
            guard pendingBytes >= Self.commitBytes else { continue }
            try table.put(pending)
            (pending, pendingBytes) = ([], 0)
        }
        pending.append((headKey(sequence), saving.head))
        try table.put(pending)
    }

    /// Removes what is kept at a sequence.
    func remove(_ sequence: SequenceNumber, in session: borrowing ReadSession) {
        guard let table = try? table(in: session) else { return }
        try? table.remove(from: headKey(sequence), to: headKey(sequence.next))
        try? table.remove(from: pieceKey(sequence, 0), to: pieceKey(sequence.next, 0))
    }

    /// The table to write to; `nil` where nothing may be written beside the log.
    func writableTable(in session: borrowing ReadSession) -> DerivedTable? {
        try? session.derivedStore().table(Self.name, version: version)
    }

    private func table(in session: borrowing ReadSession) throws -> DerivedTable? {
        try session.existingDerivedStore()?.table(Self.name, version: version)
    }

    func headKey(_ sequence: SequenceNumber) -> [UInt8] {
        rules + Array("h".utf8) + bytes(sequence.rawValue)
    }

    func pieceKey(_ sequence: SequenceNumber, _ piece: UInt32) -> [UInt8] {
        rules + Array("p".utf8) + bytes(sequence.rawValue) + bytes(piece)
    }

    private func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
