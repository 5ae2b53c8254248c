import EventLog

/// The table `states` of what is derived from a log: saved states by reading rules and sequence, in pieces.
///
/// Key: the rules, u64 sequence, u32 piece. Piece 0 is the last one written and says how many there are, the length of all
/// together and the leaf hash of the event that the state ends with. What cannot be read is as good as none.
struct KeptStates {
    static let name = "states"
    private static let pieceBytes = 8 << 20
    private let rules: [UInt8]
    let version: UInt32

    init(rules: ReadingRules, build: String) {
        let rules = rules.shortName
        self.rules = Array((String(repeating: "0", count: max(0, 32 - rules.utf8.count)) + rules).utf8)
        version = Hasher256.hash(Array(build.utf8)).bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The sequences of the states that are there, ascending.
    func sequences(in session: borrowing ReadSession) -> [SequenceNumber] {
        var sequences: [SequenceNumber] = []
        try? table(in: session)?.forEach(from: rules, to: rules + [0xFF]) { key, _ in
            let place = key.dropFirst(rules.count)
            guard place.count == 12, place.suffix(4).allSatisfy({ $0 == 0 }) else { return true }
            sequences.append(SequenceNumber(place.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }))
            return true
        }
        return sequences
    }

    /// The state kept at a sequence, and its size in bytes.
    func state(at sequence: SequenceNumber, in session: borrowing ReadSession) -> (state: Workspace, byteCount: Int)? {
        guard let table = try? table(in: session), let bytes = try? table.value(at: key(sequence, piece: 0)),
            let head = try? StateDecoder.value(Head.self, from: bytes),
            let leafHash = try? session.leafHash(at: sequence), head.leafHash == leafHash
        else { return nil }
        var saved: [UInt8] = []
        for piece in 0..<head.pieceCount {
            guard let bytes = try? table.value(at: key(sequence, piece: piece + 1)) else { return nil }
            saved += bytes
        }
        guard saved.count == head.byteCount, let state = try? Workspace(saved: saved), state.sequence == sequence
        else { return nil }
        return (state, saved.count)
    }

    /// Keeps a state, if there is room and permission; its size in bytes.
    func keep(_ state: Workspace, in session: borrowing ReadSession) throws -> Int {
        let saved = try state.saved()
        let starts = Array(stride(from: 0, to: saved.count, by: Self.pieceBytes))
        let head = Head(
            pieceCount: UInt32(starts.count),
            byteCount: saved.count,
            leafHash: try session.leafHash(at: state.sequence)
        )
        let pieces = starts.map { saved[$0..<min($0 + Self.pieceBytes, saved.count)] }
        if let table = try? session.derivedStore().table(Self.name, version: version) {
            let isWhole = pieces.enumerated().allSatisfy { index, piece in
                let key = key(state.sequence, piece: UInt32(index) + 1)
                return (try? table.put([(key, Array(piece))])) != nil
            }
            if isWhole { try? table.put([(key(state.sequence, piece: 0), try StateEncoder.bytes(of: head))]) }
        }
        return saved.count
    }

    /// Removes what is kept at a sequence.
    func remove(_ sequence: SequenceNumber, in session: borrowing ReadSession) {
        try? table(in: session)?.remove(from: key(sequence, piece: 0), to: key(sequence.next, piece: 0))
    }

    private func table(in session: borrowing ReadSession) throws -> DerivedTable? {
        try session.existingDerivedStore()?.table(Self.name, version: version)
    }

    func key(_ sequence: SequenceNumber, piece: UInt32) -> [UInt8] {
        rules + withUnsafeBytes(of: sequence.rawValue.bigEndian) { Array($0) }
            + withUnsafeBytes(of: piece.bigEndian) { Array($0) }
    }

    private struct Head: Codable {
        var pieceCount: UInt32
        var byteCount: Int
        var leafHash: Hash256
    }
}
