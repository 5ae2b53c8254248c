import EventLog

/// The times of a HAR, in microseconds since 1970 UTC.
enum HARTime {
    /// The first instant of the year 10000; this and later times are refused.
    private static let secondsMax = 253_402_300_800.0

    /// From this number on, a message's `time` counts milliseconds: as seconds it lies beyond the year 5000, as
    /// milliseconds in 1973.
    private static let millisecondsMin = 100_000_000_000.0

    /// A message's `time`: seconds since 1970 as Chrome writes them, or milliseconds as Playwright does. `nil` for a
    /// negative one, which Playwright writes with `omitTiming`. For times of this century a `Double` is exact to less
    /// than a microsecond.
    static func microseconds(message time: Double?) throws(HARFault) -> Int64? {
        guard let time, time < secondsMax * 1000 else {
            throw HARFault("\"time\" is no number of seconds or milliseconds since 1970 within range")
        }
        guard time >= 0 else { return nil }
        return Int64((time * (time < millisecondsMin ? 1_000_000 : 1000)).rounded())
    }

    /// An entry's `time`: its duration in milliseconds. Programs that do not know it leave it out or write a negative
    /// number; both give 0.
    static func microseconds(elapsed: Double?) throws(HARFault) -> Int64 {
        guard let elapsed, elapsed > 0 else { return 0 }
        guard elapsed < secondsMax * 1000 else { throw HARFault("\"time\" is no number of milliseconds within range") }
        return Int64((elapsed * 1000).rounded())
    }

    /// A date and time of RFC 3339, or in one of the variants that programs write: a space before the time, a comma
    /// before the fraction, a zone without a colon or minutes.
    static func microseconds(date text: String) throws(HARFault) -> Int64 {
        guard let instant = Timestamp(rfc3339: normalized(text)) else {
            throw HARFault("\"startedDateTime\" is no date and time with a zone, such as 2026-02-01T10:00:00.131Z")
        }
        guard instant.seconds >= 0 else { throw HARFault("\"startedDateTime\" lies before 1970") }
        return instant.microseconds
    }

    /// The text in the form of RFC 3339. Only the first 64 bytes are looked at; no date is longer.
    private static func normalized(_ text: String) -> String {
        var bytes = Array(text.utf8.prefix(64))
        if bytes.count > 10, bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        for index in bytes.indices where bytes[index] == UInt8(ascii: ",") { bytes[index] = UInt8(ascii: ".") }
        let signs = [UInt8(ascii: "+"), UInt8(ascii: "-")]
        // A sign from byte 19 on, behind the seconds, begins a zone; the earlier ones belong to the date.
        if bytes.count > 19, let sign = bytes.lastIndex(where: { signs.contains($0) }), sign >= 19 {
            if bytes.count - sign == 3 { bytes += Array(":00".utf8) }
            if bytes.count - sign == 5 { bytes.insert(UInt8(ascii: ":"), at: sign + 3) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
