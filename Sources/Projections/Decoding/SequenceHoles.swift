import EventLog

/// The numbers `s` of a gateway's connections that never arrived: the server drops frames when its queue is full.
///
/// A number that arrives late (two frames swapped) fills its hole. Frames missing before a connection's first one, or
/// after its last one, cannot be detected. Owned by `GatewayConnections`, which decides what is missing and what is
/// late.
struct SequenceHoles: Codable, Sendable {
    private struct Hole: Codable {
        /// Identifies the connection: the sequence of the event that began it.
        var connection: UInt64
        /// The missing numbers, both ends included; never empty.
        var numbers: ClosedRange<Int64>
        /// When the dispatches before and after the hole were recorded.
        var from: Timestamp
        var to: Timestamp

        func with(_ numbers: ClosedRange<Int64>) -> Hole {
            var hole = self
            hole.numbers = numbers
            return hole
        }
    }

    static let reason = "hole"

    /// Further holes are ignored: a remote with this many sends no frames in order, and facts must not grow with it
    /// (I27).
    private static let countMax = 65_536

    /// In the order in which they opened; the parts of a split hole stay in its place, ascending.
    private var holes: [Hole] = []

    init() {}

    var gaps: [Gap] {
        holes.map { Gap(topic: nil, from: $0.from, to: $0.to, reason: Self.reason, numbers: [$0.numbers]) }
    }

    /// Whether a number of a connection is missing. Cost: O(holes).
    func hasHole(on connection: UInt64) -> Bool { holes.contains { $0.connection == connection } }

    /// Opens a hole for the numbers between two that arrived one after the other; neither is in it.
    mutating func open(after last: Int64, before next: Int64, on connection: UInt64, from: Timestamp, to: Timestamp) {
        guard last < next - 1, holes.count < Self.countMax else { return }
        holes.append(Hole(connection: connection, numbers: last + 1...next - 1, from: from, to: to))
    }

    /// Removes a late number from its hole, which may split in two; does nothing if no hole contains it. Cost:
    /// O(holes).
    mutating func fill(_ number: Int64, on connection: UInt64) {
        let index = holes.lastIndex { $0.connection == connection && $0.numbers.contains(number) }
        guard let index else { return }
        let hole = holes.remove(at: index)
        // The upper part first: the lower part is then inserted before it.
        if number < hole.numbers.upperBound {
            holes.insert(hole.with(number + 1...hole.numbers.upperBound), at: index)
        }
        if number > hole.numbers.lowerBound {
            holes.insert(hole.with(hole.numbers.lowerBound...number - 1), at: index)
        }
    }
}

extension SequenceHoles {
    /// Everything: `[["connection", first, last, from, to]]`, times in microseconds since 1970 (UTC).
    var facts: JSONValue {
        .array(
            holes.map { hole in
                .array([
                    .string(String(hole.connection)), .int(hole.numbers.lowerBound), .int(hole.numbers.upperBound),
                    .int(hole.from.microseconds), .int(hole.to.microseconds),
                ])
            }
        )
    }

    /// Reads what `facts` wrote; the facts of earlier programs, which knew no holes, have none.
    init(facts: JSONValue?) throws {
        for fact in facts?.array ?? [] {
            let numbers = (fact.array ?? []).dropFirst().compactMap { $0.number?.int64 }
            guard let connection = fact.array?.first?.string.flatMap({ UInt64($0) }), numbers.count == 4,
                numbers[0] <= numbers[1]
            else { throw ProjectionError.facts("a hole has another form") }
            holes.append(
                Hole(
                    connection: connection,
                    numbers: numbers[0]...numbers[1],
                    from: Timestamp(microseconds: numbers[2]),
                    to: Timestamp(microseconds: numbers[3])
                )
            )
        }
    }
}
