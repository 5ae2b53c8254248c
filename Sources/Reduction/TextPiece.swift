import EventLog

/// A piece of a text, for replacing texts piece by piece: equal pieces become equal pieces everywhere.
enum TextPiece: Hashable {
    /// A run of letters of any script.
    case word(String)
    /// A run of ASCII digits that is no date.
    case number(String)
    /// A UUID, or a hash: at least 16 hexadecimal digits, letters and digits among them.
    case hex(String)
    /// A calendar date, `2026-01-19` or `20260119`, with the time that follows it. `day` is counted from 1970-01-01.
    case date(day: Int, isCompact: Bool, rest: String)
    case other(String)

    /// The pieces of a text in order. Joined, they are the text.
    static func pieces(of text: String) -> [TextPiece] {
        let scalars = Array(text.unicodeScalars)
        var pieces: [TextPiece] = []
        var start = 0
        while start < scalars.count {
            let (piece, end) = next(in: scalars[start...])
            assert(end > start, "a piece has at least one character")
            pieces.append(piece)
            start = end
        }
        return pieces
    }

    /// The first piece and where it ends. Dates and ids are looked for first, because they begin like numbers and
    /// words.
    private static func next(in rest: ArraySlice<UnicodeScalar>) -> (TextPiece, Int) {
        if let date = date(in: rest) ?? hex(in: rest) { return date }
        guard let first = rest.first else { return (.other(""), rest.endIndex) }
        if first.isDigit {
            let run = rest.prefix { $0.isDigit }
            return (.number(text(run)), run.endIndex)
        }
        if first.properties.isAlphabetic {
            let run = rest.prefix { $0.properties.isAlphabetic }
            return (.word(text(run)), run.endIndex)
        }
        let run = rest.prefix { !$0.isDigit && !$0.properties.isAlphabetic }
        return (.other(text(run)), run.endIndex)
    }

    /// The date at the beginning, if any. The compact form needs a `T` behind it, because eight digits alone are more
    /// often a number.
    private static func date(in rest: ArraySlice<UnicodeScalar>) -> (TextPiece, Int)? {
        let long = Array(rest.prefix(10))
        var parts: [Int]?
        var length = 10
        if long.count == 10, long[4] == "-", long[7] == "-" {
            parts = [number(long[0..<4]), number(long[5..<7]), number(long[8..<10])].compactMap { $0 }
        } else if long.count >= 9, long[8] == "T" {
            parts = [number(long[0..<4]), number(long[4..<6]), number(long[6..<8])].compactMap { $0 }
            length = 8
        }
        guard let parts, parts.count == 3, let day = CalendarDay.number(parts[0], parts[1], parts[2]) else {
            return nil
        }
        let time = rest.dropFirst(length).prefix { $0.isDigit || "T:.Z+".unicodeScalars.contains($0) }
        return (.date(day: day, isCompact: length == 8, rest: text(time)), time.endIndex)
    }

    /// The UUID or hash at the beginning, if any. A letter behind it means that it is part of a word.
    private static func hex(in rest: ArraySlice<UnicodeScalar>) -> (TextPiece, Int)? {
        guard rest.first.map(\.isHexDigit) == true else { return nil }
        let groups = text(rest.prefix(36)).split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        let isUUID = groups == [8, 4, 4, 4, 12]
        let run = isUUID ? rest.prefix(36) : rest.prefix { $0.isHexDigit }
        guard isUUID || run.count >= 16, run.contains(where: { !$0.isDigit }), run.contains(where: \.isDigit),
            run.allSatisfy({ $0.isHexDigit || $0 == "-" })
        else { return nil }
        let isWhole = run.endIndex == rest.endIndex || !rest[run.endIndex].properties.isAlphabetic
        return isWhole ? (.hex(text(run)), run.endIndex) : nil
    }

    private static func number(_ scalars: ArraySlice<UnicodeScalar>) -> Int? {
        scalars.allSatisfy(\.isDigit) ? Int(text(scalars)) : nil
    }

    private static func text(_ scalars: ArraySlice<UnicodeScalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}

extension UnicodeScalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    fileprivate var isHexDigit: Bool { isDigit || ("a"..."f").contains(self) || ("A"..."F").contains(self) }
}

/// Days of the proleptic Gregorian calendar, counted from 1970-01-01, for years of four digits.
enum CalendarDay {
    /// The number of a day; `nil` if the calendar has no such day or the year has not four digits.
    static func number(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard (1000...9999).contains(year), (1...12).contains(month), day >= 1, day <= length(year, month) else {
            return nil
        }
        // Years that begin in March (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The year, month and day of a day number.
    static func parts(of number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        assert((0..<146_097).contains(dayOfEra), "an era has 146,097 days")
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Five months from March on have 153 days.
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    private static func length(_ year: Int, _ month: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}
