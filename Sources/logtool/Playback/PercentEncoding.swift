#if Recorders
/// Percent-encoding (RFC 3986, section 2.1).
enum PercentEncoding {
    /// Bytes with each `%XX` in the place of the byte it stands for; any other `%` stays.
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

    /// The same for a text; as it was where what it stands for is no UTF-8.
    static func removed(from text: String) -> String {
        String(validating: removed(from: Array(text.utf8)), as: UTF8.self) ?? text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
#endif
