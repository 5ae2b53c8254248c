/// Detects text on which libyaml's own scanner needs more than linear time (I23). `YAMLEvents` counts what libyaml's
/// events show; these two costs arise before libyaml makes an event.
enum YAMLCost {
    /// The longest run of spaces, tabs and line breaks, in bytes. libyaml keeps a run in a buffer and clears the whole
    /// buffer for each word of the scalar.
    static let blankRunMax = 1_024
    /// The most lines that begin with `%`. libyaml compares each directive with all earlier ones.
    static let directivesMax = 8

    /// Whether libyaml reads a text in linear time. Reads each byte once. Knows nothing of quotes and blocks, so it may
    /// refuse a harmless text.
    static func isLinear(_ text: String.UTF8View) -> Bool {
        var run = 0
        var directives = 0
        var isLineStart = true
        // The two previous bytes, for line breaks of several bytes: U+0085, U+2028, U+2029.
        var before: (UInt8, UInt8) = (0, 0)
        for byte in text {
            let isBreak = byte == 0x0A || byte == 0x0D || isLongBreak(before, byte)
            // The first bytes of a long break count too, before it is known whether one follows. Otherwise they would
            // end the run.
            let beginsBreak = byte == 0xC2 || byte == 0xE2 || (before.1 == 0xE2 && byte == 0x80)
            if byte == 0x25, isLineStart { directives += 1 }
            run = isBreak || beginsBreak || byte == 0x20 || byte == 0x09 ? run + 1 : 0
            // The bytes of a byte order mark do not end the start of the line: libyaml skips one.
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
