extension MessageFile {
    /// VibeChannel's iOS app: the file is cut at every `---`; `nil` where that gives less than three pieces.
    init?(cutAtDashes text: String, rules: ReadingRules) {
        let pieces = text.cut(at: "---")
        guard pieces.count > 2 else { return nil }
        self.init(frontMatter: pieces[1], body: pieces[2...].joined(separator: "---"), rules: rules)
    }

    /// gray-matter 4.0.3: the first line begins with `---`, but not with `----`, and may go on with a language; the
    /// first line after it that begins with `---` closes; where none does, all the rest is front matter.
    init?(openEnded text: String, rules: ReadingRules) {
        let start = text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        let rest = Substring(start)
        guard rest.utf8.starts(with: "---".utf8), !rest.utf8.starts(with: "----".utf8) else { return nil }
        let inner = Substring(rest.utf8.dropFirst(3))
        let lineEnd = inner.utf8.firstIndex(of: 0x0A) ?? inner.endIndex
        let lines = inner[lineEnd...]
        let close = lines.cut(at: "\n---").first?.endIndex ?? lines.endIndex
        let body = Substring(lines[close...].utf8.dropFirst(4))
        self.init(frontMatter: Substring(lines[..<close].utf8.dropFirst()), body: body, rules: rules)
        language = String(inner[..<lineEnd].trimmed(of: \.isJavaScriptSpace))
    }
}
