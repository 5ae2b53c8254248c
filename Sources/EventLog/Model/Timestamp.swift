/// An instant: whole seconds since 1970-01-01T00:00:00Z and nanoseconds within that second, UTC, without leap seconds.
///
/// Used for `recordedAt` (microsecond precision) and for the times that remotes state (nanoseconds at most). Two
/// timestamps compare as instants, whatever text or zone they came from.
public struct Timestamp: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Whole seconds since 1970, rounded towards the past.
    public let seconds: Int64
    /// Nanoseconds within the second, 0 ..< 1,000,000,000.
    public let nanoseconds: UInt32

    /// Makes an instant. Traps if `nanoseconds` is not below 1,000,000,000.
    public init(seconds: Int64, nanoseconds: UInt32 = 0) {
        precondition(nanoseconds < 1_000_000_000, "nanoseconds must lie within one second")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Makes an instant from microseconds since 1970, UTC.
    public init(microseconds: Int64) {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.seconds = remainder < 0 ? quotient - 1 : quotient
        self.nanoseconds = UInt32(remainder < 0 ? remainder + 1_000_000 : remainder) * 1000
        assert(nanoseconds < 1_000_000_000, "nanoseconds lie within one second")
    }

    /// Makes an instant from milliseconds since 1970, UTC; `nil` if its microseconds exceed 64 bits.
    public init?(milliseconds: Int64) {
        let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        if overflow { return nil }
        self.init(microseconds: microseconds)
    }

    /// Microseconds since 1970, UTC, rounded towards the past and clamped to 64 bits.
    public var microseconds: Int64 {
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = scaled.addingReportingOverflow(Int64(nanoseconds / 1000))
        return carry ? .max : sum
    }

    /// Orders by time, the earlier first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// The remainder of division towards the past, never negative.
    private static func floorRemainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC with six fraction digits, `2026-01-19T08:30:00.000000Z`; further digits are cut off.
    ///
    /// Years outside 0000 … 9999 have a sign and as many digits as they need.
    public var description: String {
        let secondOfDay = Self.floorRemainder(seconds, 86_400)
        // Not from `seconds - secondOfDay`, which overflows for the earliest instants.
        let day = CivilDate(daysSince1970: seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0))
        let clock = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60]
        let microseconds = Int64(nanoseconds / 1000)
        guard (0...9999).contains(day.year) else {
            let time = clock.map { Self.padded($0, 2) }.joined(separator: ":")
            return "\(day)T\(time).\(Self.padded(microseconds, 6))Z"
        }
        // Documents contain several times for each message, so the usual form is written without a text for each part.
        return String(unsafeUninitializedCapacity: 27) { text in
            var end = 0
            for (value, width, mark) in [
                (day.year, 4, "-"), (day.month, 2, "-"), (day.day, 2, "T"), (clock[0], 2, ":"), (clock[1], 2, ":"),
                (clock[2], 2, "."), (microseconds, 6, "Z"),
            ] as [(Int64, Int, Unicode.Scalar)] {
                var rest = value
                for place in (end..<end + width).reversed() {
                    text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                text[end + width] = UInt8(ascii: mark)
                end += width + 1
            }
            assert(end == 27, "a time of the usual form has 27 bytes")
            return end
        }
    }

    /// The decimal digits after as many zeros as `width` needs; a longer number stays whole.
    static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Hashable, Sendable, CustomStringConvertible {
    /// The astronomical year; 0 is 1 BC.
    package let year: Int64
    /// 1 … 12.
    package let month: Int64
    /// 1 … 31.
    package let day: Int64

    /// Makes a date; `nil` if the calendar has no such day.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), day >= 1, day <= Self.daysInMonth(year: year, month: month) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Makes the date that is the given number of days after 1970-01-01.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    package init(daysSince1970: Int64) {
        // 719,468 days lie between 0000-03-01 and 1970-01-01. An era is 400 years, or 146,097 days. Years begin with
        // March, so that a leap day is the last day of its year.
        let shifted = daysSince1970 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        assert((1...12).contains(month) && (1...31).contains(day), "each number of days is a day of the calendar")
    }

    /// Days after 1970-01-01, negative before it. Source: the same page, days_from_civil.
    package var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// `YYYY-MM-DD`; years outside 0000 … 9999 carry a sign.
    package var description: String {
        let yearText =
            (0...9999).contains(year)
            ? Timestamp.padded(year, 4) : (year < 0 ? "-" : "+") + Timestamp.padded(abs(year), 4)
        return "\(yearText)-\(Timestamp.padded(month, 2))-\(Timestamp.padded(day, 2))"
    }

    private static func daysInMonth(year: Int64, month: Int64) -> Int64 {
        switch month {
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }
}
