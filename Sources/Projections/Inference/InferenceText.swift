import JSON

/// How a decoder file writes what was guessed.
enum InferenceText {
    /// A JSON Pointer; `.` for no members.
    static func pointer(_ members: InferenceMembers) -> String {
        members.isEmpty
            ? "."
            : members.map { "/" + escaped($0) }.joined()
    }

    /// A part of a JSON Pointer.
    static func escaped(_ part: String) -> String { part.replacing("~", with: "~0").replacing("/", with: "~1") }

    /// A text of YAML that stands within braces: in quotes unless it is a plain word.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || "/_.$^~-".utf8.contains($0)
        }
        let isFirstPlain = text.utf8.first.map { !"-~".utf8.contains($0) } ?? false
        return isPlain && isFirstPlain ? text : quoted(text)
    }

    /// A text in quotes of YAML, whatever it holds.
    static func quoted(_ text: String) -> String {
        let isOneLine = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && $0.value < 0x80 }
        return isOneLine
            ? "'" + text.replacing("'", with: "''") + "'"
            : JSONValue.string(text).canonicalText
    }

    /// The condition that a value is written so.
    static func condition(_ condition: InferenceGroup.Test.Condition) -> String {
        switch condition {
        // In quotes only the text fits; a word is plain, but one of the reader's own words must not be taken for one.
        case .text(let text):
            ["present", "missing", "null", "true", "false"].contains(text) || Int64(text) != nil
                ? quoted(text) : word(text)
        case .number(let text): text
        case .present: "present"
        case .there: "{not: missing}"
        case .missing: "missing"
        case .null: "null"
        case .path(let pattern, _): "{pointer: \(quoted(pattern.text))}"
        }
    }

    /// A comment's text: one line, without what ends one.
    static func comment(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0.value > 0x7e ? "?" : Character($0) }.prefix(200))
    }
}
