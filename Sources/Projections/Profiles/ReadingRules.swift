/// The ways in which one reading departs from what the remotes meant; none for `canonical`.
public struct ReadingRules: Codable, Hashable, Sendable, ExpressibleByArrayLiteral {
    private var bits: UInt128 = 0

    /// Makes a set of rules.
    public init(arrayLiteral rules: ReadingRule...) {
        self.init(rules)
    }

    /// Makes a set of rules.
    public init(_ rules: some Sequence<ReadingRule>) {
        for rule in rules { bits |= Self.bit(of: rule) }
    }

    /// Whether there is no rule: the canonical reading.
    public var isEmpty: Bool { bits == 0 }

    /// Whether a rule is among them.
    public func contains(_ rule: ReadingRule) -> Bool { bits & Self.bit(of: rule) != 0 }

    /// The rules without one.
    public func removing(_ rule: ReadingRule) -> ReadingRules {
        var rules = self
        rules.bits &= ~Self.bit(of: rule)
        return rules
    }

    /// The rules of both.
    func union(_ other: ReadingRules) -> ReadingRules {
        var rules = self
        rules.formUnion(other)
        return rules
    }

    /// A short text that tells sets of rules apart, within one build of the program.
    var shortName: String { String(bits, radix: 16) }

    /// The rules of a short name; `nil` where the text is none.
    init?(shortName: String) {
        guard let bits = UInt128(shortName, radix: 16) else { return nil }
        self.bits = bits
    }

    mutating func formUnion(_ other: ReadingRules) { bits |= other.bits }

    /// Those that the events of a family are read by: a client knows nothing of other apps' events.
    func forEvents(of family: EventFamily) -> ReadingRules {
        if isEmpty { return self }
        var rules = self
        rules.bits &= Self.masks[family] ?? 0
        return rules
    }

    /// The rules that are about each family's events.
    private static let masks: [EventFamily: UInt128] = ReadingRule.allCases.reduce(into: [:]) { masks, rule in
        for family in rule.families { masks[family, default: 0] |= bit(of: rule) }
    }

    private static func bit(of rule: ReadingRule) -> UInt128 { 1 << UInt128(rule.rawValue) }
}
