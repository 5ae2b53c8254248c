/// Base 64 with padding (RFC 4648, section 4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Writes bytes as text.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var result: [UInt8] = []
        var group: UInt32 = 0
        var count = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            count += 1
            if count == 3 {
                append(group, digits: 4, to: &result)
                (group, count) = (0, 0)
            }
        }
        if count > 0 {
            append(group << UInt32(8 * (3 - count)), digits: count + 1, to: &result)
            result.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - count))
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Reads text with padding; `nil` where it is not what `encode` writes.
    static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var bits = 0
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            group = (group << 6 | UInt32(value)) & 0xFFFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
            }
        }
        return encode(bytes) == text ? bytes : nil
    }

    private static func append(_ group: UInt32, digits: Int, to result: inout [UInt8]) {
        for index in 0..<digits {
            result.append(alphabet[Int(group >> UInt32(18 - 6 * index) & 63)])
        }
    }
}
