extension MessageFile {
    /// Splits a file as VibeChannel's iOS app does: at every `---`. `nil` for fewer than three pieces.
    init?(cutAtDashes text: String, rules: ReadingRules) {
        let pieces = text.cut(at: "---")
        guard pieces.count > 2 else { return nil }
        self.init(frontMatter: pieces[1], body: pieces[2...].joined(separator: "---"), rules: rules)
    }

    /// Splits a file as gray-matter 4.0.3 does. The first line begins with `---`, not `----`, and may continue with a
    /// language. The next line that begins with `---` closes; without one, all the rest is front matter.
    init?(openEnded text: String, rules: ReadingRules) {
        let start = text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        let rest = Substring(start)
        guard rest.utf8.starts(with: "---".utf8), !rest.utf8.starts(with: "----".utf8) else { return nil }
        let inner = Substring(rest.utf8.dropFirst(3))
        let lineEnd = inner.utf8.firstIndex(of: 0x0A) ?? inner.endIndex
        let lines = inner[lineEnd...]
        // `lines` begins with the line feed of the first line, so an empty front matter closes too.
        let close = lines.cut(at: "\n---").first?.endIndex ?? lines.endIndex
        // A line feed and three dashes. What follows them on the line belongs to the body, as gray-matter reads it.
        let body = Substring(lines[close...].utf8.dropFirst(4))
        self.init(frontMatter: Substring(lines[..<close].utf8.dropFirst()), body: body, rules: rules)
        language = String(inner[..<lineEnd].trimmed(of: \.isJavaScriptSpace))
    }
}
