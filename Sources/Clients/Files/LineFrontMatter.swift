import Projections

/// Reads front matter as VibeChannel's iOS app does: line by line, without YAML. Never fails: a line without a colon is
/// passed over.
enum LineFrontMatter {
    /// The last value of each key, all of them texts; with the rule for lists, those of the list keys are arrays or
    /// absent.
    static func members(of text: String, rules: ReadingRules) -> JSONObject {
        let lines = text.unicodeScalars.split(whereSeparator: \.isSwiftNewline).map { Substring($0) }
        var members = JSONObject()
        for line in lines {
            guard let colon = line.utf8.firstIndex(of: 0x3A) else { continue }
            let name = String(line[..<colon].trimmed(of: \.isSwiftSpace))
            members[name] = .string(value(line[line.utf8.index(after: colon)...]))
        }
        guard rules.contains(.listsAreReadByLine) else { return members }
        members["tags"] = members["tags"]?.string.flatMap(tags)
        for name in ["files", "images", "attachments"] {
            members[name] = members[name]?.string.flatMap { list(name, text: $0, lines: lines) }
        }
        return members
    }

    /// The text after a colon, without quotes at its ends; the quotes need not match.
    private static func value(_ text: Substring) -> String {
        String(text.trimmed(of: \.isSwiftSpace).trimmed { $0 == "\"" || $0 == "'" })
    }

    /// The tags between commas, with or without brackets around them; `nil` if there are none.
    private static func tags(_ text: String) -> JSONValue? {
        list(parts(unbracketed(text) ?? text[...]))
    }

    /// The entries in brackets, else the whole text as one entry, else the lines `- …` directly below the key. `nil`
    /// without entries.
    private static func list(_ name: String, text: String, lines: [Substring]) -> JSONValue? {
        if let inner = unbracketed(text) { return list(parts(inner)) }
        guard text.isEmpty else { return .array([.string(text)]) }
        // Below the first line with the key, even if a later line gives the value.
        let below = lines.drop { key(of: $0) != name }.dropFirst().map { $0.trimmed(of: \.isSwiftSpace) }
        let items = below.prefix { $0.hasPrefix("- ") }.map { $0.dropFirst(2).trimmed(of: \.isSwiftSpace) }
        return list(items)
    }

    private static func key(of line: Substring) -> String? {
        line.utf8.firstIndex(of: 0x3A).map { String(line[..<$0].trimmed(of: \.isSwiftSpace)) }
    }

    private static func unbracketed(_ text: String) -> Substring? {
        text.hasPrefix("[") && text.hasSuffix("]") && text.utf8.count > 1 ? text.dropFirst().dropLast() : nil
    }

    private static func parts(_ text: Substring) -> [Substring] {
        text.cut(at: ",").map { $0.trimmed(of: \.isSwiftSpace) }
    }

    private static func list(_ parts: [Substring]) -> JSONValue? {
        let present = parts.filter { !$0.isEmpty }
        return present.isEmpty ? nil : .array(present.map { .string(String($0)) })
    }
}
