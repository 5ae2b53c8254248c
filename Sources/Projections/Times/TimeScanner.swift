import EventLog

/// Reads the pieces of a written time from left to right.
///
/// Works on bytes, because every form is ASCII. `date`, `clock`, `offset` and `comment` may have moved when they fail;
/// the other methods move only if they succeed.
package struct TimeScanner {
    private let bytes: [UInt8]
    private var index = 0

    package init(_ text: some StringProtocol) {
        bytes = Array(text.utf8)
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = Array(bytes)
    }

    /// Whether all bytes are taken. Every form must end there, or a longer text would pass for a time.
    package var isAtEnd: Bool { index == bytes.count }

    /// Takes one of the given ASCII characters; false if none of them is next.
    package mutating func take(_ characters: StaticString) -> Bool {
        guard index < bytes.count else { return false }
        for offset in 0..<characters.utf8CodeUnitCount where characters.utf8Start[offset] == bytes[index] {
            index += 1
            return true
        }
        return false
    }

    /// Takes an ASCII word in any case; false if it is not next.
    mutating func take(word: String) -> Bool {
        let wanted = Array(word.lowercased().utf8)
        guard index + wanted.count <= bytes.count else { return false }
        for (offset, byte) in wanted.enumerated() {
            let found = bytes[index + offset]
            guard found == byte || (0x41...0x5A).contains(found) && found | 0x20 == byte else { return false }
        }
        index += wanted.count
        return true
    }

    /// Takes spaces and tabs; false if there are none.
    package mutating func takeSpace() -> Bool {
        let start = index
        while take(" \t") {}
        return index > start
    }

    /// Takes a number of `least` to `most` digits; `nil` if there are fewer digits. Digits beyond `most` stay.
    package mutating func number(_ least: Int, _ most: Int) -> Int64? {
        var end = index
        var value: Int64 = 0
        while end < bytes.count, end - index < most, (0x30...0x39).contains(bytes[end]) {
            value = value * 10 + Int64(bytes[end] - 0x30)
            end += 1
        }
        guard end - index >= least else { return nil }
        index = end
        return value
    }

    /// Takes the digits of a fraction, possibly none, as nanoseconds; digits after the ninth are dropped.
    package mutating func nanoseconds() -> UInt32 {
        var value: UInt32 = 0
        var count = 0
        while let digit = number(1, 1) {
            if count < 9 { value = value * 10 + UInt32(digit) }
            count += 1
        }
        for _ in min(count, 9)..<9 { value *= 10 }
        return value
    }

    /// Takes a month's English short name: 1 … 12.
    mutating func monthName() -> Int64? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        return names.firstIndex { take(word: $0) }.map { Int64($0) + 1 }
    }

    /// Takes a weekday's English short name.
    mutating func weekday() -> Bool {
        ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].contains { take(word: $0) }
    }

    /// Takes `hh:mm:ss` and returns the seconds since midnight; second 60 is the next minute's first, whatever the
    /// minute: leap seconds are not looked up.
    ///
    /// If `loose`, hours may have one digit; if `secondsOptional`, the seconds may be missing.
    mutating func clock(loose: Bool = false, secondsOptional: Bool = false) -> Int64? {
        guard let hour = number(loose ? 1 : 2, 2), hour < 24, take(":"), let minute = number(2, 2), minute < 60 else {
            return nil
        }
        guard take(":") else { return secondsOptional ? hour * 3600 + minute * 60 : nil }
        guard let second = number(2, 2), second <= 60 else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// Takes `+hh`, `+hhmm` or `+hh:mm` (or the same with `-`) and returns the seconds east of UTC.
    mutating func offset(hourDigits: Int = 2) -> Int64? {
        let sign: Int64 = take("+") ? 1 : (take("-") ? -1 : 0)
        guard sign != 0, let hours = number(hourDigits, 2), hours < 24 else { return nil }
        let hasColon = take(":")
        let minutes = number(2, 2)
        if hasColon && minutes == nil { return nil }
        guard (minutes ?? 0) < 60 else { return nil }
        return sign * (hours * 3600 + (minutes ?? 0) * 60)
    }

    /// Takes all the rest if it is in parentheses; false otherwise. What is within them is not read.
    mutating func comment() -> Bool {
        guard take("("), bytes.last == UInt8(ascii: ")") else { return false }
        index = bytes.count
        return true
    }
}

extension Timestamp {
    /// The instant `clock` seconds after midnight of a day, in a zone `offset` seconds east of UTC. `clock` and
    /// `offset` may reach into the next or previous day.
    init(_ date: CivilDate, clock: Int64, offset: Int64, nanoseconds: UInt32 = 0) {
        self.init(seconds: date.daysSince1970 * 86_400 + clock - offset, nanoseconds: nanoseconds)
    }
}
