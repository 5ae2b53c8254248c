import EventLog
import Projections

/// A `Date` of JavaScript in UTC: the log does not contain the zone of the client's machine.
struct ScriptDate {
    /// Since 1970.
    let milliseconds: Int64

    /// The range of a `Date`, in days before and after 1970: ECMA-262, 21.4.1.1.
    private static let daysMax: Int64 = 100_000_000
    private static let dayMilliseconds: Int64 = 86_400_000

    /// The milliseconds themselves; `nil` if they are outside a `Date`'s range (ECMA-262's `TimeClip`).
    static func clipped(_ milliseconds: Int64) -> Int64? {
        milliseconds.magnitude <= UInt64(daysMax * dayMilliseconds) ? milliseconds : nil
    }

    /// The result of `Date.UTC` in milliseconds since 1970: parts out of range carry over, and a year from 0 to 99 is
    /// in the 1900s. Months count from 1. `nil` outside a `Date`'s range.
    static func utc(
        year: Int64,
        month: Int64,
        day: Int64,
        hour: Int64 = 0,
        minute: Int64 = 0,
        second: Int64 = 0,
        millisecond: Int64 = 0
    ) -> Int64? {
        let year = (0...99).contains(year) ? 1900 + year : year
        let clock = ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
        return instant(year: year, month: month, day: day, clock: clock)
    }

    /// The milliseconds since 1970 of a day and a time of day (`clock`, in milliseconds). Months and days count from 1;
    /// out of range they carry over.
    static func instant(year: Int64, month: Int64, day: Int64, clock: Int64) -> Int64? {
        // Far outside a `Date`'s range of about 270,000 years to either side, and small enough for the products below.
        guard year.magnitude < 400_000 else { return nil }
        let months = year * 12 + month - 1
        let civilYear = floorDivided(months, by: 12)
        guard let first = CivilDate(year: civilYear, month: months - civilYear * 12 + 1, day: 1) else { return nil }
        return clipped((first.daysSince1970 + day - 1) * dayMilliseconds + clock)
    }

    /// The result of `String(date)` on a machine whose zone is UTC (ECMA-262, 21.4.4.41).
    var text: String {
        let days = Self.floorDivided(milliseconds, by: Self.dayMilliseconds)
        let seconds = (milliseconds - days * Self.dayMilliseconds) / 1000
        let date = CivilDate(daysSince1970: days)
        // 1970-01-01 was a Thursday, place 3 of the weekdays.
        let weekday = Self.weekdays[Int(days + 3 - Self.floorDivided(days + 3, by: 7) * 7)]
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        let year = date.year < 0 ? "-" + Self.padded(-date.year, 6) : Self.padded(date.year, 4)
        let day = "\(weekday) \(Self.months[Int(date.month) - 1]) \(Self.padded(date.day, 2)) \(year)"
        return "\(day) \(clock) GMT+0000 (Coordinated Universal Time)"
    }

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Division towards the past; `/` rounds towards zero, which is wrong before 1970.
    private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : (value + 1) / divisor - 1
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension ScriptDate {
    /// The instant of a text, or of a whole number of milliseconds, as JavaScript's `Date` reads it; `nil` for anything
    /// else. A text without a zone is UTC: the log does not contain the zone of the client's machine.
    static func instant(of value: JSONValue) -> Timestamp? {
        switch value {
        case .number(let number): number.int64.flatMap { Timestamp(milliseconds: $0) }
        case .string(let text): ScriptDateParser.milliseconds(of: text).flatMap { Timestamp(milliseconds: $0) }
        default: nil
        }
    }
}
