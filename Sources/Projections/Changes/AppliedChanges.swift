import EventLog

/// The changes of one thing that had an effect, in order of arrival. Finds repeats, and names the events that a compaction
/// keeps.
struct AppliedChanges: Codable, Sendable {
    private struct Change: Codable {
        /// Equal for repeats.
        let identity: ChangeIdentity
        let sequence: UInt64
    }

    /// The most changes that are compared with each new one; most rows have fewer.
    private static let comparedCountMax = 16

    private var changes: [Change] = []
    /// The identities of all changes once there are more than `comparedCountMax`; empty before.
    private var identities: Set<ChangeIdentity> = []

    init() {}

    var isEmpty: Bool { changes.isEmpty }

    /// The sequences of the events, in order of arrival.
    var sequences: [UInt64] { changes.map(\.sequence) }

    /// Whether a change with this identity had an effect. Cost: O(1).
    func contains(_ identity: ChangeIdentity) -> Bool {
        identities.isEmpty ? changes.contains { $0.identity == identity } : identities.contains(identity)
    }

    /// Adds a change that had an effect.
    mutating func append(_ identity: ChangeIdentity, at sequence: UInt64) {
        changes.append(Change(identity: identity, sequence: sequence))
        if changes.count <= Self.comparedCountMax { return }
        if identities.isEmpty { identities = Set(changes.map(\.identity)) } else { identities.insert(identity) }
    }

    /// Everything, for normal forms.
    func normalForm() -> JSONValue {
        .array(changes.map { .array([$0.identity.normalForm, .int($0.sequence)]) })
    }
}
