extension JSONValue {
    /// The canonical text (RFC 8785): no white space, members sorted by UTF-16 code units, numbers as ECMAScript writes
    /// them.
    ///
    /// Departs from the RFC in two ways. A whole number written without fraction and exponent keeps all its digits,
    /// where the RFC would round it beyond 2^53, so that different ids never get the same text. A number too large for
    /// a `Double`, for which the RFC has no form, stays as written.
    public var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, members: .canonical)
        return bytes
    }

    /// The canonical text.
    public var canonicalText: String {
        String(decoding: canonicalBytes, as: UTF8.self)
    }

    /// The order in which the members of objects are written.
    package enum MemberOrder {
        /// By UTF-16 code units.
        case canonical
        /// The object's own order.
        case own
    }

    /// Appends the text, canonical except for the order of members.
    package func append(to bytes: inout [UInt8], members order: MemberOrder) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let truth): bytes.append(contentsOf: (truth ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.canonicalText.utf8)
        case .string(let text): Self.appendString(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes, members: order)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            let members =
                order == .own ? object.members : object.members.sorted { Self.precedes($0.name, $1.name) }
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendString(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes, members: order)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Whether one name sorts before another by UTF-16 code units. The order of UTF-8 bytes differs from that only if
    /// one text has a scalar beyond U+FFFF where the other has one from U+E000 on.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        for (here, there) in zip(left.utf8, right.utf8) where here != there {
            if here < 0xEE || there < 0xEE { return here < there }
            return left.utf16.lexicographicallyPrecedes(right.utf16)
        }
        return left.utf8.count < right.utf8.count
    }

    private static func appendString(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            for index in utf8.indices where utf8[index] < 0x20 || utf8[index] == 0x22 || utf8[index] == 0x5C {
                bytes.append(contentsOf: utf8[start..<index])
                appendEscape(of: utf8[index], to: &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20: bytes.append(contentsOf: "u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
        default: bytes.append(byte)
        }
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

    /// The text of a finite number other than 0.
    static func ecmaScript(_ value: Double) -> String {
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

    /// The shortest digits that read back as the value; the decimal point comes after the first `exponent` of them.
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
