import EventLog

/// Reads the times that remotes write; each form accepts exactly what the remote's rules allow.
///
/// All results are instants in UTC. `nil` means that the text is no time in this form; the caller decides whether that
/// is a fault. Nothing here reads a locale or the machine's zone (I10).
enum RemoteTime {
    /// Reads a date of VibeChannel front matter; `nil` for any other text, and for days that no calendar has.
    ///
    /// The forms are: RFC 3339; a YAML 1.1 time stamp (a date alone is midnight UTC, a time without a zone is UTC;
    /// https://yaml.org/type/timestamp.html); the text of a JavaScript `Date` (ECMA-262, 21.4.4.41); RFC 2822 with a
    /// zone.
    static func vibeChannelDate(_ text: String) -> Timestamp? {
        Timestamp(rfc3339: text) ?? yaml(text) ?? javaScript(text) ?? rfc2822(text)
    }

    /// Reads a Postgres `timestamptz` of a row event, such as `2026-02-01T10:00:00.12+00:00`. Accepts `+00` and `Z` for
    /// the zone, and a space for the `T`. `infinity` and years of more than four digits are no times here.
    static func postgres(_ text: String) -> Timestamp? {
        var text = text
        return text.withUTF8 { postgres(UnsafeRawBufferPointer($0)) }
    }

    /// Reads the UTF-8 bytes of such a text.
    static func postgres(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
        // Nearly all are RFC 3339, too, whose lower-case letters are no form of Postgres.
        let hasLowerCase = bytes.count > 10 && bytes[10] == UInt8(ascii: "t") || bytes.last == UInt8(ascii: "z")
        if !hasLowerCase, let time = Timestamp(rfc3339Bytes: bytes) { return time }
        var scanner = TimeScanner(bytes)
        guard let date = scanner.date(loose: false), scanner.take("T "), let clock = scanner.clock() else { return nil }
        let nanoseconds = scanner.take(".") ? scanner.nanoseconds() : 0
        guard let offset = scanner.take("Z") ? 0 : scanner.offset(), scanner.isAtEnd else { return nil }
        return Timestamp(date, clock: clock, offset: offset, nanoseconds: nanoseconds)
    }

    /// Reads a status file's `timestamp`: exactly `YYYY-MM-DDThh:mm:ss` with `Z` or `±hh:mm`, a real date and time.
    static func statusFile(_ text: String) -> Timestamp? {
        var text = text
        let hasForm = text.withUTF8 { bytes in
            // The length excludes fractions, byte 17 the leap second 60; `Timestamp` checks the rest.
            guard bytes.count == 20 || bytes.count == 25, bytes[10] == UInt8(ascii: "T"),
                bytes[17] < UInt8(ascii: "6")
            else { return false }
            let zone = bytes[19]
            return bytes.count == 20
                ? zone == UInt8(ascii: "Z") : zone == UInt8(ascii: "+") || zone == UInt8(ascii: "-")
        }
        return hasForm ? Timestamp(rfc3339: text) : nil
    }

    /// Reads a YAML 1.1 time stamp. A date alone needs two digits for month and day; with a time, one is enough.
    private static func yaml(_ text: String) -> Timestamp? {
        var scanner = TimeScanner(text)
        guard let date = scanner.date(loose: true) else { return nil }
        if scanner.isAtEnd { return text.utf8.count == 10 ? Timestamp(date, clock: 0, offset: 0) : nil }
        guard scanner.take("Tt") || scanner.takeSpace(), let clock = scanner.clock(loose: true) else { return nil }
        let nanoseconds = scanner.take(".") ? scanner.nanoseconds() : 0
        _ = scanner.takeSpace()
        if scanner.isAtEnd { return Timestamp(date, clock: clock, offset: 0, nanoseconds: nanoseconds) }
        guard let offset = scanner.take("Zz") ? 0 : scanner.offset(hourDigits: 1), scanner.isAtEnd else { return nil }
        return Timestamp(date, clock: clock, offset: offset, nanoseconds: nanoseconds)
    }

    /// Reads `Sat Nov 29 2025 12:35:33 GMT-0500 (Eastern Standard Time)`; the zone's name is optional.
    private static func javaScript(_ text: String) -> Timestamp? {
        var scanner = TimeScanner(text)
        guard scanner.weekday(), scanner.takeSpace(), let month = scanner.monthName(), scanner.takeSpace(),
            let day = scanner.number(1, 2), scanner.takeSpace(), let year = scanner.number(4, 4),
            let date = CivilDate(year: year, month: month, day: day), scanner.takeSpace(),
            let clock = scanner.clock(), scanner.takeSpace(), scanner.take(word: "GMT"), let offset = scanner.offset()
        else { return nil }
        guard scanner.isAtEnd || scanner.takeSpace() && scanner.comment() else { return nil }
        return Timestamp(date, clock: clock, offset: offset)
    }

    /// Reads `Tue, 04 Mar 2025 05:06:07 GMT` (RFC 2822, 3.3; zone names of 4.3); weekday and seconds are optional.
    /// Whether the weekday fits the date is not checked.
    private static func rfc2822(_ text: String) -> Timestamp? {
        var scanner = TimeScanner(text)
        if scanner.weekday() {
            guard scanner.take(",") else { return nil }
            _ = scanner.takeSpace()
        }
        guard let day = scanner.number(1, 2), scanner.takeSpace(), let month = scanner.monthName(), scanner.takeSpace(),
            let year = scanner.number(4, 4), let date = CivilDate(year: year, month: month, day: day),
            scanner.takeSpace(), let clock = scanner.clock(secondsOptional: true), scanner.takeSpace(),
            let offset = zone(&scanner)
        else { return nil }
        guard scanner.isAtEnd || scanner.takeSpace() && scanner.comment() else { return nil }
        return Timestamp(date, clock: clock, offset: offset)
    }

    /// Takes a zone: an offset or a name. Seconds east of UTC.
    private static func zone(_ scanner: inout TimeScanner) -> Int64? {
        if let offset = scanner.offset() { return offset }
        // In hours east of UTC: the names of RFC 2822, 4.3, except the military letters, and `UTC`. The first that fits
        // counts, so `UTC` precedes `UT`.
        let names: [(String, Int64)] = [
            ("GMT", 0), ("UTC", 0), ("UT", 0), ("EST", -5), ("EDT", -4), ("CST", -6), ("CDT", -5), ("MST", -7),
            ("MDT", -6), ("PST", -8), ("PDT", -7),
        ]
        return names.first { scanner.take(word: $0.0) }.map { $0.1 * 3600 }
    }
}

extension TimeScanner {
    /// Takes `YYYY-MM-DD`; if `loose`, months and days may have one digit.
    mutating func date(loose: Bool) -> CivilDate? {
        let least = loose ? 1 : 2
        guard let year = number(4, 4), take("-"), let month = number(least, 2), take("-"), let day = number(least, 2)
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }
}
