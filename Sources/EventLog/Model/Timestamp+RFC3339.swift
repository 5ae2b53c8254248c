extension Timestamp {
    /// Reads an RFC 3339 date and time (section 5.6), such as `2026-01-19T08:30:00.25+02:00`.
    ///
    /// Accepts lower-case `t` and `z` and any number of fraction digits; cuts off digits beyond the ninth. A leap
    /// second (`:60`) is the first instant of the next minute. `nil` for every other text.
    @inlinable
    public init?(rfc3339 text: some StringProtocol) {
        // Nearly all texts are contiguous; others are copied.
        let time =
            text.utf8.withContiguousStorageIfAvailable { Timestamp(rfc3339Bytes: UnsafeRawBufferPointer($0)) }
            ?? Array(text.utf8).withUnsafeBytes { Timestamp(rfc3339Bytes: $0) }
        guard let time else { return nil }
        self = time
    }

    /// Reads the bytes of such a text.
    @usableFromInline
    package init?(rfc3339Bytes bytes: UnsafeRawBufferPointer) {
        var reader = DigitReader(bytes)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), let date = CivilDate(year: year, month: month, day: day),
            reader.skip("T") || reader.skip("t"),
            let hour = reader.number(2), hour < 24, reader.skip(":"),
            let minute = reader.number(2), minute < 60, reader.skip(":"),
            let second = reader.number(2), second <= 60
        else { return nil }
        var nanoseconds: UInt32 = 0
        if reader.skip(".") {
            guard let fraction = reader.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = reader.offsetSeconds(), reader.isAtEnd else { return nil }
        let clock = hour * 3600 + minute * 60 + second
        self.init(seconds: date.daysSince1970 * 86_400 + clock - offset, nanoseconds: nanoseconds)
    }
}

/// Reads fixed-width numbers and separators from ASCII bytes, which must outlive it.
private struct DigitReader {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index == bytes.count }

    /// Takes an ASCII character if it comes next.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    /// Takes a number of exactly `width` digits.
    mutating func number(_ width: Int) -> Int64? {
        guard index + width <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[index..<index + width] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        index += width
        return value
    }

    /// Takes one or more digits as nanoseconds.
    mutating func fraction() -> UInt32? {
        var value: UInt32 = 0
        var digits = 0
        while index < bytes.count, (0x30...0x39).contains(bytes[index]) {
            if digits < 9 { value = value * 10 + UInt32(bytes[index] - 0x30) }
            digits += 1
            index += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 9)..<9 { value *= 10 }
        return value
    }

    /// Takes `Z` or an offset such as `+02:00`; seconds east of UTC.
    mutating func offsetSeconds() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : (skip("-") ? -1 : 0)
        guard sign != 0, let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60 else {
            return nil
        }
        return sign * (hours * 3600 + minutes * 60)
    }
}
