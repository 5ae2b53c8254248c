import EventLog

extension LogState {
    /// Encodes the state as pieces for `SavedState`, in order: everything but messages, then the messages of each
    /// source. All pieces are in memory at once, beside the state but for the texts of its messages.
    ///
    /// - Parameters:
    ///   - whole: false for only the messages that came or changed since `noteSaved`.
    ///   - restBytesMax: how many bytes everything but messages may take.
    /// - Throws: `StateEncoder.LimitExceeded` if it takes more.
    func pieces(whole: Bool, restBytesMax: Int = .max) throws -> [SavedPiece] {
        let rest = try StateEncoder.chunks(
            of: SavedLogState(sequence: sequence, clock: clock, sources: sources.map(SavedSource.init)),
            of: SavedState.pieceBytes,
            head: [SavedState.restTag],
            byteCountMax: restBytesMax
        )
        var pieces = rest.map { SavedPiece($0) }
        for (index, source) in sources.enumerated() {
            try source.parts.messages.store.forEachPiece(whole: whole) { kind, piece in
                pieces.append(piece.behind(SavedState.head(kind, source: index)))
            }
        }
        return pieces
    }

    /// The number of messages stored as records, which take long to decode.
    var messageRecordCount: Int { sources.reduce(0) { $0 + $1.parts.messages.store.records.count } }

    /// Notes that the state was saved: the next `pieces(whole: false)` gives what comes or changes from now on.
    mutating func noteSaved() {
        for index in sources.indices { sources[index].parts.messages.store.noteSaved() }
    }
}

/// Rebuilds a state from the pieces of one saving, or of consecutive ones. Pieces of a source follow one another,
/// and sources come in one order in all savings: sources are only added.
struct SavedState {
    private struct Malformed: Error {}

    /// The length from which on a piece of everything but messages ends.
    static let pieceBytes = 1 << 20
    /// The first byte of such a piece. A piece of messages begins with its `MessageStore.PieceKind`, then the source's
    /// index (4 bytes, little-endian).
    fileprivate static let restTag: UInt8 = 0xFF

    /// Everything but messages, from the last saving.
    private var rest: [UInt8] = []
    /// One loader for each source, by index.
    private var stores: [MessageStoreLoader] = []

    /// Takes consecutive savings, each given as its pieces.
    init(_ savings: [[SavedPiece]] = []) throws {
        for pieces in savings {
            begin()
            for piece in pieces { try piece.bytes.withUnsafeBytes { try take($0) } }
        }
    }

    fileprivate static func head(_ kind: MessageStore.PieceKind, source: Int) -> [UInt8] {
        assert(kind.rawValue != restTag, "no piece of messages begins with the tag of the others")
        return [kind.rawValue] + withUnsafeBytes(of: UInt32(source).littleEndian) { Array($0) }
    }

    static func isOfMessages(_ piece: UnsafeRawBufferPointer) -> Bool { piece.first != restTag }

    /// Begins the next saving, which replaces everything but messages.
    mutating func begin() {
        rest = []
        for index in stores.indices { stores[index].begin() }
    }

    /// Takes the next piece of the current saving; throws if the piece is malformed. This value must be discarded then.
    mutating func take(_ piece: UnsafeRawBufferPointer) throws {
        guard let tag = piece.first else { throw Malformed() }
        if tag == Self.restTag { return rest.append(contentsOf: piece.dropFirst()) }
        guard piece.count >= 5, let kind = MessageStore.PieceKind(rawValue: tag) else { throw Malformed() }
        let source = Int(UInt32(littleEndian: piece.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        // Sources come in order, and each has pieces: one that is not known yet must be the next.
        guard source <= stores.count else { throw Malformed() }
        if source == stores.count { stores.append(MessageStoreLoader()) }
        try stores[source].take(kind, UnsafeRawBufferPointer(rebasing: piece[5...]))
    }

    /// The state after the last saving, without the key of its log (`LogState.begin`).
    ///
    /// - Parameter rules: Those that it was folded under.
    /// - Throws: if a piece is missing or malformed.
    consuming func logState(rules: ReadingRules = .canonical) throws -> LogState {
        let saved = try StateDecoder.value(SavedLogState.self, from: rest)
        guard saved.sources.count == stores.count else { throw Malformed() }
        return try LogState(saved, stores, rules)
    }
}

/// The bytes of a saving: of packed messages, of messages stored as records, of everything else. They differ in how
/// long loading takes (`KeptStateOptions.decodedPercentMax`).
struct SavedByteCounts: Codable, Sendable {
    private(set) var packed = 0
    private(set) var records = 0
    private(set) var rest = 0

    mutating func add(_ piece: SavedPiece) {
        switch piece.first {
        case SavedState.restTag: rest += piece.count
        case MessageStore.PieceKind.records.rawValue: records += piece.count
        default: packed += piece.count
        }
    }
}

extension LogState {
    fileprivate init(_ saved: SavedLogState, _ stores: [MessageStoreLoader], _ rules: ReadingRules) throws {
        self.init(rules: rules)
        sequence = saved.sequence
        clock = saved.clock
        sources = try saved.sources.map { try $0.state(rules: rules) }
        for index in sources.indices {
            indexes[sources[index].name] = index
            try stores[index].load(into: &sources[index].parts.messages)
        }
    }
}

/// Everything but messages. The digest is not saved: it is made anew from all rows.
private struct SavedLogState: Codable {
    var sequence: SequenceNumber
    var clock: Timestamp?
    var sources: [SavedSource]
}

/// All of a source's state but what lives only while one event is applied. `parts` leaves out the messages' store,
/// which the pieces contain.
private struct SavedSource: Codable {
    var name: String
    /// The short name of the set.
    var rowRules: String
    /// What the client remembers.
    var client: SavedClient?
    var names: Names
    var clock: Timestamp?
    var remoteClock: Timestamp?
    var issues: IssueList
    var parts: SourceParts

    init(_ state: SourceState) {
        name = state.name.rawValue
        rowRules = state.rowRules.shortName
        client = state.client.map { .client($0) }
        names = state.context.names
        clock = state.clock
        remoteClock = state.remoteClock
        issues = state.issues
        parts = state.parts
    }

    func state(rules: ReadingRules) throws -> SourceState {
        var state = SourceState(name: try SourceName(name), rules: rules)
        state.rowRules = ReadingRules(shortName: rowRules, of: rules.client) ?? .canonical
        if case .bytes(let bytes)? = client, let kind = rules.client {
            state.client = try Self.client(kind, from: bytes)
        }
        state.context.names = names
        state.clock = clock
        state.seenRemoteClock = remoteClock
        state.issues = issues
        state.parts = parts
        return state
    }

    private static func client<Kind: Client>(_ kind: Kind.Type, from bytes: [UInt8]) throws -> any Client {
        try StateDecoder.value(kind, from: bytes)
    }
}

/// What a client remembers: as bytes once it is loaded, since what is loaded does not tell whose it is.
private enum SavedClient: Codable {
    case client(any Client)
    case bytes([UInt8])

    init(from decoder: any Decoder) throws {
        self = .bytes(try decoder.singleValueContainer().decode([UInt8].self))
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .bytes(let bytes):
            var container = encoder.singleValueContainer()
            try container.encode(bytes)
        case .client(let client):
            guard let encoder = encoder as? StateEncoder else { break }
            // As a single value is written, but without a copy of its bytes.
            encoder.writeTruth(true)
            try encoder.writeBlock(of: client)
        }
    }
}
