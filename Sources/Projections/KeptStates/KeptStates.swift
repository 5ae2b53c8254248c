import EventLog

/// The `states` table of the derived data: saved states by reading rules and sequence (I19).
///
/// Each state stores only the messages that came or changed since the previous one, its *base*; a state without a base
/// stores all messages. Everything but messages is stored whole each time. A state that cannot be read counts as
/// absent, and so does every state based on it (I17).
///
/// Keys begin with the rules as 32 hex digits; numbers are big-endian, so that the table is sorted by sequence:
/// - rules, `h`, u64 sequence: a state's head, written last
/// - rules, `p`, u64 sequence, u32 piece: its pieces, those of everything but messages first
/// - rules, `r`: the payload bytes, a u64, that were folded into the last state that was too large to keep
struct KeptStates: Sendable {
    static let name = "states"
    /// A commit is made once the pending pieces have this many bytes: LMDB keeps the pages of a commit in memory, and those of a larger
    /// one are out of the processor's cache when they are written.
    private static let commitBytes = 2 << 20
    private let rules: ReadingRules
    /// The rules as the keys begin with them.
    private let rulesKey: [UInt8]
    /// The table's version names the build: another build may encode states in another way, so its states are never read.
    private let build: String

    /// A kept state.
    struct Kept: Sendable {
        let sequence: SequenceNumber
        /// Running hash over the message pieces of all its bases, then its own. Against accidents alone: `FastHash` has
        /// no secret.
        let sum: UInt64
        /// The bytes written for this state alone, without its bases.
        let byteCounts: SavedByteCounts
        /// The bytes of all payloads folded to reach this state.
        let payloadBytes: Int
    }

    /// One state, encoded and ready to be written by another thread.
    struct Saving: Sendable {
        let kept: Kept
        fileprivate let head: [UInt8]
        fileprivate let pieces: [SavedPiece]
    }

    /// The value under a state's head key, in the form of `StateEncoder`.
    private struct Head: Codable {
        /// The base's sequence and its `sum`; `nil` and 0 without a base. The sum keeps pieces of two savings at one
        /// sequence apart.
        var baseSequence: UInt64?
        var baseSum: UInt64
        /// Hash of the message pieces, continued from the base's sum.
        var sum: UInt64
        /// Hash of the pieces of everything else.
        var restSum: UInt64
        /// How many pieces hold everything but messages; they have the first numbers. `pieceCount` counts these, too.
        var restPieceCount: UInt32
        var pieceCount: UInt32
        var byteCounts: SavedByteCounts
        var payloadBytes: Int
        /// Hash of all events up to the state's sequence: the state is valid only for a log with these events.
        var prefixHash: Hash256

        /// Adds a piece to its sum and to the counts.
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

    /// - Parameters:
    ///   - rules: the reading rules under which the states are folded; each set has its own states.
    ///   - build: identifies the program's build.
    init(rules: ReadingRules, build: String) {
        self.rules = rules
        rulesKey = Array(rules.shortName.utf8)
        self.build = build
        assert(rulesKey.count == ReadingRules.shortNameLength, "a key begins with the rules")
    }

    /// The sets of reading rules that states are kept for, each once; without a client only the canonical one. Errors
    /// count as no states.
    static func rules(
        in session: borrowing ReadSession,
        build: String,
        of client: (any Client.Type)?
    ) -> [ReadingRules] {
        let states = KeptStates(rules: .canonical, build: build)
        var rules: [ReadingRules] = []
        try? states.table(in: session)?.forEach { key, _ in
            guard key.count == states.headKey(.zero).count, key[ReadingRules.shortNameLength] == UInt8(ascii: "h"),
                let found = ReadingRules(
                    shortName: String(decoding: key.prefix(ReadingRules.shortNameLength), as: UTF8.self),
                    of: client
                ),
                client != nil || found.isEmpty
            else { return true }
            if rules.last != found { rules.append(found) }
            return true
        }
        return rules
    }

    /// The sequences of all states kept for these rules, ascending. Reads keys alone: a state may still turn out
    /// unreadable.
    func sequences(in session: borrowing ReadSession) -> [SequenceNumber] {
        var sequences: [SequenceNumber] = []
        let end = headKey(SequenceNumber(.max))
        try? table(in: session)?.forEach(from: headKey(.zero), to: end) { key, _ in
            sequences.append(SequenceNumber(key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }))
            return true
        }
        return sequences
    }

    /// The state kept at a sequence; `nil` if it or one of its bases cannot be read, or the log's events differ. The
    /// caller must call `LogState.begin` before it folds on. O(messages), besides decoding everything else.
    func state(at sequence: SequenceNumber, in session: borrowing ReadSession) -> (state: LogState, kept: Kept)? {
        guard let table = try? table(in: session), let chain = chain(to: sequence, in: table),
            let last = chain.last,
            session.begins(with: LogPrefix(sequence: sequence.rawValue, hash: last.head.prefixHash)),
            let changedAt = try? Decoders.changedAt(in: session), changedAt <= sequence
        else { return nil }
        guard var state = try? SavedState() else { return nil }
        for link in chain {
            // Bases contribute only their messages: everything else is whole in the last saving.
            let first = link.sequence == sequence ? 0 : link.head.restPieceCount
            guard (try? take(link.head, at: link.sequence, from: first, of: table, into: &state)) == true else {
                return nil
            }
        }
        guard let logState = try? state.logState(rules: rules), logState.sequence == sequence else { return nil }
        return (logState, last.head.kept(sequence))
    }

    /// The heads from the first base to the state at `sequence`; `nil` if one is unreadable or does not fit the next.
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
            // A base lies before its state. Without this check, a damaged chain could be endless.
            if let next, next >= here { return nil }
        }
        return chain.reversed()
    }

    /// Loads one state's pieces from number `first` on; false if their hashes or counts differ from those in the head.
    /// The caller then discards `state`.
    private func take(
        _ head: Head,
        at sequence: SequenceNumber,
        from first: UInt32,
        of table: DerivedTable,
        into state: inout SavedState
    ) throws -> Bool {
        var found = head
        (found.sum, found.restSum, found.pieceCount, found.restPieceCount) = (head.baseSum, 0, first, first)
        // Pieces below `first` are not read, so their sum is taken from the head.
        if first > 0 { found.restSum = head.restSum }
        state.begin()
        // The end is excluded. Pieces beyond it are leftovers of an interrupted saving.
        try table.forEach(from: pieceKey(sequence, first), to: pieceKey(sequence, head.pieceCount)) { _, piece in
            found.add(piece)
            try state.take(piece)
            return true
        }
        return found.sum == head.sum && found.restSum == head.restSum && found.pieceCount == head.pieceCount
            && found.restPieceCount == head.restPieceCount
    }

    /// Encodes a state: the messages that came or changed since `base`, or all of them, and everything else whole.
    ///
    /// - Parameters:
    ///   - base: the saving after which `LogState.noteSaved` was last called, or from which the state was loaded.
    ///   - payloadBytes: as `Kept.payloadBytes`.
    ///   - restBytesMax: how many bytes everything but messages may take.
    /// - Throws: `StateEncoder.LimitExceeded` if it takes more; if the log cannot be read.
    func saving(
        of state: LogState,
        base: Kept?,
        payloadBytes: Int,
        restBytesMax: Int = .max,
        in session: borrowing ReadSession
    ) throws -> Saving {
        let sequence = state.sequence
        assert(base.map { $0.sequence < sequence } ?? true, "a base lies before its state")
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
        let pieces = try state.pieces(whole: base == nil, restBytesMax: restBytesMax)
        for piece in pieces {
            piece.bytes.withUnsafeBytes { head.add($0) }
            head.byteCounts.add(piece)
        }
        assert(Int(head.pieceCount) == pieces.count, "the head counts every piece")
        return Saving(kept: head.kept(sequence), head: try StateEncoder.bytes(of: head), pieces: pieces)
    }

    /// Writes a saving in several commits, its head in the last one: until then the state does not exist. An
    /// interrupted writing leaves pieces, which the next one at this sequence overwrites.
    func write(_ saving: Saving, to table: DerivedTable) throws {
        let sequence = saving.kept.sequence
        var pending: [(key: [UInt8], piece: SavedPiece)] = []
        var pendingBytes = 0
        for (index, piece) in saving.pieces.enumerated() {
            pending.append((pieceKey(sequence, UInt32(index)), piece))
            pendingBytes += piece.count
            guard pendingBytes >= Self.commitBytes else { continue }
            try table.put(pending.lazy.map { ($0.key, $0.piece.bytes) })
            (pending, pendingBytes) = ([], 0)
        }
        pending.append((headKey(sequence), SavedPiece(saving.head)))
        try table.put(pending.lazy.map { ($0.key, $0.piece.bytes) })
    }

    /// The payload bytes that were folded into the last state that was too large to keep; 0 if there was none.
    func refusedPayloadBytes(in session: borrowing ReadSession) -> Int {
        guard let value = try? table(in: session)?.value(at: refusalKey), value.count == 8 else { return 0 }
        return Int(clamping: value.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Notes that a state was too large to keep, so that the next replay need not find that out again.
    func noteRefusal(payloadBytes: Int, in table: DerivedTable) throws {
        try table.put([(refusalKey, bytes(UInt64(clamping: payloadBytes)))])
    }

    /// Removes the state kept at a sequence, its head first, so that no head is without its pieces. A failure is passed
    /// over. States based on it become unreadable.
    func remove(_ sequence: SequenceNumber, in session: borrowing ReadSession) {
        guard let table = try? table(in: session) else { return }
        try? table.remove(from: headKey(sequence), to: headKey(sequence.next))
        try? table.remove(from: pieceKey(sequence, 0), to: pieceKey(sequence.next, 0))
    }

    /// The table to write to; `nil` if nothing may be written beside the log.
    func writableTable(in session: borrowing ReadSession) -> DerivedTable? {
        (try? session.keptTable(Self.name, build: build, makes: true)) ?? nil
    }

    private func table(in session: borrowing ReadSession) throws -> DerivedTable? {
        try session.keptTable(Self.name, build: build, makes: false)
    }

    /// The key of a state's head.
    func headKey(_ sequence: SequenceNumber) -> [UInt8] {
        rulesKey + Array("h".utf8) + bytes(sequence.rawValue)
    }

    /// The key of one of a state's pieces.
    func pieceKey(_ sequence: SequenceNumber, _ piece: UInt32) -> [UInt8] {
        rulesKey + Array("p".utf8) + bytes(sequence.rawValue) + bytes(piece)
    }

    private var refusalKey: [UInt8] { rulesKey + Array("r".utf8) }

    private func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
