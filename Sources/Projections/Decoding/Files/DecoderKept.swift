import EventLog

/// The values that a file keeps for a connection (`keep`), for later events of it (`{kept: NAME}`).
///
/// What an event reads here follows from the events that changed a value, all of which a compaction keeps.
struct DecoderKept: Codable, Sendable {
    /// The longest value, in bytes.
    static let textBytesMax = 4096
    /// Of more connections, those that came first are forgotten.
    private static let connectionsMax = 1_000

    private var values: [ExactText: [ExactText: String]] = [:]
    /// The connections in the order in which they came.
    private var order: [ExactText] = []
    /// The events that changed a value.
    private var events: [UInt64] = []

    /// The values of a connection, by name.
    func values(of connection: String) -> [ExactText: String] { values[ExactText(connection)] ?? [:] }

    /// Keeps a value; `nil` forgets it. Cost: O(1), of a new connection O(connections).
    mutating func keep(_ text: String?, as name: String, of connection: String, at sequence: UInt64) {
        let connection = ExactText(connection)
        let known = values[connection]?[ExactText(name)]
        if known == nil && text == nil
            || known.map({ known in text.map { ExactText.areSame($0, known) } ?? false }) ?? false
        {
            return
        }
        if events.last != sequence { events.append(sequence) }
        if values[connection] == nil {
            order.append(connection)
            if order.count > Self.connectionsMax { values[order.removeFirst()] = nil }
        }
        values[connection, default: [:]][ExactText(name)] = text
    }

    func collectNeeded(into sequences: inout SequenceSet) {
        for sequence in events { sequences.insert(sequence) }
    }

    /// All values, by connection in the order in which they came; `nil` without any.
    var normalForm: JSONValue? {
        if order.isEmpty { return nil }
        return .array(
            order.map { connection in
                let values = (values[connection] ?? [:]).sorted { ExactText.precedes($0.key.string, $1.key.string) }
                return .array(
                    [.string(connection.string)] + values.map { .array([.string($0.key.string), .string($0.value)]) }
                )
            }
        )
    }
}
