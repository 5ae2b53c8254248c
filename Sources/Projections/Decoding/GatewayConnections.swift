import EventLog

/// Which dispatches were seen on which connection, so that a repeat of one is known.
///
/// `s` counts within one connection only. Connections are told apart by the name that a recorder gives them; frames
/// without such a name are of the connection that started last in log order.
struct GatewayConnections: Codable, Sendable {
    /// What makes two dispatches of one connection the same: `s`, and the bytes (the first half of their SHA-256).
    struct Mark: Codable, Hashable, Sendable {
        let s: Int64
        let hash: UInt64
        let hashTail: UInt64

        init(s: Int64, payload: UnsafeRawBufferPointer) {
            var hasher = Hasher256()
            hasher.update(payload)
            let digest = hasher.finalize()
            (hash, hashTail) = digest.withBytes { bytes in
                (
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            self.s = s
        }

        init(s: Int64, hash: UInt64, hashTail: UInt64) {
            self.s = s
            self.hash = hash
            self.hashTail = hashTail
        }
    }

    private struct Connection: Codable, Sendable {
        var name: String?
        /// The sequence of the first event with each mark.
        private(set) var seen: [Mark: UInt64] = [:]
        /// The marks in log order.
        private(set) var marks: [Mark] = []

        mutating func note(_ mark: Mark, at sequence: UInt64) {
            seen[mark] = sequence
            marks.append(mark)
            guard marks.count >= 2 * markCountMax else { return }
            for mark in marks.prefix(markCountMax) { seen[mark] = nil }
            marks.removeFirst(markCountMax)
        }
    }

    /// How many of a connection's dispatches are remembered at least, twice as many at most: a repeat comes soon after
    /// its original, and what a compaction stores of a connection that lasts for weeks stays small.
    static let markCountMax = 65_536

    /// A recorder runs one connection, and for a moment a second one; more are remembered only so that a late frame of a
    /// connection that is gone is still recognised.
    private static let connectionCountMax = 8

    /// In the order in which they started, the newest last.
    private var connections: [Connection] = []
    /// The last event that was noted. Events up to it are told again after a compaction; they are noted already.
    private var settled: UInt64 = 0

    init() {}

    /// A connection started: what was seen under its name before is another connection's.
    mutating func start(_ name: String?, at sequence: SequenceNumber) {
        guard sequence.rawValue > settled else { return }
        connections.removeAll { $0.name == name }
        begin(name)
        settled = sequence.rawValue
    }

    /// Notes a dispatch; whether it repeats an earlier one.
    mutating func isRepeat(_ mark: Mark, on name: String?, at sequence: SequenceNumber) -> Bool {
        let index = connections.firstIndex { $0.name == name }
        if let first = index.flatMap({ connections[$0].seen[mark] }) { return first < sequence.rawValue }
        guard sequence.rawValue > settled else { return false }
        connections[index ?? begin(name)].note(mark, at: sequence.rawValue)
        settled = sequence.rawValue
        return false
    }

    @discardableResult
    private mutating func begin(_ name: String?) -> Int {
        if connections.count == Self.connectionCountMax { connections.removeFirst() }
        connections.append(Connection(name: name))
        return connections.count - 1
    }
}

extension GatewayConnections {
    /// All of it: `{"settled":"…","connections":[{"name","seen":[[s,"hash","sequence"]]}]}`, marks in order.
    var facts: JSONValue {
        .object([
            "settled": .string(String(settled)),
            "connections": .array(
                connections.map { connection in
                    .object([
                        "name": .text(connection.name),
                        "seen": .array(connection.marks.map { Self.fact($0, connection.seen[$0] ?? 0) }),
                    ])
                }
            ),
        ])
    }

    private static func fact(_ mark: Mark, _ sequence: UInt64) -> JSONValue {
        let hash = [mark.hash, mark.hashTail].map { String($0, radix: 16) }.joined(separator: ".")
        return .array([.int(mark.s), .string(hash), .string(String(sequence))])
    }

    /// Reads what `facts` gave.
    init(facts: JSONValue) throws {
        guard let settled = facts["settled"]?.string.flatMap({ UInt64($0) }), let list = facts["connections"]?.array
        else { throw ProjectionError.facts("the connections of a gateway have another form") }
        self.settled = settled
        for fact in list.suffix(Self.connectionCountMax) {
            var connection = Connection(name: fact["name"]?.string)
            for seen in fact["seen"]?.array ?? [] {
                guard let (mark, sequence) = Self.mark(seen) else {
                    throw ProjectionError.facts("a frame seen on a gateway has another form")
                }
                connection.note(mark, at: sequence)
            }
            connections.append(connection)
        }
    }

    private static func mark(_ fact: JSONValue) -> (Mark, UInt64)? {
        guard let parts = fact.array, parts.count == 3, let s = parts[0].number?.int64,
            let sequence = parts[2].string.flatMap({ UInt64($0) }),
            let halves = parts[1].string?.split(separator: ".").map({ UInt64($0, radix: 16) }), halves.count == 2,
            let hash = halves[0], let tail = halves[1]
        else { return nil }
        return (Mark(s: s, hash: hash, hashTail: tail), sequence)
    }
}
