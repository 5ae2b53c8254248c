import Projections

/// Reads a literal of JavaScript: objects, lists, texts, numbers, truth values, `null` and `undefined`.
///
/// Front matter can be code, which VibeChannel's extension runs. This reader runs nothing: names, calls and operators
/// are faults (`ScriptFault.code`).
///
/// A recursive descent over Unicode scalars. Nesting is bounded by `ScriptYAML.depthMax`; time is linear in the text.
struct ScriptLiteral {
    private let units: [Unicode.Scalar]
    private var place = 0
    /// How many values enclose the current one, itself included.
    private var depth = 0

    /// The value of a text that is one literal; comments before and after it, and semicolons after it, are allowed.
    static func value(of text: String) throws(ScriptFault) -> ScriptValue {
        var reader = ScriptLiteral(units: Array(text.unicodeScalars))
        let value = try reader.readValue()
        assert(reader.depth == 0, "every value that was entered was left")
        reader.skipSpace()
        while reader.take(";") { reader.skipSpace() }
        guard reader.place == reader.units.count else { throw .code }
        return value
    }

    private init(units: [Unicode.Scalar]) {
        self.units = units
    }

    /// The current scalar; U+0000 at the end.
    private var unit: Unicode.Scalar { place < units.count ? units[place] : "\0" }

    /// Takes a text; false, without moving, if another follows.
    private mutating func take(_ text: String) -> Bool {
        guard units[place...].starts(with: text.unicodeScalars) else { return false }
        place += text.unicodeScalars.count
        return true
    }

    /// Skips white space and comments. An unclosed comment ends with the text.
    private mutating func skipSpace() {
        while place < units.count {
            if unit.isJavaScriptSpace {
                place += 1
            } else if take("//") {
                while place < units.count, !Self.isLineEnd(unit) { place += 1 }
            } else if take("/*") {
                while place < units.count, !take("*/") { place += 1 }
            } else {
                return
            }
        }
    }

    private static func isLineEnd(_ unit: Unicode.Scalar) -> Bool {
        ["\n", "\r", "\u{2028}", "\u{2029}"].contains(unit)
    }
}

extension ScriptLiteral {
    /// Reads one value. Parentheses around a value change nothing.
    private mutating func readValue() throws(ScriptFault) -> ScriptValue {
        depth += 1
        defer { depth -= 1 }
        guard depth <= ScriptYAML.depthMax else { throw .tooDeep }
        skipSpace()
        switch unit {
        case "{": return .object(try readMembers())
        case "[": return .array(try readElements())
        case "(":
            place += 1
            let value = try readValue()
            skipSpace()
            guard take(")") else { throw .code }
            return value
        case "\"", "'", "`": return .string(try readText())
        case "-", "+":
            let isNegative = unit == "-"
            place += 1
            // A sign makes a number of any other value too; that is an operator, not a literal.
            guard case .number(let number) = try readValue() else { throw .code }
            return .number(isNegative ? -number : number)
        default: return try readWord()
        }
    }

    /// Reads an object. The last of equal names counts, and a comma may follow the last member.
    private mutating func readMembers() throws(ScriptFault) -> [ExactText: ScriptValue] {
        place += 1
        var members: [ExactText: ScriptValue] = [:]
        while true {
            skipSpace()
            if take("}") { return members }
            let name = try readName()
            skipSpace()
            guard take(":") else { throw .code }
            let value = try readValue()
            // `__proto__` sets the object's prototype; it is no member.
            if name != "__proto__" { members[ExactText(name)] = value }
            skipSpace()
            if !take(","), unit != "}" { throw .code }
        }
    }

    /// Reads a member's name: a text, a word or a whole number, which becomes the text that JavaScript prints.
    private mutating func readName() throws(ScriptFault) -> String {
        if unit == "\"" || unit == "'" { return try readText() }
        let word = readLetters()
        guard let first = word.unicodeScalars.first else { throw .code }
        guard ("0"..."9").contains(first) else { return word }
        guard let number = ScriptYAMLTypes.integer(word), word.allSatisfy(\.isNumber) else { throw .code }
        return ScriptNumber.text(number)
    }

    /// Reads a list. A comma may follow the last element and adds none.
    private mutating func readElements() throws(ScriptFault) -> [ScriptValue] {
        place += 1
        var elements: [ScriptValue] = []
        while true {
            skipSpace()
            if take("]") { return elements }
            // A comma without a value leaves a hole in the list, read as null.
            if take(",") {
                elements.append(.null)
                continue
            }
            elements.append(try readValue())
            skipSpace()
            if !take(","), unit != "]" { throw .code }
        }
    }

    /// Takes letters, digits, `$` and `_`; within a number also points, and signs of an exponent.
    private mutating func readLetters() -> String {
        let start = place
        let isNumber = ("0"..."9").contains(unit) || unit == "."
        while place < units.count {
            let isSign =
                isNumber && (unit == "-" || unit == "+") && place > start && ["e", "E"].contains(units[place - 1])
            guard
                unit.properties.isAlphabetic || ("0"..."9").contains(unit) || unit == "$" || unit == "_"
                    || isNumber && unit == "." || isSign
            else { break }
            place += 1
        }
        var word = ""
        word.unicodeScalars.append(contentsOf: units[start..<place])
        return word
    }

    /// Reads a word or a number. `undefined` counts as null: a member with either is false to JavaScript, so it is
    /// absent.
    private mutating func readWord() throws(ScriptFault) -> ScriptValue {
        let word = readLetters()
        switch word {
        case "null", "undefined": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "NaN": return .number(.nan)
        case "Infinity": return .number(.infinity)
        default:
            // JavaScript allows single underscores only, and spells octal numbers unlike YAML 1.1.
            guard !word.contains("__"), let number = Self.number(word) else { throw .code }
            return .number(number)
        }
    }

    /// The number that a word is, by the forms that JavaScript shares with YAML 1.1; `nil` for a name.
    private static func number(_ word: String) -> Double? {
        let lower = word.lowercased()
        if lower.hasPrefix("0o") { return ScriptYAMLTypes.integer("0" + lower.dropFirst(2)) }
        if lower.hasPrefix("0x") || lower.hasPrefix("0b") { return ScriptYAMLTypes.integer(lower) }
        return ScriptYAMLTypes.integer(word) ?? ScriptYAMLTypes.decimal(word)
    }
}

// MARK: - Texts

extension ScriptLiteral {
    /// Reads a text in any quotes; `unit` must be the opening one. A template with `${` is code.
    ///
    /// Collects UTF-16 code units, since two escapes can form one surrogate pair. An unpaired surrogate becomes U+FFFD.
    private mutating func readText() throws(ScriptFault) -> String {
        let quote = unit
        place += 1
        var text: [UInt16] = []
        while place < units.count {
            if unit == quote {
                place += 1
                return String(decoding: text, as: UTF16.self)
            }
            if quote == "`", unit == "$", place + 1 < units.count, units[place + 1] == "{" { throw .code }
            if quote != "`", unit == "\n" || unit == "\r" { throw .code }
            if unit == "\\" {
                place += 1
                text += try readEscape()
            } else {
                text += String(unit).utf16
                place += 1
            }
        }
        throw .code
    }

    /// Reads an escape behind its backslash (ECMA-262, 12.9.4). A backslash before a line break joins the lines. Octal
    /// escapes are faults.
    private mutating func readEscape() throws(ScriptFault) -> [UInt16] {
        let unit = unit
        place += 1
        switch unit {
        case "n": return [0x0A]
        case "t": return [0x09]
        case "r": return [0x0D]
        case "b": return [0x08]
        case "f": return [0x0C]
        case "v": return [0x0B]
        case "0" where !("0"..."9").contains(self.unit): return [0]
        case "0"..."9": throw .code
        case "\r":
            _ = take("\n")
            return []
        case "\n", "\u{2028}", "\u{2029}": return []
        case "x": return [UInt16(truncatingIfNeeded: try readHexadecimal(2))]
        case "u" where take("{"):
            let end = units[place...].firstIndex(of: "}") ?? units.count
            guard let scalar = Unicode.Scalar(try readHexadecimal(end - place)), take("}") else { throw .code }
            return Array(String(scalar).utf16)
        case "u": return [UInt16(truncatingIfNeeded: try readHexadecimal(4))]
        default: return Array(String(unit).utf16)
        }
    }

    /// Reads exactly `count` digits, at most 8, which fit 32 bits.
    private mutating func readHexadecimal(_ count: Int) throws(ScriptFault) -> UInt32 {
        guard (1...8).contains(count) else { throw .code }
        var value: UInt32 = 0
        for _ in 0..<count {
            guard unit.isASCII, let digit = ScriptYAML.hexadecimalValue(UInt8(unit.value)) else { throw .code }
            value = value << 4 | digit
            place += 1
        }
        return value
    }
}
