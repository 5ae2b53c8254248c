/// SplitMix64 (Steele, Lea and Flood 2014).
struct SplitMix {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    /// So many words, with spaces between them.
    mutating func words(_ range: ClosedRange<Int>) -> String {
        let known = ["tea", "cake", "größer", "日本", "release", "again", "whether", "it", "works", "for", "you", "🍰"]
        let count = range.lowerBound + below(range.count)
        return (0..<count).map { _ in known[below(known.count)] }.joined(separator: " ")
    }
}
