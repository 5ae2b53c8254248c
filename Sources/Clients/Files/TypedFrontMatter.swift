import Projections

/// Reads front matter as VibeChannel's VS Code extension does: gray-matter 4.0.3 with js-yaml 3.14.2 (YAML 1.1), then
/// JavaScript's conversions of the values.
enum TypedFrontMatter {
    /// The members, in the language that the first line names, sorted by name in byte order.
    ///
    /// Falsy values are absent; dates and lists keep their form; every other value becomes text. Code is never run: of
    /// JavaScript only literals are read.
    static func members(of file: MessageFile) throws(MessageFile.Fault) -> JSONObject {
        do throws(ScriptFault) {
            guard case .object(let members) = try value(of: file) else { throw .invalid }
            var seen = JSONObject()
            // The limit is for all members together: each may be an alias of one long text.
            var left = ScriptValue.textBytesMax
            for (name, value) in members where value.isTruthy {
                seen[name.string] = try member(name.string, value, &left)
            }
            var sorted = JSONObject()
            for member in seen.members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                sorted[member.name] = member.value
            }
            return sorted
        } catch {
            throw MessageFile.Fault(reason: "its front matter \(error.reason)")
        }
    }

    /// The value of the front matter. Only the name `json` must be lower case; other languages match in any case.
    private static func value(of file: MessageFile) throws(ScriptFault) -> ScriptValue {
        switch file.language {
        case "json":
            // As strict as `JSON.parse`, and the last of repeated names counts, as there.
            guard let value = try? JSONValue.parse(Array(file.frontMatter.utf8)) else { throw .invalid }
            return ScriptValue(value)
        case "": return try ScriptYAML.value(of: file.frontMatter)
        case let name:
            switch name.lowercased() {
            case "yaml", "yml": return try ScriptYAML.value(of: file.frontMatter)
            case "js", "javascript": return try ScriptLiteral.value(of: file.frontMatter)
            default: throw .unknownLanguage
            }
        }
    }

    /// - Parameter left: how many bytes of text may still be produced.
    private static func member(
        _ name: String,
        _ value: ScriptValue,
        _ left: inout Int
    ) throws(ScriptFault) -> JSONValue? {
        switch name {
        case "date", "edited": try instant(value, &left)
        case "tags", "files", "images", "attachments": try list(value, &left)
        default: .string(try text(value, &left))
        }
    }

    /// The value's text in JavaScript, counted against the limit.
    private static func text(_ value: ScriptValue, _ left: inout Int) throws(ScriptFault) -> String {
        let text = try value.text()
        left -= text.utf8.count
        guard left >= 0 else { throw .tooLarge }
        return text
    }

    /// Milliseconds for a truth value, number or date; else the text that `Date` would parse.
    private static func instant(_ value: ScriptValue, _ left: inout Int) throws(ScriptFault) -> JSONValue {
        switch value {
        case .bool, .number, .date:
            // An invalid date goes on as its text, which is no date either.
            if let milliseconds = try value.milliseconds() { return .int(milliseconds) }
        case .null, .string, .array, .object, .buffer, .cycle: break
        }
        return .string(try text(value, &left))
    }

    /// A list of texts, or a text that is still to be split at its commas; `nil` for anything else.
    private static func list(_ value: ScriptValue, _ left: inout Int) throws(ScriptFault) -> JSONValue? {
        switch value {
        case .string: return .string(try text(value, &left))
        case .cycle(isArray: true): return .array([])
        case .array(let elements):
            var texts: [JSONValue] = []
            for element in elements { texts.append(.string(try text(element, &left))) }
            return .array(texts)
        case .null, .bool, .number, .date, .object, .buffer, .cycle: return nil
        }
    }

    /// The elements of a list, or the parts of a text between commas; empty parts are kept.
    static func list(_ value: JSONValue) -> [JSONValue]? {
        switch value {
        case .array(let elements): elements
        case .string(let joined): joined.cut(at: ",").map { .string(String($0.trimmed(of: \.isJavaScriptSpace))) }
        default: nil
        }
    }
}
