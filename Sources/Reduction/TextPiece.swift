import EventLog

/// A piece of a text, for replacing texts piece by piece: equal pieces become equal pieces everywhere.
enum TextPiece: Hashable {
    /// A run of letters of any script.
    case word(String)
    /// A run of ASCII digits that is no date.
    case number(String)
    /// A UUID, a hash, or another id in which letters and digits alternate.
    case id(String)
    /// A calendar date, `2026-01-19` or `20260119`, with the time that follows it. `day` is counted from 1970-01-01.
    case date(day: Int, isCompact: Bool, rest: String)
    /// A date in words or with other signs: `19 Jan 2026`, `January 19, 2026`, `1/19/2026`, `19.01.2026`.
    case writtenDate(WrittenDate)
    case other(String)

    /// A piece and how it stands in the text: letters may be written as escapes.
    struct Part {
        let piece: TextPiece
        let written: String
    }

    /// The pieces of a text in order.
    static func pieces(of text: String) -> [TextPiece] { parts(of: text).map(\.piece) }

    /// The pieces of a text in order, each as it stands there. Joined, they are the text.
    ///
    /// Letters and digits in percent encoding or as `\uXXXX` are pieces as if they stood there themselves.
    static func parts(of text: String) -> [Part] {
        let scan = TextScan(text)
        var parts: [Part] = []
        var start = 0
        while start < scan.scalars.count {
            let (piece, end) = scan.next(at: start)
            assert(end > start, "a piece has at least one character")
            parts.append(Part(piece: piece, written: scan.written(piece, start..<end)))
            start = end
        }
        // A day of the week before a date stays what it is: dates move by whole weeks.
        for index in parts.indices.dropLast(2) {
            guard case .word(let word) = parts[index].piece, case .writtenDate = parts[index + 2].piece,
                WrittenDate.weekdays.contains(where: { $0 == word.lowercased() || $0.prefix(3) == word.lowercased() })
            else { continue }
            parts[index] = Part(piece: .other(parts[index].written), written: parts[index].written)
        }
        return parts
    }
}

/// A text as scalars, escapes decoded.
private struct TextScan {
    private(set) var scalars: [UnicodeScalar] = []
    /// What stands in the text in the place of a scalar, where that is an escape.
    private var escapes: [Int: String] = [:]

    init(_ text: String) {
        let raw = Array(text.unicodeScalars)
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") }) else {
            scalars = raw
            return
        }
        var start = 0
        while start < raw.count {
            if let end = takePercent(raw[start...]) ?? takeBackslash(raw[start...]) {
                start = end
            } else {
                scalars.append(raw[start])
                start += 1
            }
        }
    }

    /// Takes a run of `%XX` that is UTF-8; `nil` without one.
    private mutating func takePercent(_ rest: ArraySlice<UnicodeScalar>) -> Int? {
        var bytes: [UInt8] = []
        var end = rest.startIndex
        while end + 2 < rest.endIndex, rest[end] == "%", let byte = Self.hex(rest[(end + 1)...(end + 2)]) {
            bytes.append(UInt8(byte))
            end += 3
        }
        guard !bytes.isEmpty, let decoded = String(validating: bytes, as: UTF8.self) else { return nil }
        var start = rest.startIndex
        for scalar in decoded.unicodeScalars {
            let next = start + 3 * UTF8.width(scalar)
            escapes[scalars.count] = Self.text(rest[start..<next])
            scalars.append(scalar)
            start = next
        }
        return end
    }

    /// Takes `\uXXXX`, a pair of them, or a `\n`, which is no letter; `nil` without one.
    private mutating func takeBackslash(_ rest: ArraySlice<UnicodeScalar>) -> Int? {
        guard rest.count >= 2, rest.first == "\\" else { return nil }
        let start = rest.startIndex
        if "nrtbf".unicodeScalars.contains(rest[start + 1]) {
            escapes[scalars.count] = Self.text(rest[start..<(start + 2)])
            scalars.append("\\")
            return start + 2
        }
        guard let first = Self.unit(rest) else { return nil }
        if let scalar = UnicodeScalar(first) {
            escapes[scalars.count] = Self.text(rest[start..<(start + 6)])
            scalars.append(scalar)
            return start + 6
        }
        guard let second = Self.unit(rest[(start + 6)...]),
            let pair = String(validating: [UInt16(first), UInt16(second)], as: UTF16.self),
            let scalar = pair.unicodeScalars.first
        else { return nil }
        escapes[scalars.count] = Self.text(rest[start..<(start + 12)])
        scalars.append(scalar)
        return start + 12
    }

    /// The code unit of `\uXXXX` at the beginning.
    private static func unit(_ rest: ArraySlice<UnicodeScalar>) -> UInt32? {
        let start = rest.startIndex
        guard rest.count >= 6, rest[start] == "\\", rest[start + 1] == "u" else { return nil }
        return hex(rest[(start + 2)...(start + 5)])
    }

    private static func hex(_ digits: ArraySlice<UnicodeScalar>) -> UInt32? {
        digits.allSatisfy(\.isHexDigit) ? UInt32(text(digits), radix: 16) : nil
    }

    /// A piece as the text writes it, escapes included.
    func written(_ piece: TextPiece, _ range: Range<Int>) -> String {
        switch piece {
        case .other(let text): text
        case .word(let text) where escapes.isEmpty, .number(let text) where escapes.isEmpty,
            .id(let text) where escapes.isEmpty:
            text
        default: written(range)
        }
    }

    /// What stands in the text for some scalars.
    private func written(_ range: Range<Int>) -> String {
        guard !escapes.isEmpty else { return Self.text(scalars[range]) }
        return range.map { escapes[$0] ?? String(Character(scalars[$0])) }.joined()
    }

    // MARK: - Pieces

    /// The first piece and where it ends. Dates and ids are looked for first, because they begin like numbers and
    /// words.
    func next(at start: Int) -> (TextPiece, Int) {
        let rest = scalars[start...]
        guard let first = rest.first else { return (.other(""), rest.endIndex) }
        let isWordLike = first.isDigit || first.isLetter
        guard isWordLike else {
            let run = rest.prefix { !$0.isDigit && !$0.isLetter }
            return (.other(written(start..<run.endIndex)), run.endIndex)
        }
        if let found = date(at: start) ?? hash(in: rest) ?? writtenDate(at: start) ?? mixed(at: start) { return found }
        if first.isDigit {
            let run = rest.prefix { $0.isDigit }
            return (.number(Self.text(run)), run.endIndex)
        }
        let run = rest.prefix { $0.isLetter }
        return (.word(Self.text(run)), run.endIndex)
    }

    /// The date at a place, if any. The compact form needs a `T` behind it, because eight digits alone are more often a
    /// number.
    private func date(at start: Int) -> (TextPiece, Int)? {
        let rest = scalars[start...]
        guard rest.first?.isDigit == true else { return nil }
        let long = Array(rest.prefix(10))
        var parts: [Int]?
        var length = 10
        if long.count == 10, long[4] == "-", long[7] == "-" {
            parts = [Self.number(long[0..<4]), Self.number(long[5..<7]), Self.number(long[8..<10])].compactMap { $0 }
        } else if long.count >= 9, long[8] == "T" {
            parts = [Self.number(long[0..<4]), Self.number(long[4..<6]), Self.number(long[6..<8])].compactMap { $0 }
            length = 8
        }
        guard let parts, parts.count == 3, let day = CalendarDay.number(parts[0], parts[1], parts[2]) else {
            return nil
        }
        let time = rest.dropFirst(length).prefix { $0.isDigit || "T:.Z+".unicodeScalars.contains($0) }
        let place = (start + length)..<time.endIndex
        return (.date(day: day, isCompact: length == 8, rest: written(place)), time.endIndex)
    }

    /// A date in words or with other signs, if one begins here.
    private func writtenDate(at start: Int) -> (TextPiece, Int)? {
        if start > 0, scalars[start - 1].isASCIILetterOrDigit { return nil }
        // The first letters of months, before anything is copied.
        guard scalars[start].isDigit || "jfmasondJFMASOND".unicodeScalars.contains(scalars[start]) else { return nil }
        // The longest form: a month's name, a day, a year, and what is between them.
        let text = Self.text(scalars[start...].prefix(24))
        guard WrittenDate.canBegin(text) else { return nil }
        guard let (date, count) = WrittenDate.read(text) else { return nil }
        let end = start + count
        guard end == scalars.count || !scalars[end].isASCIILetterOrDigit else { return nil }
        return (.writtenDate(date), end)
    }

    /// The UUID, or the hash of at least 16 digits, at the beginning, if any. A letter behind it means that it is part
    /// of a word.
    private func hash(in rest: ArraySlice<UnicodeScalar>) -> (TextPiece, Int)? {
        // UUIDs begin with eight digits, hashes have more.
        let start = rest.prefix(8)
        guard start.count == 8, start.allSatisfy(\.isHexDigit) else { return nil }
        let groups = Self.text(rest.prefix(36)).split(separator: "-", omittingEmptySubsequences: false)
            .map(\.utf8.count)
        let isUUID = groups == [8, 4, 4, 4, 12]
        let run = isUUID ? rest.prefix(36) : rest.prefix { $0.isHexDigit }
        guard isUUID || run.count >= 16, run.contains(where: { !$0.isDigit }), run.contains(where: \.isDigit),
            run.allSatisfy({ $0.isHexDigit || $0 == "-" })
        else { return nil }
        let isWhole = run.endIndex == rest.endIndex || !rest[run.endIndex].isLetter
        return isWhole ? (.id(Self.text(run)), run.endIndex) : nil
    }

    /// The short id at a place, if any: ASCII letters and digits that alternate at least twice, or six hexadecimal
    /// digits and more. Its words have at most three letters: longer ones are replaced as words.
    private func mixed(at start: Int) -> (TextPiece, Int)? {
        if start > 0, scalars[start - 1].isASCIILetterOrDigit { return nil }
        let run = scalars[start...].prefix { $0.isASCIILetterOrDigit }
        guard run.count >= 4, run.endIndex == scalars.endIndex || !scalars[run.endIndex].isLetter else {
            return nil
        }
        var changes = 0
        var letters = 0
        var lettersMax = 0
        for (index, scalar) in zip(run.indices, run) {
            if index > run.startIndex, scalar.isDigit != run[index - 1].isDigit { changes += 1 }
            letters = scalar.isDigit ? 0 : letters + 1
            lettersMax = max(lettersMax, letters)
        }
        let isHash = changes > 0 && run.count >= 6 && run.allSatisfy(\.isHexDigit)
        guard isHash || changes >= 2 && lettersMax <= 3 else { return nil }
        return (.id(Self.text(run)), run.endIndex)
    }

    private static func number(_ scalars: ArraySlice<UnicodeScalar>) -> Int? {
        scalars.allSatisfy(\.isDigit) ? Int(text(scalars)) : nil
    }

    private static func text(_ scalars: ArraySlice<UnicodeScalar>) -> String {
        // Made of bytes: a string takes several times as long to take scalar by scalar.
        if scalars.allSatisfy(\.isASCII) {
            return String(unsafeUninitializedCapacity: scalars.count) { buffer in
                for (place, scalar) in zip(buffer.indices, scalars) {
                    buffer[place] = UInt8(truncatingIfNeeded: scalar.value)
                }
                return scalars.count
            }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * scalars.count)
        for scalar in scalars { bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UnicodeScalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
    fileprivate var isHexDigit: Bool { isDigit || ("a"..."f").contains(self) || ("A"..."F").contains(self) }
    fileprivate var isASCIILetterOrDigit: Bool { isDigit || isASCIILetter }
    private var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
    /// Whether it is alphabetic, without a look into tables where it is ASCII.
    fileprivate var isLetter: Bool { isASCII ? isASCIILetter : properties.isAlphabetic }
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
