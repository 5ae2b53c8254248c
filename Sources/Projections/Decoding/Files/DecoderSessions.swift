import EventLog

/// The last number of each session whose numbers grow. Of more than a thousand sessions, those that began first are forgotten.
struct DecoderSessions: Codable, Sendable {
    private static let countMax = 1_000

    /// That of the session without a name, which most files have alone.
    private var unnamed: Int64?
    private var numbers: [ExactText: Int64] = [:]
    /// The sessions with a number, in the order in which they first had one.
    private var order: [ExactText] = []

    var isEmpty: Bool { unnamed == nil && numbers.isEmpty }

    /// The last number of a session; `nil` if it has none yet. Setting `nil` begins it anew.
    subscript(session: ExactText) -> Int64? {
        get { session.string.isEmpty ? unnamed : numbers[session] }
        set {
            if session.string.isEmpty { return unnamed = newValue }
            let isNew = numbers[session] == nil
            numbers[session] = newValue
            if newValue == nil {
                if !isNew { order.removeAll { $0 == session } }
            } else if isNew {
                order.append(session)
                if order.count > Self.countMax { numbers[order.removeFirst()] = nil }
            }
        }
    }

    /// One fact for each session: its name and its number, in the order in which they first had one.
    var facts: [JSONValue] {
        let named = order.map { JSONValue.array([.string($0.string), .int(numbers[$0] ?? 0)]) }
        return (unnamed.map { [.array([.string(""), .int($0)])] } ?? []) + named
    }

    mutating func load(facts: JSONValue?) throws {
        for fact in facts?.array ?? [] {
            guard let parts = fact.array, parts.count == 2, let name = parts[0].string,
                let number = parts[1].number?.int64
            else { throw ProjectionError.facts("the number of a session has another form") }
            self[ExactText(name)] = number
        }
    }
}
