import JSON

/// Restores UTF-8 text that was misread as Latin-1 or Windows-1252.
///
/// Browsers and proxies misread bodies without a `charset` in this way, even those of event streams, which are always
/// UTF-8.
enum MisreadText {
    /// The scalars of Windows-1252 for the bytes 0x80 to 0x9F; 0 if it has none.
    private static let windows: [UInt32] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    /// The bytes before they were misread; the text itself if it cannot have been misread.
    ///
    /// Text that was read correctly is hardly ever mistaken: a sign such as `¼` would have to follow each accented
    /// letter.
    static func restored(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { $0 >= 0x80 }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            // Neither code has this scalar, so the text was read as something else.
            guard let byte = byte(of: scalar) else { return text }
            bytes.append(byte)
        }
        let isText = bytes.withUnsafeBufferPointer { UTF8Sequence.firstFault(in: $0) == $0.count }
        return isText ? bytes : text
    }

    /// The byte that Latin-1 or Windows-1252 reads as the scalar; `nil` if neither does. The two differ only from 0x80
    /// to 0x9F, and there a scalar belongs to one of them alone.
    private static func byte(of scalar: Unicode.Scalar) -> UInt8? {
        if scalar.value < 0x100 { return UInt8(scalar.value) }
        return windows.firstIndex(of: scalar.value).map { UInt8(0x80 + $0) }
    }
}
