import EventLog

/// The numbers `s` of a gateway's connections that never arrived: the server drops frames when its queue is full.
///
/// A number that arrives late (two frames swapped) fills its hole. Frames missing before a connection's first one, or
/// after its last one, cannot be detected. Owned by `GatewayConnections`, which decides what is missing and what is
/// late.
struct SequenceHoles: Sendable {
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

    /// A hole, and how many were opened before it; the parts of a split hole have one number.
    private typealias Entry = (hole: Hole, opened: Int)

    static let reason = "hole"

    /// Further holes are ignored: a remote with this many sends no frames in order, and facts must not grow with it
    /// (I27).
    private static let countMax = 65_536
    private static let blockCountMax = 256

    /// By connection and number, in blocks, none of them empty: a change moves one block and not all holes behind it.
    private var blocks: [[Entry]] = []
    private var count = 0
    private var openedCount = 0

    init() {}

    /// In the order in which they opened; the parts of a split hole stay in its place, ascending. Cost: O(n log n).
    private var holes: [Hole] {
        blocks.joined().sorted { ($0.opened, $0.hole.numbers.lowerBound) < ($1.opened, $1.hole.numbers.lowerBound) }
            .map(\.hole)
    }

    var gaps: [Gap] {
        holes.map { Gap(topic: nil, from: $0.from, to: $0.to, reason: Self.reason, numbers: [$0.numbers]) }
    }

    /// The place of the last hole that begins at a number of a connection or before; `nil` if there is none. Cost: O(log holes).
    private func place(of number: Int64, on connection: UInt64) -> (block: Int, index: Int)? {
        func isBehind(_ hole: Hole) -> Bool {
            Steps.count(1)
            return (hole.connection, hole.numbers.lowerBound) > (connection, number)
        }
        let block = blocks.partitioningIndex { isBehind($0[0].hole) } - 1
        return block < 0 ? nil : (block, blocks[block].partitioningIndex { isBehind($0.hole) } - 1)
    }

    /// Whether a number of a connection is missing. Cost: O(log holes).
    func hasHole(on connection: UInt64) -> Bool {
        place(of: .max, on: connection).map { blocks[$0.block][$0.index].hole.connection == connection } ?? false
    }

    /// Opens a hole for the numbers between two that arrived one after the other; neither is in it.
    mutating func open(after last: Int64, before next: Int64, on connection: UInt64, from: Timestamp, to: Timestamp) {
        guard last < next - 1, count < Self.countMax else { return }
        add(Hole(connection: connection, numbers: last + 1...next - 1, from: from, to: to))
    }

    private mutating func add(_ hole: Hole) {
        let before = place(of: hole.numbers.lowerBound, on: hole.connection)
        if blocks.isEmpty { blocks.append([]) }
        let (block, index) = before.map { ($0.block, $0.index + 1) } ?? (0, 0)
        replace(index..<index, in: block, by: [(hole, openedCount)])
        openedCount += 1
    }

    /// Removes a late number from its hole, which may split in two; does nothing if no hole contains it. Cost:
    /// O(log holes).
    mutating func fill(_ number: Int64, on connection: UInt64) {
        guard let (block, index) = place(of: number, on: connection) else { return }
        let (hole, opened) = blocks[block][index]
        guard hole.connection == connection, hole.numbers.contains(number) else { return }
        var parts: [Entry] = []
        if number > hole.numbers.lowerBound {
            parts.append((hole.with(hole.numbers.lowerBound...number - 1), opened))
        }
        if number < hole.numbers.upperBound {
            parts.append((hole.with(number + 1...hole.numbers.upperBound), opened))
        }
        replace(index..<index + 1, in: block, by: parts)
    }

    private mutating func replace(_ range: Range<Int>, in block: Int, by entries: [Entry]) {
        blocks[block].replaceSubrange(range, with: entries)
        count += entries.count - range.count
        let all = blocks[block]
        if all.isEmpty {
            blocks.remove(at: block)
        } else if all.count > Self.blockCountMax {
            let middle = all.count / 2
            blocks.replaceSubrange(block...block, with: [Array(all[..<middle]), Array(all[middle...])])
        }
    }
}

extension SequenceHoles: Codable {
    private enum CodingKeys: CodingKey { case holes }

    init(from decoder: any Decoder) throws {
        for hole in try decoder.container(keyedBy: CodingKeys.self).decode([Hole].self, forKey: .holes) { add(hole) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(holes, forKey: .holes)
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
            add(
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
