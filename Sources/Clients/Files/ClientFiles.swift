import EventLog
import Projections

/// How VibeChannel's clients read message files: as the canonical reader does, but for their rules.
struct ClientFiles: MessageFileReader {
    let rules: ReadingRules
    private let canonical = CanonicalFiles()

    init(rules: ReadingRules) { self.rules = rules }

    func file(_ text: String) -> MessageFile? {
        if rules.contains(.fileIsCutAtDashes) { return cutAtDashes(text) }
        if rules.contains(.openFrontMatterIsWhole) { return openEnded(text) }
        guard let file = canonical.file(text) else { return nil }
        return MessageFile(frontMatter: file.frontMatter, content: trimmed(file.content))
    }

    func members(of file: MessageFile) throws(MessageFile.Fault) -> JSONObject {
        if rules.contains(.keysAreReadByLine) { return LineFrontMatter.members(of: file.frontMatter, rules: rules) }
        if rules.contains(.scalarsHaveTypes) { return try TypedFrontMatter.members(of: file) }
        return try canonical.members(of: file)
    }

    func instant(_ value: JSONValue) -> Timestamp? {
        if rules.contains(.datesAreOfAnyValue) { return ScriptDate.instant(of: value) }
        guard rules.contains(.datesAreISOAlone) else { return canonical.instant(value) }
        return value.string.flatMap(Self.upperCaseRFC3339)
    }

    func list(_ value: JSONValue) -> [JSONValue]? {
        rules.contains(.listsKeepEmptyParts) ? TypedFrontMatter.list(value) : canonical.list(value)
    }

    func parent(named name: String) -> String? {
        if rules.contains(.replyNamesAWholeFile), name.isEmpty { return nil }
        if rules.contains(.replyNamesAWholeFile), !name.hasSuffix(".md") {
            // No message file has such a name. An id contains no slash, so this one matches no message.
            return "./" + name
        }
        if rules.contains(.suffixIsCutEverywhere) { return name.isEmpty ? nil : name.cut(at: ".md").joined() }
        return canonical.parent(named: name)
    }

    func id(ofFile name: Substring) -> String {
        rules.contains(.suffixIsCutEverywhere) ? name.cut(at: ".md").joined() : canonical.id(ofFile: name)
    }

    /// `github_issue` is a key that the clients know, though no field of a message.
    func keeps(_ name: String) -> Bool { !rules.contains(.unknownKeysAreIgnored) || name == "github_issue" }

    /// Splits a file as VibeChannel's iOS app does: at every `---`. `nil` for fewer than three pieces.
    private func cutAtDashes(_ text: String) -> MessageFile? {
        let pieces = text.cut(at: "---")
        guard pieces.count > 2 else { return nil }
        return MessageFile(frontMatter: String(pieces[1]), content: trimmed(pieces[2...].joined(separator: "---")))
    }

    /// Splits a file as gray-matter 4.0.3 does. The first line begins with `---`, not `----`, and may continue with a
    /// language. The next line that begins with `---` closes; without one, all the rest is front matter.
    private func openEnded(_ text: String) -> MessageFile? {
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
        return MessageFile(
            frontMatter: String(Substring(lines[..<close].utf8.dropFirst())),
            content: trimmed(body),
            language: String(inner[..<lineEnd].trimmed(of: \.isJavaScriptSpace))
        )
    }

    /// The body without white space at its ends: the client's, or the canonical one.
    private func trimmed(_ text: some StringProtocol) -> String {
        if rules.contains(.bodyIsTrimmedBySwift) { return String(text.trimmed(of: \.isSwiftSpace)) }
        if rules.contains(.bodyIsTrimmedByJavaScript) { return String(text.trimmed(of: \.isJavaScriptSpace)) }
        return String(text.trimmed(of: { [0x20, 0x09, 0x0D, 0x0A].contains($0.value) }))
    }

    /// Reads RFC 3339 as Foundation's ISO 8601 formatter does: `T` and `Z` in upper case, and no leap second.
    ///
    /// Byte 17 is the first digit of the seconds: 6 begins the leap second 60.
    private static func upperCaseRFC3339(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count > 18, bytes[17] < UInt8(ascii: "6"), !bytes.contains(UInt8(ascii: "t")),
            !bytes.contains(UInt8(ascii: "z"))
        else { return nil }
        return Timestamp(rfc3339: text)
    }
}
