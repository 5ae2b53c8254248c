import Projections

/// The types of js-yaml's safe schema: the implicit types of plain scalars, and the conversions that tags demand.
///
/// Each follows its file in js-yaml's `lib/js-yaml/type`, also where that departs from YAML 1.1: `yes` is a text, and
/// `0o17` is one.
enum ScriptYAMLTypes {
    static let prefix = "tag:yaml.org,2002:"
    /// The tag of a plain `<<`, which `ScriptYAML.store` looks for in a key.
    static let mergeTag = prefix + "merge"
    /// The tag of a plain scalar whose type is not resolved yet.
    static let implicitTag = "?"

    /// The type and value of a plain scalar without a tag; `nil` for a text. The first type that accepts the text
    /// counts, in js-yaml's order.
    static func implicit(_ text: String) -> (tag: String, value: ScriptValue)? {
        if isNull(text) { return (prefix + "null", .null) }
        if let truth = truth(text) { return (prefix + "bool", .bool(truth)) }
        if let number = integer(text) { return (prefix + "int", .number(number)) }
        if let number = decimal(text) { return (prefix + "float", .number(number)) }
        if let date = timestamp(text) { return (prefix + "timestamp", .date(date)) }
        return text == "<<" ? (mergeTag, .string(text)) : nil
    }

    /// Converts a node to the type of its tag; throws if the type refuses the node's kind or content.
    ///
    /// A node without content has no kind: some types give an empty value for it, others refuse.
    static func explicit(
        _ tag: String,
        _ kind: ScriptYAML.Kind?,
        _ value: ScriptValue
    ) throws(ScriptFault) -> ScriptValue {
        guard tag.hasPrefix(prefix) else { throw .unknownTag }
        // js-yaml looks a tag up by the kind of its node, so `!!int` of a list is as unknown as a tag of another
        // schema.
        let name = String(tag.dropFirst(prefix.count))
        let made: ScriptValue? =
            switch kind {
            case nil: empty(name)
            case .scalar: if case .string(let text) = value { scalar(name, text) } else { typed(name, value) }
            case .sequence: if case .array(let elements) = value { sequence(name, elements) } else { nil }
            case .mapping: if case .object(let members) = value { mapping(name, members) } else { nil }
            }
        guard let made else { throw .unknownTag }
        return made
    }

    /// The value of a node without content; `nil` if the type refuses one.
    private static func empty(_ name: String) -> ScriptValue? {
        switch name {
        case "str": .string("")
        case "null", "merge": .null
        case "seq", "omap", "pairs": .array([])
        case "map", "set": .object([:])
        default: nil
        }
    }

    /// Converts the text of a scalar; `nil` if the type refuses it, or is none of a scalar.
    private static func scalar(_ name: String, _ text: String) -> ScriptValue? {
        switch name {
        case "str": .string(text)
        case "null": isNull(text) ? .null : nil
        case "bool": truth(text).map { .bool($0) }
        case "int": integer(text).map { .number($0) }
        case "float": decimal(text).map { .number($0) }
        case "timestamp": timestamp(text).map { .date($0) }
        case "merge": text == "<<" ? .string(text) : nil
        case "binary": binary(text).map { .buffer(String(decoding: $0, as: UTF8.self)) }
        default: nil
        }
    }

    /// Converts a scalar that already has its implicit type because it is on a line below its tag; few tags allow that.
    private static func typed(_ name: String, _ value: ScriptValue) -> ScriptValue? {
        if case .null = value { return ["str", "null", "merge"].contains(name) ? empty(name) : nil }
        return name == "str" ? value : nil
    }

    /// Converts a list. `omap` and `pairs` are lists of maps with one member each; the names of an `omap` must differ.
    /// `pairs` become lists of two.
    private static func sequence(_ name: String, _ elements: [ScriptValue]) -> ScriptValue? {
        if name == "seq" { return .array(elements) }
        guard name == "omap" || name == "pairs" else { return nil }
        var names: Set<ExactText> = []
        var pairs: [ScriptValue] = []
        for element in elements {
            guard case .object(let members) = element, members.count == 1, let member = members.first else {
                return nil
            }
            guard names.insert(member.key).inserted || name == "pairs" else { return nil }
            pairs.append(.array([.string(member.key.string), member.value]))
        }
        return .array(name == "omap" ? elements : pairs)
    }

    /// Converts a map. All values of a `set` must be null.
    private static func mapping(_ name: String, _ members: [ExactText: ScriptValue]) -> ScriptValue? {
        if name == "map" { return .object(members) }
        let areAllNull = members.values.allSatisfy { if case .null = $0 { true } else { false } }
        return name == "set" && areAllNull ? .object(members) : nil
    }

    private static func isNull(_ text: String) -> Bool { ["~", "null", "Null", "NULL"].contains(text) }

    private static func truth(_ text: String) -> Bool? {
        switch text {
        case "true", "True", "TRUE": true
        case "false", "False", "FALSE": false
        default: nil
        }
    }
}

// MARK: - Numbers

extension ScriptYAMLTypes {
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// A whole number: decimal, `0x…`, `0b…`, octal after a `0`, or in base 60; `nil` for any other text. Underscores
    /// count as nothing, except at the end.
    static func integer(_ text: String) -> Double? {
        let (isNegative, rest) = unsigned(text)
        guard let first = rest.first, isDigit(first) else { return nil }
        let value: Double?
        // `-0` is zero without a sign: js-yaml returns 0 here before it applies the sign.
        if rest == [0x30] {
            return 0
        } else if first == 0x30 {
            value = integerBehindZero(rest.dropFirst())
        } else if let colon = rest.firstIndex(of: 0x3A) {
            let isWhole = rest[..<colon].allSatisfy { isDigit($0) || $0 == 0x5F } && areSixties(rest[colon...])
            value = isWhole ? sexagesimal(rest) : nil
        } else {
            let isWhole = rest.allSatisfy { isDigit($0) || $0 == 0x5F } && rest.last != 0x5F
            value = isWhole ? ScriptNumber.integer(digits(rest), radix: 10) : nil
        }
        return value.map { isNegative ? -$0 : $0 }
    }

    /// A number in base 2, 8 or 16, without its sign and the zero that begins it.
    private static func integerBehindZero(_ rest: ArraySlice<UInt8>) -> Double? {
        let radix = rest.first == UInt8(ascii: "x") ? 16 : (rest.first == UInt8(ascii: "b") ? 2 : 8)
        let places = radix == 8 ? rest : rest.dropFirst()
        let plain = places.filter { $0 != 0x5F }
        guard !plain.isEmpty, places.last != 0x5F,
            plain.allSatisfy({ ScriptYAML.hexadecimalValue($0).map { $0 < radix } ?? false })
        else { return nil }
        return ScriptNumber.integer(String(decoding: plain, as: UTF8.self), radix: radix)
    }

    /// A decimal number, with or without an exponent; a number in base 60 with a point; infinity or NaN. `nil` for any
    /// other text.
    static func decimal(_ text: String) -> Double? {
        let (isNegative, rest) = unsigned(text)
        guard rest.last != 0x5F, !rest.isEmpty else { return nil }
        let value: Double?
        if rest.first == 0x2E {
            value = decimalBehindPoint(rest, isSigned: rest.count < text.utf8.count)
        } else if rest.contains(0x3A) {
            value = decimalToSixty(rest)
        } else {
            value = isDecimal(rest) ? ScriptNumber.decimal(number(rest)) : nil
        }
        return value.map { isNegative ? -$0 : $0 }
    }

    /// A number that begins with a point, infinity or NaN. js-yaml accepts a sign before infinity alone.
    private static func decimalBehindPoint(_ rest: ArraySlice<UInt8>, isSigned: Bool) -> Double? {
        let text = String(decoding: rest, as: UTF8.self)
        if [".inf", ".Inf", ".INF"].contains(text) { return .infinity }
        guard !isSigned else { return nil }
        if [".nan", ".NaN", ".NAN"].contains(text) { return .nan }
        let places = rest.dropFirst().prefix { isDigit($0) || $0 == 0x5F }
        guard !places.isEmpty, isExponent(rest.dropFirst(1 + places.count)) else { return nil }
        return ScriptNumber.decimal(number(rest))
    }

    /// A number in base 60 with a point, such as `190:20:30.15`.
    private static func decimalToSixty(_ rest: ArraySlice<UInt8>) -> Double? {
        guard let first = rest.first, isDigit(first), let point = rest.firstIndex(of: 0x2E),
            let colon = rest.firstIndex(of: 0x3A), colon < point,
            rest[..<colon].allSatisfy({ isDigit($0) || $0 == 0x5F }), areSixties(rest[colon..<point]),
            rest[(point + 1)...].allSatisfy({ isDigit($0) || $0 == 0x5F })
        else { return nil }
        return sexagesimal(rest)
    }

    /// Whether the text is `0` or digits without a leading zero, then an optional point with digits and an optional
    /// exponent.
    private static func isDecimal(_ rest: ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, isDigit(first) else { return false }
        var tail = first == 0x30 ? rest.dropFirst() : rest.drop { isDigit($0) || $0 == 0x5F }
        if tail.first == 0x2E { tail = tail.dropFirst().drop { isDigit($0) || $0 == 0x5F } }
        return isExponent(tail)
    }

    /// Whether the text is an exponent or empty.
    private static func isExponent(_ tail: ArraySlice<UInt8>) -> Bool {
        guard let mark = tail.first else { return true }
        guard mark | 0x20 == UInt8(ascii: "e") else { return false }
        var places = tail.dropFirst()
        if places.first == 0x2B || places.first == 0x2D { places = places.dropFirst() }
        return !places.isEmpty && places.allSatisfy(isDigit)
    }

    /// Splits off a sign.
    private static func unsigned(_ text: String) -> (isNegative: Bool, rest: ArraySlice<UInt8>) {
        let bytes = Array(text.utf8)[...]
        let isSigned = bytes.first == 0x2B || bytes.first == 0x2D
        return (bytes.first == 0x2D, isSigned ? bytes.dropFirst() : bytes)
    }

    /// Whether each part after a colon is a number below 60, of one or two digits.
    private static func areSixties(_ parts: ArraySlice<UInt8>) -> Bool {
        parts.dropFirst().split(separator: 0x3A, omittingEmptySubsequences: false).allSatisfy { part in
            guard let first = part.first, part.count <= 2, part.allSatisfy(isDigit) else { return false }
            return part.count == 1 || first <= 0x35
        }
    }

    /// The value of parts between colons, without the sign.
    private static func sexagesimal(_ rest: ArraySlice<UInt8>) -> Double {
        let parts = digits(rest).split(separator: ":")
        return ScriptNumber.sexagesimal(parts.map { ScriptNumber.decimal(number(Array($0.utf8)[...])) })
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.filter { $0 != 0x5F }, as: UTF8.self)
    }

    /// A number in a form that `Double` reads: without underscores, with digits on both sides of a point.
    private static func number(_ bytes: ArraySlice<UInt8>) -> String {
        let plain = digits(bytes).lowercased()
        let halves = plain.split(separator: "e", omittingEmptySubsequences: false)
        let mantissa = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        let whole = mantissa[0].isEmpty ? "0" : String(mantissa[0])
        let fraction = mantissa.count > 1 && !mantissa[1].isEmpty ? ".\(mantissa[1])" : ""
        return whole + fraction + (halves.count > 1 ? "e\(halves[1])" : "")
    }
}

// MARK: - Times and bytes

extension ScriptYAMLTypes {
    /// A time stamp of YAML 1.1, in milliseconds since 1970 (UTC). Parts out of range carry over, as in `Date.UTC`. A
    /// date alone needs two digits for month and day; with a time, one is enough.
    static func timestamp(_ text: String) -> Int64? {
        var scanner = TimeScanner(text)
        guard let year = scanner.number(4, 4), scanner.take("-"), let month = scanner.number(1, 2), scanner.take("-"),
            let day = scanner.number(1, 2)
        else { return nil }
        if scanner.isAtEnd {
            return text.utf8.count == 10 ? ScriptDate.utc(year: year, month: month, day: day) : nil
        }
        guard scanner.take("Tt") || scanner.takeSpace(), let hour = scanner.number(1, 2), scanner.take(":"),
            let minute = scanner.number(2, 2), scanner.take(":"), let second = scanner.number(2, 2)
        else { return nil }
        let fraction = scanner.take(".") ? Int64(scanner.nanoseconds() / 1_000_000) : 0
        guard let offset = offset(&scanner) else { return nil }
        let instant = ScriptDate.utc(
            year: year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second,
            millisecond: fraction
        )
        return instant.flatMap { ScriptDate.clipped($0 - offset * 60_000) }
    }

    /// Takes the zone at the end: minutes east of UTC; 0 without a zone; `nil` if something else is there.
    private static func offset(_ scanner: inout TimeScanner) -> Int64? {
        if scanner.isAtEnd { return 0 }
        _ = scanner.takeSpace()
        if scanner.take("Z") { return scanner.isAtEnd ? 0 : nil }
        let isWest = scanner.take("-")
        guard isWest || scanner.take("+"), let hours = scanner.number(1, 2) else { return nil }
        var minutes: Int64 = 0
        if scanner.take(":") {
            guard let number = scanner.number(2, 2) else { return nil }
            minutes = number
        }
        guard scanner.isAtEnd else { return nil }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }

    /// The bytes of a text in base 64, line breaks skipped. An empty text gives three zeros, as in js-yaml. `nil` if
    /// the bits of all places, padding included, make no whole bytes.
    private static func binary(_ text: String) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=".utf8)
        let places = text.utf8.filter { !ScriptYAML.isBreak($0) }
        guard places.count * 6 % 8 == 0, places.allSatisfy(alphabet.contains) else { return nil }
        let values = places.filter { $0 != UInt8(ascii: "=") }.map { UInt32(alphabet.firstIndex(of: $0) ?? 0) }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        for (index, value) in values.enumerated() {
            if index > 0, index % 4 == 0 { bytes += threeBytes(bits) }
            bits = bits << 6 | value
        }
        switch values.count % 4 {
        case 0: bytes += threeBytes(bits)
        case 3: bytes += [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)]
        case 2: bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        default: break
        }
        return bytes
    }

    /// The lower 24 bits, the highest byte first.
    private static func threeBytes(_ bits: UInt32) -> [UInt8] {
        [16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
    }
}
