/// Detects text on which libyaml's own scanner needs more than linear time (I23).
enum YAMLCost {
    /// The longest run of spaces, tabs and line breaks. libyaml keeps a run in a buffer and clears the whole buffer for
    /// each word of the scalar.
    static let blankRunMax = 1_024
    /// The most lines that begin with `%`. libyaml compares each directive with all earlier ones.
    static let directivesMax = 8

    /// Whether libyaml reads a text in linear time. Reads each byte once.
    static func isLinear(_ text: String.UTF8View) -> Bool {
        var run = 0
        var directives = 0
        var isLineStart = true
        // The two previous bytes, for line breaks of several bytes: U+0085, U+2028, U+2029.
        var before: (UInt8, UInt8) = (0, 0)
        for byte in text {
            let isBreak = byte == 0x0A || byte == 0x0D || isLongBreak(before, byte)
            let beginsBreak = byte == 0xC2 || byte == 0xE2 || (before.1 == 0xE2 && byte == 0x80)
            if byte == 0x25, isLineStart { directives += 1 }
            run = isBreak || beginsBreak || byte == 0x20 || byte == 0x09 ? run + 1 : 0
            isLineStart = isBreak || (isLineStart && (byte == 0xEF || byte == 0xBB || byte == 0xBF))
            before = (before.1, byte)
            guard run <= blankRunMax, directives <= directivesMax else { return false }
        }
        return true
    }

    private static func isLongBreak(_ before: (UInt8, UInt8), _ byte: UInt8) -> Bool {
        (before.1 == 0xC2 && byte == 0x85) || (before == (0xE2, 0x80) && (byte == 0xA8 || byte == 0xA9))
    }
}
