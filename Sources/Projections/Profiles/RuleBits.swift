/// A bit for each reading rule, by its raw value.
struct RuleBits: Hashable, Sendable, BitwiseCopyable {
    private var low: UInt128 = 0
    private var high: UInt128 = 0

    /// The hex digits of a set as a text.
    static let digitCount = 64

    init() {}

    init(_ rule: ReadingRule) {
        assert(rule.rawValue < 2 * UInt128.bitWidth, "a set has one bit for each of 256 rules")
        if rule.rawValue < UInt128.bitWidth {
            low = 1 << UInt128(rule.rawValue)
        } else {
            high = 1 << UInt128(rule.rawValue - UInt128.bitWidth)
        }
    }

    init(of rules: some Sequence<ReadingRule>) {
        for rule in rules { formUnion(RuleBits(rule)) }
    }

    var isEmpty: Bool { low | high == 0 }

    /// Whether all bits of another set are in this one.
    func contains(_ other: RuleBits) -> Bool { low & other.low == other.low && high & other.high == other.high }

    /// Whether some bit is in both sets.
    func intersects(_ other: RuleBits) -> Bool { low & other.low | high & other.high != 0 }

    mutating func formUnion(_ other: RuleBits) {
        low |= other.low
        high |= other.high
    }

    mutating func formIntersection(_ other: RuleBits) {
        low &= other.low
        high &= other.high
    }

    mutating func subtract(_ other: RuleBits) {
        low &= ~other.low
        high &= ~other.high
    }

    /// The bits as `digitCount` hex digits.
    var digits: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: Self.digitCount / 2 - digits.utf8.count) + digits
        }.joined()
    }

    /// The bits that `digits` gave; `nil` for any other text.
    init?(digits: String) {
        guard digits.utf8.count == Self.digitCount,
            let high = UInt128(digits.prefix(Self.digitCount / 2), radix: 16),
            let low = UInt128(digits.suffix(Self.digitCount / 2), radix: 16)
        else { return nil }
        (self.low, self.high) = (low, high)
    }
}
