import Projections

/// A JavaScript value, of the kinds that a YAML or JSON reader produces.
///
/// Only here are numbers floating-point numbers. They leave as the text that JavaScript prints, or as whole
/// milliseconds (I10, `docs/decisions/0025-javascripts-numbers-leave-as-text.md`).
///
/// Aliases share their values, so a value can be far larger than its text, and nested deeper than a reader's bound.
indirect enum ScriptValue: Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    /// A `Date`, in milliseconds since 1970 (UTC), within a `Date`'s range.
    case date(Int64)
    case array([ScriptValue])
    /// Members without an order: nothing here prints more of an object than `[object Object]`.
    case object([ExactText: ScriptValue])
    /// A buffer of bytes, as its text.
    case buffer(String)
    /// A list or map that contains itself, seen from within. JavaScript prints such a list as an empty text.
    case cycle(isArray: Bool)

    /// The longest text of a value, in bytes: with aliases, short front matter can name far longer texts.
    static let textBytesMax = 1 << 20
}

extension ScriptValue {
    /// Whether the value counts as true in JavaScript.
    var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let truth): truth
        case .number(let number): number != 0 && !number.isNaN
        case .string(let text): !text.isEmpty
        case .date, .array, .object, .buffer, .cycle: true
        }
    }

    /// The result of `String(value)`.
    ///
    /// - Throws: `ScriptFault.tooLarge` if the text is longer than `textBytesMax`.
    func text() throws(ScriptFault) -> String {
        var text = ""
        try write(to: &text)
        return text
    }

    /// Appends the text and checks the limit after each part, so at most one part too much is written.
    private func write(to text: inout String) throws(ScriptFault) {
        switch self {
        case .null: text += "null"
        case .bool(let truth): text += truth ? "true" : "false"
        case .number(let number): text += ScriptNumber.text(number)
        case .string(let string), .buffer(let string): text += string
        case .date(let milliseconds): text += ScriptDate(milliseconds: milliseconds).text
        case .object: text += "[object Object]"
        case .cycle(let isArray): text += isArray ? "" : "[object Object]"
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                // `Array.prototype.join` writes nothing for null and undefined.
                if case .null = element { continue }
                try element.write(to: &text)
            }
        }
        guard text.utf8.count <= Self.textBytesMax else { throw .tooLarge }
    }

    /// The time value of `new Date(value)`, in milliseconds since 1970 (UTC); `nil` for an invalid date. A list or map
    /// is parsed as its text (ECMA-262, 21.4.2.1).
    func milliseconds() throws(ScriptFault) -> Int64? {
        switch self {
        case .null: 0
        case .bool(let truth): truth ? 1 : 0
        case .number(let number): ScriptNumber.whole(number).flatMap(ScriptDate.clipped)
        case .date(let milliseconds): milliseconds
        case .string, .array, .object, .buffer, .cycle: ScriptDateParser.milliseconds(of: try text())
        }
    }

    /// The value that `JSON.parse` gives.
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let truth): self = .bool(truth)
        case .number(let number): self = .number(Double(number.text) ?? .nan)
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements.map { ScriptValue($0) })
        case .object(let object):
            self = .object(
                object.members.reduce(into: [:]) { $0[ExactText($1.name)] = ScriptValue($1.value) }
            )
        }
    }
}

/// Why a text has no value.
enum ScriptFault: Error {
    case invalid, unknownTag, unknownLanguage, code, tooDeep, tooLarge

    /// A predicate that contains nothing of the text.
    var reason: String {
        switch self {
        case .invalid: "is no valid YAML or JSON with keys and values"
        case .code: "is code, which is never run"
        case .unknownLanguage: "is in a language that is not read"
        case .unknownTag: "has a tag that its reader does not know, or a value that the tag does not allow"
        case .tooDeep: "is nested too deeply"
        case .tooLarge: "unfolds to too much"
        }
    }
}
