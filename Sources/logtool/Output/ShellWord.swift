/// Words of a command line that people copy into a shell.
enum ShellWord {
    /// A word as a POSIX shell reads it back: itself, or in single quotes. A single quote within is written as `'\''`,
    /// because nothing escapes it inside quotes.
    static func quoted(_ word: String) -> String {
        guard word.isEmpty || word.utf8.contains(where: { !isPlain($0) }) else { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Set("-_./@:,+=%".utf8).contains(byte)
        }
    }
}
