extension JSONValue {
    /// The canonical text (RFC 8785): no white space, members sorted by UTF-16 code units, numbers as ECMAScript writes
    /// them.
    ///
    /// Departure from the RFC: a whole number written without fraction and exponent keeps all its digits beyond 2^53,
    /// where the RFC would round it; two different ids never become one text.
    public var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        appendCanonical(to: &bytes)
        return bytes
    }

    /// The canonical text.
    public var canonicalText: String {
        String(decoding: canonicalBytes, as: UTF8.self)
    }

    private func appendCanonical(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let truth): bytes.append(contentsOf: (truth ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.canonicalText.utf8)
        case .string(let text): Self.appendString(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            let members = object.members.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendString(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func appendString(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case 0x08: bytes.append(contentsOf: "\\b".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0C: bytes.append(contentsOf: "\\f".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0..<0x20: bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONNumber {
    /// The number as ECMAScript's Number::toString writes it (ECMA-262, 6.1.6.1.20), whole numbers in full.
    public var canonicalText: String {
        if text == "-0" { return "0" }
        if text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }) { return text }
        guard let value = Double(text), value.isFinite else { return text }
        return value == 0 ? "0" : Self.ecmaScript(value)
    }

    private static func ecmaScript(_ value: Double) -> String {
        let (digits, exponent) = shortest(value.magnitude)
        let sign = value < 0 ? "-" : ""
        let count = digits.count
        if count <= exponent && exponent <= 21 {
            return sign + digits + String(repeating: "0", count: exponent - count)
        }
        if 0 < exponent && exponent <= 21 {
            return sign + digits.prefix(exponent) + "." + digits.dropFirst(exponent)
        }
        if -6 < exponent && exponent <= 0 {
            return sign + "0." + String(repeating: "0", count: -exponent) + digits
        }
        let power = exponent - 1
        let mantissa = count == 1 ? digits : digits.prefix(1) + "." + digits.dropFirst(1)
        return "\(sign)\(mantissa)e\(power < 0 ? "-" : "+")\(abs(power))"
    }

    /// The shortest digits that read back as the value, and the place of the decimal point after the first `exponent`.
    private static func shortest(_ value: Double) -> (digits: String, exponent: Int) {
        let parts = value.description.split(separator: "e", maxSplits: 1)
        let halves = parts[0].split(separator: ".", maxSplits: 1)
        let whole = String(halves[0])
        let fraction = halves.count > 1 ? String(halves[1]) : ""
        var exponent = whole.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var digits = Substring(whole + fraction)
        while digits.hasPrefix("0") && digits.count > 1 {
            digits = digits.dropFirst()
            exponent -= 1
        }
        while digits.hasSuffix("0") && digits.count > 1 { digits = digits.dropLast() }
        return (String(digits), exponent)
    }
}
