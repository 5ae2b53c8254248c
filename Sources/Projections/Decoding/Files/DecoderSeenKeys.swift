/// The keys by which repeated events are found, so many as a file keeps: of more, the ones that came first are forgotten.
struct DecoderSeenKeys: Codable, Sendable {
    /// How many keys count where nothing else is said.
    static let countDefault = 100_000

    private var sequences: [ChangeIdentity: UInt64] = [:]
    /// In the order in which they came; those in front of `start` are forgotten.
    private var order: [ChangeIdentity] = []
    private var start = 0

    var isEmpty: Bool { sequences.isEmpty }

    /// The event with which a key came; `nil` for one that is not known.
    subscript(key: ChangeIdentity) -> UInt64? { sequences[key] }

    /// Adds a key that is not known. Cost: O(1) on average.
    mutating func add(_ key: ChangeIdentity, at sequence: UInt64, keeping count: Int) {
        sequences[key] = sequence
        order.append(key)
        while sequences.count > count {
            sequences[order[start]] = nil
            start += 1
        }
        guard start > order.count / 2, start > 64 else { return }
        order.removeFirst(start)
        start = 0
    }

    /// The keys with their events, in the order in which they came.
    var all: [(key: ChangeIdentity, sequence: UInt64)] { order[start...].map { ($0, sequences[$0] ?? 0) } }
}
