import EventLog
import JSON

extension JSONScanner {
    /// At most so many objects enclose a value that is passed: the frame, its `d`, an object in `d`. Counting them refuses a
    /// value at the depth at which `JSONReader` would.
    private static let levelsAround = 3

    /// Passes one value of any form; false if `JSONReader` would refuse it at this depth.
    mutating func passValue() -> Bool { passValue(within: Self.levelsAround) }

    /// Reads a text such as `2026-01-19T08:30:00.25Z`, in UTC, of a year that `PackedTime` holds. Any other form of a time,
    /// such as one with an offset or a leap second, is `nil`.
    @inline(__always)
    mutating func time() -> PackedTime? {
        // The shortest form has 19 bytes before `Z` and the quote, so the fixed places below lie within the text.
        guard take(UInt8(ascii: "\"")), left >= 21 else { return nil }
        guard place[4] == UInt8(ascii: "-"), place[7] == UInt8(ascii: "-"), place[10] == UInt8(ascii: "T"),
            place[13] == UInt8(ascii: ":"), place[16] == UInt8(ascii: ":"), let century = pair(0), let year = pair(2),
            let month = pair(5), let day = pair(8), let hour = pair(11), let minute = pair(14),
            let second = pair(17), hour < 24, minute < 60, second < 60,
            PackedTime.years.contains(century * 100 + year),
            let date = CivilDate(year: century * 100 + year, month: month, day: day)
        else { return nil }
        pass(19)
        guard let nanoseconds = fraction(), current == UInt8(ascii: "Z"), self.second == UInt8(ascii: "\"") else {
            return nil
        }
        pass(2)
        let clock = hour * 3600 + minute * 60 + second
        return PackedTime(seconds: date.daysSince1970 * 86_400 + clock, nanoseconds: nanoseconds)
    }

    /// The number of two digits at an offset from `place`, which must have them.
    @inline(__always)
    private func pair(_ offset: Int) -> Int64? {
        let (tens, ones) = (place[offset] &- 0x30, place[offset + 1] &- 0x30)
        return tens < 10 && ones < 10 ? Int64(tens) * 10 + Int64(ones) : nil
    }

    /// Reads a point and 1 to 9 digits as nanoseconds; 0 without a point, `nil` for other counts of digits.
    @inline(__always)
    private mutating func fraction() -> Int64? {
        guard current == UInt8(ascii: ".") else { return 0 }
        pass()
        var value: Int64 = 0
        var unit: Int64 = 1_000_000_000
        while case let digit = current &- 0x30, digit < 10 {
            guard unit > 1 else { return nil }
            unit /= 10
            value += Int64(digit) * unit
            pass()
        }
        return unit < 1_000_000_000 ? value : nil
    }
}
