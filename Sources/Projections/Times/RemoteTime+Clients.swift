import EventLog

extension RemoteTime {
    /// RFC 3339 as Foundation's ISO 8601 formatter takes it: upper-case `T` and `Z`, and no 60th second.
    static func upperCaseRFC3339(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count > 18, bytes[17] < UInt8(ascii: "6"), !bytes.contains(UInt8(ascii: "t")),
            !bytes.contains(UInt8(ascii: "z"))
        else { return nil }
        return Timestamp(rfc3339: text)
    }

    /// What JavaScript's `Date` makes of a value that js-yaml read; `nil` for what is false, or no date.
    ///
    /// Numbers and truth values count milliseconds. Beside all that `vibeChannelDate` reads, days that a month lacks
    /// belong to the next one, seconds may be missing, and `March 4, 2025` is a date. Without a zone it is UTC: the zone
    /// of the machine that read it is not in the log.
    static func javaScriptDate(_ value: JSONValue) -> Timestamp? {
        switch value {
        case .number(let number):
            number.wholeInt64.flatMap { $0 == 0 ? nil : Timestamp(milliseconds: $0) }
        case .bool(true): Timestamp(milliseconds: 1)
        case .string(let text): vibeChannelDate(text) ?? looseDate(text) ?? monthFirst(text)
        default: nil
        }
    }

    /// `2025-02-30T05:06:07Z` and `2025-03-04T05:06Z`, with or without a zone.
    private static func looseDate(_ text: String) -> Timestamp? {
        var scanner = TimeScanner(text)
        guard let year = scanner.number(4, 4), scanner.take("-"), let month = scanner.number(1, 2), scanner.take("-"),
            let day = scanner.number(1, 2), (1...31).contains(day),
            let first = CivilDate(year: year, month: month, day: 1)
        else { return nil }
        let date = CivilDate(daysSince1970: first.daysSince1970 + day - 1)
        if scanner.isAtEnd { return Timestamp(date, clock: 0, offset: 0) }
        guard scanner.take("Tt") || scanner.takeSpace(), let clock = scanner.clock(loose: true, secondsOptional: true)
        else { return nil }
        let nanoseconds = scanner.take(".") ? scanner.nanoseconds() : 0
        _ = scanner.takeSpace()
        guard let offset = scanner.isAtEnd || scanner.take("Zz") ? 0 : scanner.offset(hourDigits: 1), scanner.isAtEnd
        else { return nil }
        return Timestamp(date, clock: clock, offset: offset, nanoseconds: nanoseconds)
    }

    /// `March 4, 2025`, the month in full or by three letters.
    private static func monthFirst(_ text: String) -> Timestamp? {
        var scanner = TimeScanner(text)
        guard let month = scanner.monthName() else { return nil }
        while scanner.take("abcdefghijklmnopqrstuvwxyz") {}
        guard scanner.takeSpace(), let day = scanner.number(1, 2)
        else { return nil }
        _ = scanner.take(",")
        guard scanner.takeSpace(), let year = scanner.number(4, 4), scanner.isAtEnd,
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        return Timestamp(date, clock: 0, offset: 0)
    }
}
