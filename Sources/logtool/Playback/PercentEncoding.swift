#if Recorders
/// Percent-encoding (RFC 3986, section 2.1).
enum PercentEncoding {
    /// Replaces each `%XX` by its byte; any other `%` stays.
    static func removed(from text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var place = 0
        while place < text.count {
            if text[place] == UInt8(ascii: "%"), place + 2 < text.count,
                let high = digit(text[place + 1]), let low = digit(text[place + 2])
            {
                bytes.append(high << 4 | low)
                place += 3
            } else {
                bytes.append(text[place])
                place += 1
            }
        }
        return bytes
    }

    /// Decodes a text; returns it unchanged if the result is not UTF-8.
    static func removed(from text: String) -> String {
        String(validating: removed(from: Array(text.utf8)), as: UTF8.self) ?? text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
#endif
