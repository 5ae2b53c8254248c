package import EventLog
import Kinds

/// A set of reading rules: how one reading departs from what the remotes meant. Empty for `canonical`. One word of 128
/// bits, as each event and row looks into it, and the client that reads by them. `Clients` makes sets of rules.
public struct ReadingRules: Sendable {
    /// A bit for each rule, by its raw value. Raw values may differ between builds, so a saved set belongs to its
    /// build.
    private var bits: UInt128 = 0
    /// The client; `nil` for the canonical reading.
    let client: (any Client.Type)?

    /// The canonical reading.
    public static var canonical: ReadingRules { ReadingRules() }

    private init() { client = nil }

    /// Makes a set of rules by which a client reads.
    package init(_ rules: some Sequence<ReadingRule>, of client: (any Client.Type)?) {
        self.client = client
        for rule in rules { bits |= Self.bit(of: rule) }
    }

    /// Whether the set is empty, which is the canonical reading.
    public var isEmpty: Bool { bits == 0 }

    /// Whether the set contains a rule.
    public func contains(_ rule: ReadingRule) -> Bool { bits & Self.bit(of: rule) != 0 }

    /// The set without one rule.
    public func removing(_ rule: ReadingRule) -> ReadingRules {
        var rules = self
        rules.bits &= ~Self.bit(of: rule)
        return rules
    }

    /// A text of at most 32 hex digits that identifies the set within one build of the program. The keys of kept states
    /// contain it.
    var shortName: String { String(bits, radix: 16) }

    /// The set with a short name, leading zeros allowed; `nil` if the text is none.
    init?(shortName: String, of client: (any Client.Type)?) {
        guard let bits = UInt128(shortName, radix: 16) else { return nil }
        (self.bits, self.client) = (bits, client)
    }

    /// Whether plain frames of a gateway may take the short way (I18): canonically, and as clients read them that keep messages
    /// in the order of arrival and have no tombstones.
    var takesPlainFrames: Bool {
        let own = forEvents(of: .gateway)
        return own.isEmpty || own.bits & Self.arrivalMask == Self.arrivalMask
    }

    private static let arrivalMask = [
        ReadingRule.messagesStandAsTheyArrive, .laterVersionCounts, .deletedMessageComesBack,
    ].reduce(UInt128(0)) { $0 | bit(of: $1) }

    /// Adds the rules of another set.
    mutating func formUnion(_ other: ReadingRules) { bits |= other.bits }

    /// The rules that apply to events of a family: a client's rules do not change how other apps' events are read
    /// (I16).
    func forEvents(of family: EventFamily) -> ReadingRules {
        if isEmpty { return self }
        var rules = self
        rules.bits &= Self.masks[family] ?? 0
        return rules
    }

    /// The rules that can apply to a log with events of these kinds and no others. A replay by them gives the state of a replay
    /// by all.
    package func concerning(_ kinds: Set<EventKind>) -> ReadingRules {
        if isEmpty { return self }
        let families = Set(kinds.map { EventFamily(kind: $0) })
        var rules = self
        rules.bits = families.reduce(0) { $0 | forEvents(of: $1).bits }
        // About a gateway's frames it only says which connection is the first; the answers that it is about then are passed over.
        let answers: Set<EventFamily> = [.gatewayAnswer, .realtime, .items]
        return families.isDisjoint(with: answers) ? rules.removing(.laterAnswersAreNotRead) : rules
    }

    /// The bits of the rules about each family.
    private static let masks: [EventFamily: UInt128] = ReadingRule.allCases.reduce(into: [:]) { masks, rule in
        for family in rule.families { masks[family, default: 0] |= bit(of: rule) }
    }

    private static func bit(of rule: ReadingRule) -> UInt128 {
        assert(rule.rawValue < UInt128.bitWidth, "a set has one bit for each of 128 rules")
        return 1 << UInt128(rule.rawValue)
    }
}

extension ReadingRules: Hashable {
    /// Two sets are the same if they have the same rules.
    public static func == (left: ReadingRules, right: ReadingRules) -> Bool { left.bits == right.bits }

    /// Hashes the rules.
    public func hash(into hasher: inout Hasher) { hasher.combine(bits) }
}
