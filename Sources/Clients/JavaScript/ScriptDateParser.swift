/// Reads a text as V8's `Date` does: first the format of ECMA-262, 21.4.1.32, then the rest piece by piece, in nearly
/// any order. A text without a zone is UTC.
///
/// The second part has no specification; it follows V8's source (`src/date/dateparser-inl.h`). A text that fails in the
/// first part goes on in the second with what was read so far, as there.
struct ScriptDateParser {
    private var tokens: ScriptDateTokens
    /// The numbers of the date, at most three, in the order of the text.
    private var day: [Int64] = []
    /// The month of an English name, from 1; `nil` without one.
    private var namedMonth: Int64?
    /// Whether the whole text is in the language's own format. Only then are years below 100 themselves, and the order
    /// year, month, day is certain.
    private var isFormatted = false
    /// Hour, minute, second and millisecond, as far as they were read.
    private var clock: [Int64] = []
    /// The hours that `am` or `pm` adds: 0 or 12; `nil` without either.
    private var half: Int64?
    /// The offset from UTC: 1 for east or -1 for west, hours and minutes. All `nil` without a zone; minutes `nil` after
    /// `+hh:`, until they come.
    private var zoneSign: Int64?
    private var zoneHour: Int64?
    private var zoneMinute: Int64?

    /// The milliseconds since 1970; `nil` if the text is no date.
    static func milliseconds(of text: String) -> Int64? {
        var parser = ScriptDateParser(tokens: ScriptDateTokens(text))
        guard let token = parser.readFormat(), parser.readRest(from: token) else { return nil }
        return parser.milliseconds
    }

    private init(tokens: ScriptDateTokens) {
        self.tokens = tokens
    }
}

// MARK: - The format of the language

extension ScriptDateParser {
    private typealias Token = ScriptDateTokens.Token

    /// Reads a date, or a date and a time, in the language's own format. Returns the first token after it, or `nil` if
    /// no other form can continue the text.
    private mutating func readFormat() -> Token? {
        if let sign = tokens.sign {
            let token = tokens.take()
            guard let year = tokens.number(ofLength: 6) else { return token }
            _ = tokens.take()
            // `-000000` is no year of the format.
            guard sign > 0 || year > 0 else { return token }
            day.append(sign * year)
        } else if let year = tokens.number(ofLength: 4) {
            _ = tokens.take()
            day.append(year)
        } else {
            return tokens.take()
        }
        for limit in [Int64(12), 31] {
            guard tokens.skip("-") else { break }
            guard let part = tokens.number(ofLength: 2), (1...limit).contains(part) else { return tokens.take() }
            _ = tokens.take()
            day.append(part)
        }
        if tokens.next == .timeSeparator {
            guard readFormattedTime() else { return nil }
        } else if tokens.next != .end {
            return tokens.take()
        }
        isFormatted = true
        return .end
    }

    /// Reads the time and zone behind a `T`; false if they are malformed, which makes the whole text no date.
    private mutating func readFormattedTime() -> Bool {
        _ = tokens.take()
        guard let hour = tokens.number(ofLength: 2), hour <= 24 else { return false }
        clock.append(hour)
        _ = tokens.take()
        guard tokens.skip(":"), let minute = part(of: hour) else { return false }
        clock.append(minute)
        if tokens.skip(":") {
            guard let second = part(of: hour) else { return false }
            clock.append(second)
            if tokens.skip(".") {
                guard let fraction = tokens.number, hour < 24 || fraction.value == 0 else { return false }
                clock.append(Self.milliseconds(fraction))
                _ = tokens.take()
            }
        }
        return readFormattedZone() && tokens.next == .end
    }

    /// Takes a minute or second; after hour 24 it must be 0.
    private mutating func part(of hour: Int64) -> Int64? {
        guard let part = tokens.number(ofLength: 2), part < 60, hour < 24 || part == 0 else { return nil }
        _ = tokens.take()
        return part
    }

    /// Reads `Z`, `±hhmm` or `±hh:mm`; nothing is a zone too.
    private mutating func readFormattedZone() -> Bool {
        if tokens.next == .zone(0, length: 1) {
            _ = tokens.take()
            setZone(0)
            return true
        }
        guard let sign = tokens.sign else { return true }
        _ = tokens.take()
        zoneSign = sign
        if let both = tokens.number(ofLength: 4) {
            _ = tokens.take()
            (zoneHour, zoneMinute) = (both / 100, both % 100)
            return both / 100 < 24 && both % 100 < 60
        }
        guard let hour = tokens.number(ofLength: 2), hour < 24 else { return false }
        _ = tokens.take()
        guard tokens.skip(":"), let minute = tokens.number(ofLength: 2), minute < 60 else { return false }
        _ = tokens.take()
        (zoneHour, zoneMinute) = (hour, minute)
        return true
    }

    /// Sets a named zone's offset, which has no minutes.
    private mutating func setZone(_ hours: Int64) {
        zoneSign = hours < 0 ? -1 : 1
        zoneHour = abs(hours)
        zoneMinute = 0
    }

    /// The milliseconds of a fraction: its first three digits.
    private static func milliseconds(_ fraction: (value: Int64, length: Int)) -> Int64 {
        var value = fraction.value
        var length = min(fraction.length, 9)
        while length < 3 { (value, length) = (value * 10, length + 1) }
        while length > 3 { (value, length) = (value / 10, length - 1) }
        return value
    }
}

// MARK: - Anything else

extension ScriptDateParser {
    /// Whether a zone of offset 0 was read. An offset may follow it, as in `GMT-0500`.
    private var isUTC: Bool { zoneHour == 0 && zoneMinute == 0 }

    /// Reads all tokens up to the end; false if one makes the text no date. A word that means nothing is passed over
    /// before the first number, unless a number follows it directly.
    private mutating func readRest(from first: Token) -> Bool {
        var hasNumber = !day.isEmpty
        var token = first
        while token != .end {
            switch token {
            case .number(let number, _):
                hasNumber = true
                guard read(number) else { return false }
            case .half(let hours) where !clock.isEmpty: half = hours
            case .month(let month):
                namedMonth = month
                _ = tokens.skip("-")
            case .zone(let hours, _) where hasNumber: setZone(hours)
            case .half, .zone, .timeSeparator, .word:
                if hasNumber || tokens.number != nil { return false }
            case .symbol(0x2B) where isUTC || !clock.isEmpty, .symbol(0x2D) where isUTC || !clock.isEmpty:
                hasNumber = true
                guard readOffset(token == .symbol(0x2B) ? 1 : -1) else { return false }
            case .symbol(0x2B), .symbol(0x2D), .symbol(0x29):
                if hasNumber { return false }
            case .symbol, .space, .other, .end: break
            }
            token = tokens.take()
        }
        return true
    }

    /// Places a number by the token after it: part of the time, minutes of an offset, or part of the date.
    private mutating func read(_ number: Int64) -> Bool {
        if tokens.skip(":") {
            if tokens.skip(":") {
                guard clock.isEmpty else { return false }
                clock = [number, 0]
                return true
            }
            guard add(number) else { return false }
            if tokens.isNext(".") { _ = tokens.take() }
            return true
        }
        if tokens.skip("."), isClockExpecting(number) {
            guard add(number), let fraction = tokens.number else { return false }
            _ = tokens.take()
            finishClock(Self.milliseconds(fraction))
            return true
        }
        if zoneHour != nil, zoneMinute == nil, number < 60 {
            zoneMinute = number
            return true
        }
        if isClockExpecting(number) {
            finishClock(number)
            switch tokens.next {
            case .end, .space, .zone(0, length: 1), .symbol(0x2B), .symbol(0x2D): return true
            default: return false
            }
        }
        guard day.count < 3 else { return false }
        day.append(number)
        _ = tokens.skip("-")
        return true
    }

    /// Whether a number can be the next part of a time that has begun.
    private func isClockExpecting(_ number: Int64) -> Bool {
        (clock.count == 1 || clock.count == 2) && number < 60 || clock.count == 3 && number < 1000
    }

    private mutating func add(_ number: Int64) -> Bool {
        guard clock.count < 4 else { return false }
        clock.append(number)
        return true
    }

    /// Adds the last part of the time; those that are missing are 0.
    private mutating func finishClock(_ number: Int64) {
        guard add(number) else { return }
        while clock.count < 4 { clock.append(0) }
    }

    /// Takes the offset from UTC after its sign.
    private mutating func readOffset(_ sign: Int64) -> Bool {
        zoneSign = sign
        let number = tokens.number
        if number != nil { _ = tokens.take() }
        let (value, length) = number ?? (0, 0)
        if tokens.isNext(":") {
            (zoneHour, zoneMinute) = (value, nil)
        } else if length == 1 || length == 2 {
            (zoneHour, zoneMinute) = (value, 0)
        } else if length == 3 || length == 4 {
            (zoneHour, zoneMinute) = (value / 100, value % 100)
        } else {
            return false
        }
        return true
    }
}

// MARK: - What was read

extension ScriptDateParser {
    /// The instant of all that was read; `nil` if a part is out of range.
    private var milliseconds: Int64? {
        guard let (year, month, day) = civilDay, let clock = timeOfDay, let offset = offsetSeconds else { return nil }
        return ScriptDate.instant(year: year, month: month, day: day, clock: clock - offset * 1000)
    }

    /// Year, month and day. Without a named month the order is month, day, year if the first number can be a day, else
    /// year, month, day.
    private var civilDay: (Int64, Int64, Int64)? {
        guard !day.isEmpty else { return nil }
        let parts = day + Array(repeating: 1, count: 3 - day.count)
        var date = (year: parts[0], month: parts[1], day: parts[2])
        if let namedMonth {
            let isYearFirst = !(1...31).contains(parts[0])
            date = (isYearFirst ? parts[0] : parts[1], namedMonth, isYearFirst ? parts[1] : parts[0])
        } else if !isFormatted, (1...31).contains(parts[0]) {
            date = (parts[2], parts[0], parts[1])
        }
        // V8's window for years of two digits: 1950 to 2049.
        if !isFormatted, (0...99).contains(date.year) { date.year += date.year < 50 ? 2000 : 1900 }
        return (1...12).contains(date.month) && (1...31).contains(date.day) ? date : nil
    }

    /// Milliseconds since midnight; `nil` if a part is out of range. 24:00 is the end of the day.
    private var timeOfDay: Int64? {
        var parts = clock + Array(repeating: 0, count: 4 - clock.count)
        if let half {
            guard (0...12).contains(parts[0]) else { return nil }
            parts[0] = parts[0] % 12 + half
        }
        let isInDay = parts[0] < 24 && parts[1] < 60 && parts[2] < 60 && parts[3] < 1000
        guard isInDay || parts == [24, 0, 0, 0] else { return nil }
        return ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3]
    }

    /// Seconds east of UTC, computed in 32 bits like V8's; `nil` on overflow.
    private var offsetSeconds: Int64? {
        guard let zoneSign else { return 0 }
        let seconds = UInt32(truncatingIfNeeded: (zoneHour ?? 0) * 3600 + (zoneMinute ?? 0) * 60)
        return seconds <= UInt32(Int32.max) ? zoneSign * Int64(seconds) : nil
    }
}
