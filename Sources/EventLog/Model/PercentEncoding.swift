/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Replaces each byte for which `isKept` is false by `%XX`, with upper-case digits.
    package static func encoded(_ bytes: [UInt8], keeping isKept: (UInt8) -> Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Appends `%XX` for a byte, with upper-case digits.
    package static func append(_ byte: UInt8, to encoded: inout [UInt8]) {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(digit(byte >> 4))
        encoded.append(digit(byte & 15))
    }

    /// Replaces each `%XX` that stands for `least` or a greater byte by that byte; any other `%` stays.
    package static func decoded(_ bytes: [UInt8], from least: UInt8 = 0) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = value(of: rest.prefix(2)), value >= least {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    /// Whether a byte of 128 or more is encoded, as `append` writes it.
    package static func hasEncodedFault(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { place in
            guard bytes[place] == UInt8(ascii: "%") else { return false }
            let digits = bytes[(place + 1)...].prefix(2)
            return digits.allSatisfy { !(0x61...0x66).contains($0) } && (value(of: digits) ?? 0) >= 0x80
        }
    }

    /// Writes each `%` that `decoded(_:from:)` or `restoringSigns` would change as `%25`.
    package static func escapingSigns(_ bytes: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        for (place, byte) in bytes.enumerated() {
            escaped.append(byte)
            if byte == UInt8(ascii: "%"), startsSign(bytes[(place + 1)...]) { escaped += "25".utf8 }
        }
        return escaped
    }

    /// The bytes before `escapingSigns`.
    package static func restoringSigns(_ bytes: [UInt8]) -> [UInt8] {
        var (restored, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes[...])
        while let byte = rest.popFirst() {
            restored.append(byte)
            if byte == UInt8(ascii: "%"), rest.starts(with: "25".utf8), startsSign(rest) { rest = rest.dropFirst(2) }
        }
        return restored
    }

    /// Whether what follows a `%` is the digits of a byte of 128 or more, perhaps behind some `25`.
    private static func startsSign(_ rest: ArraySlice<UInt8>) -> Bool {
        var rest = rest
        while rest.starts(with: "25".utf8) { rest = rest.dropFirst(2) }
        return (value(of: rest.prefix(2)) ?? 0) >= 0x80
    }

    /// Decodes a text; returns it unchanged if the result is not UTF-8.
    package static func decoded(_ text: String) -> String {
        String(validating: decoded(Array(text.utf8)), as: UTF8.self) ?? text
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        assert(value < 16, "a digit stands for four bits")
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// The byte that two hexadecimal digits stand for; `nil` if they are something else.
    private static func value(of digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2 else { return nil }
        return digits.reduce(0) { high, digit in
            guard let high, let low = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            return high << 4 | UInt8(low)
        }
    }
}
