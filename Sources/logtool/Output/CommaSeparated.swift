/// Comma-separated values (RFC 4180) that a spreadsheet and a terminal can read safely.
enum CommaSeparated {
    /// One row with its line end.
    static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// One cell. Control characters but tab and line ends are written out as in other texts (`\u{1b}`): a table is also
    /// read in a terminal. JSON has them as they are.
    ///
    /// A spreadsheet takes a text that begins with one of these marks for a formula, so an apostrophe goes before it. A
    /// text that begins with an apostrophe gets one, too: removing the first apostrophe always gives the text back.
    static func cell(_ text: String) -> String {
        let isGuarded = text.unicodeScalars.first.map { formulaMarks.contains($0) } ?? false
        let shown = escaped(text)
        let safe = isGuarded ? "'" + shown : shown
        guard safe.utf8.contains(where: { quoted.contains($0) }) else { return safe }
        return "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// A carriage return without a line feed moves the cursor back over what was printed, so it is written out, too.
    private static func escaped(_ text: String) -> String {
        if DisplayText.isPlain(text) { return text }
        return text.split(separator: "\r\n" as Character, omittingEmptySubsequences: false).map { line in
            line.split(separator: "\n" as Character, omittingEmptySubsequences: false).map { part in
                part.split(separator: "\t" as Character, omittingEmptySubsequences: false)
                    .map { DisplayText.escaped(String($0)) }.joined(separator: "\t")
            }.joined(separator: "\n")
        }.joined(separator: "\r\n")
    }

    /// The last four are the full-width forms of the first four.
    private static let formulaMarks: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "'", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]
    /// RFC 4180 needs quotes around cells with double quotes, commas and line ends. Semicolons and tabs separate cells
    /// in some spreadsheets, and spaces at an end may be dropped.
    private static let quoted = Set("\",;\r\n\t ".utf8)
}
