import EventLog

/// Which numbers `s` of a gateway's connections never came: frames that the server dropped, its queue being full.
///
/// A number that comes late (two frames swapped) fills its hole. What is missing before a connection's first frame, or
/// after its last one, shows nowhere.
struct SequenceHoles: Codable, Sendable {
    private struct Hole: Codable {
        /// What tells connections apart: the event that began it.
        var connection: UInt64
        var numbers: ClosedRange<Int64>
        var from: Timestamp
        var to: Timestamp

        func with(_ numbers: ClosedRange<Int64>) -> Hole {
            var hole = self
            hole.numbers = numbers
            return hole
        }
    }

    static let reason = "hole"

    /// More are not remembered: who sends that many sends no frames in order.
    private static let countMax = 65_536

    private var holes: [Hole] = []

    init() {}

    var gaps: [Gap] {
        holes.map { Gap(topic: nil, from: $0.from, to: $0.to, reason: Self.reason, numbers: [$0.numbers]) }
    }

    /// The numbers between two that came one after the other are missing for now.
    mutating func open(after last: Int64, before next: Int64, on connection: UInt64, from: Timestamp, to: Timestamp) {
        guard last < next - 1, holes.count < Self.countMax else { return }
        holes.append(Hole(connection: connection, numbers: last + 1...next - 1, from: from, to: to))
    }

    /// A number came late.
    mutating func fill(_ number: Int64, on connection: UInt64) {
        let index = holes.lastIndex { $0.connection == connection && $0.numbers.contains(number) }
        guard let index else { return }
        let hole = holes.remove(at: index)
        if number < hole.numbers.upperBound {
            holes.insert(hole.with(number + 1...hole.numbers.upperBound), at: index)
        }
        if number > hole.numbers.lowerBound {
            holes.insert(hole.with(hole.numbers.lowerBound...number - 1), at: index)
        }
    }
}

extension SequenceHoles {
    /// All of it: `[["connection", first, last, from, to]]`, times in microseconds.
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

    /// Reads what `facts` gave; a log that was compacted before holes were known has none.
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
