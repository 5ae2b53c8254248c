/// What a registered decoder remembers for later events of its source.
struct DecoderMemory: Codable, Sendable {
    private(set) var texts: [ExactText: String] = [:]
    /// The events that remembered or forgot something, ascending. A compaction keeps them, so that each kept event is read
    /// with the memory that it was read with before: the memory follows from them alone.
    private(set) var sequences: [UInt64] = []

    /// Sets or removes a text.
    mutating func set(_ text: String?, _ key: ExactText, at sequence: UInt64) {
        texts[key] = text
        if sequences.last != sequence { sequences.append(sequence) }
    }

    /// The texts by their keys, for normal forms; `nil` for none.
    var normalForm: JSONValue? {
        if texts.isEmpty { return nil }
        let list = texts.map { ($0.key.string, $0.value) }.sorted { ExactText.precedes($0.0, $1.0) }
        return .array(list.map { .array([.string($0.0), .string($0.1)]) })
    }
}
