/// Front matter as VibeChannel's VS Code extension reads it: gray-matter 4 with js-yaml 3 (YAML 1.1), the values then
/// taken as JavaScript takes them.
enum TypedFrontMatter {
    /// The members in the language that the first line names. Code is never run: no other language than JSON is read.
    static func members(of file: MessageFile) throws(FrontMatter.Fault) -> JSONObject {
        switch file.language {
        case "", "yaml", "yml": return try YAMLFrontMatter.members(of: file.frontMatter, isTyped: true)
        case "json":
            guard let object = (try? JSONValue.parse(Array(file.frontMatter.utf8)))?.object else {
                throw FrontMatter.Fault(reason: "its front matter is no JSON object")
            }
            return JSONObject(members: object.members.filter { !$0.value.isNull })
        default: throw FrontMatter.Fault(reason: "its front matter is in a language that is not read")
        }
    }

    /// A plain scalar that is no text: a truth value or a number of YAML 1.1 (<https://yaml.org/type/>), without those to
    /// the base of 60. `nil` for a text.
    static func value(ofPlain text: String) -> JSONValue? {
        switch text {
        case "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: return integer(text).map { .number($0) } ?? decimal(text).map { .number($0) }
        }
    }

    private static func integer(_ text: String) -> JSONNumber? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        guard let first = digits.utf8.first, (0x30...0x39).contains(first), digits.utf8.last != 0x5F else { return nil }
        let (radix, rest) = radix(of: digits)
        let plain = rest.filter { $0 != "_" }
        guard plain.utf8.first != UInt8(ascii: "+"), plain.utf8.first != UInt8(ascii: "-"),
            let value = UInt64(plain, radix: radix)
        else { return nil }
        return JSONNumber(unchecked: isNegative && value > 0 ? "-\(value)" : "\(value)")
    }

    private static func radix(of digits: Substring) -> (Int, Substring) {
        if digits.hasPrefix("0x") { return (16, digits.dropFirst(2)) }
        if digits.hasPrefix("0b") { return (2, digits.dropFirst(2)) }
        return digits.hasPrefix("0") && digits.utf8.count > 1 ? (8, digits.dropFirst()) : (10, digits)
    }

    /// A decimal number with a fraction or an exponent, in the spelling of JSON where it has one.
    private static func decimal(_ text: String) -> JSONNumber? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }),
            text.utf8.first != UInt8(ascii: "."), case .number(let number)? = try? JSONValue.parse(Array(text.utf8))
        else { return nil }
        return number
    }

    /// `from` as a text; `nil` for what is false to JavaScript.
    static func author(_ value: JSONValue) -> String? {
        switch value {
        case .null, .bool(false), .string(""): nil
        case .number(let number) where number.wholeInt64 == 0: nil
        default: text(value)
        }
    }

    /// A list, or a text cut at its commas, empty parts and all; `nil` for anything else.
    static func list(_ value: JSONValue) -> [JSONValue]? {
        switch value {
        case .array(let elements): elements.map { .string(text($0)) }
        case .string(let joined): joined.cut(at: ",").map { .string(String($0.trimmed(of: \.isJavaScriptSpace))) }
        default: nil
        }
    }

    /// What JavaScript's `String` makes of a value.
    static func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let elements): elements.map { $0.isNull ? "" : text($0) }.joined(separator: ",")
        case .object: "[object Object]"
        case .null, .bool, .number: value.canonicalText
        }
    }
}
