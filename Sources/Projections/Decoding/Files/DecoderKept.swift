import EventLog

/// The values of earlier events that later events read. A file keeps them for a connection or a thing (`keep`), a registered
/// decoder for its source.
///
/// What an event reads here follows from the events that changed a value, all of which a compaction keeps.
struct DecoderKept: Codable, Sendable {
    /// What a value is kept for.
    enum Owner: Hashable, Codable, Sendable {
        case connection(ExactText)
        /// A thing, by what the file names it by: a user's id, that of a request.
        case thing(ExactText)
        case source

        fileprivate var text: String {
            switch self {
            case .connection(let name), .thing(let name): name.string
            case .source: ""
            }
        }
    }

    /// Owners of one sort in the order in which they came; those in front of `start` are forgotten.
    private struct Line: Codable, Sendable {
        var owners: [Owner] = []
        var start = 0

        /// Adds an owner.
        ///
        /// - Returns: the first one, if there are more than `countMax`. Cost: O(1) on average.
        mutating func add(_ owner: Owner, countMax: Int) -> Owner? {
            owners.append(owner)
            guard owners.count - start > countMax else { return nil }
            let first = owners[start]
            start += 1
            if start > owners.count / 2, start > 64 {
                owners.removeFirst(start)
                start = 0
            }
            return first
        }
    }

    /// The longest value of a file, in bytes.
    static let textBytesMax = 4096
    /// Of more, those that came first are forgotten.
    private static let (connectionsMax, thingsMax) = (1_000, 100_000)

    private struct Value: Codable, Sendable {
        let text: String
        /// The event that kept it.
        let sequence: UInt64
    }

    private var values: [Owner: [ExactText: Value]] = [:]
    private var connections = Line()
    private var things = Line()
    /// The events that changed a value.
    private var events: [UInt64] = []

    /// The events whose values are read, if these are noted; nothing is kept then. Not saved.
    private var reads: Set<UInt64>?

    private enum CodingKeys: CodingKey { case values, connections, things, events }

    /// A copy that keeps nothing and notes the events whose values are read.
    var noting: DecoderKept {
        var noting = self
        noting.reads = []
        return noting
    }

    /// The events whose values were read, ascending.
    var readEvents: [UInt64] { (reads ?? []).sorted() }

    /// A value; `nil` if there is none.
    func value(_ name: String, of owner: Owner) -> String? { values[owner]?[ExactText(name)]?.text }

    /// A value that an event reads; `nil` if there is none.
    mutating func read(_ name: String, of owner: Owner) -> String? {
        guard let value = values[owner]?[ExactText(name)] else { return nil }
        reads?.insert(value.sequence)
        return value.text
    }

    /// Keeps a value; `nil` forgets it. Cost: O(1) on average.
    mutating func keep(_ text: String?, as name: String, of owner: Owner, at sequence: UInt64) {
        if reads != nil { return }
        if Sameness.areSame(value(name, of: owner), text) { return }
        if events.last != sequence { events.append(sequence) }
        if values[owner] == nil {
            let forgotten: Owner? =
                switch owner {
                case .connection: connections.add(owner, countMax: Self.connectionsMax)
                case .thing: things.add(owner, countMax: Self.thingsMax)
                case .source: nil
                }
            if let forgotten { values[forgotten] = nil }
        }
        values[owner, default: [:]][ExactText(name)] = text.map { Value(text: $0, sequence: sequence) }
    }

    func collectNeeded(into sequences: inout SequenceSet) {
        for sequence in events { sequences.insert(sequence) }
    }

    /// All values, by owner in the order in which they came; `nil` without any.
    var normalForm: JSONValue? {
        let owners = connections.owners[connections.start...] + things.owners[things.start...] + [.source]
        let known = owners.filter { !(values[$0]?.isEmpty ?? true) }
        if known.isEmpty { return nil }
        return .array(
            known.map { owner in
                let values = (values[owner] ?? [:]).sorted { ExactText.precedes($0.key.string, $1.key.string) }
                return .array(
                    [.string(owner.text)] + values.map { .array([.string($0.key.string), .string($0.value.text)]) }
                )
            }
        )
    }
}
