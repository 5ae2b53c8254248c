/// The tokens of V8's date parser (`src/date/dateparser.h`), scanned one ahead.
struct ScriptDateTokens {
    enum Token: Equatable {
        case end
        case number(Int64, length: Int)
        /// One of `:`, `-`, `+`, `.`, `)`.
        case symbol(UInt16)
        case month(Int64)
        /// A time zone's name, as hours east of UTC, and the length of the name: only the one letter `Z` ends the
        /// language's own format.
        case zone(Int64, length: Int)
        /// `am` or `pm`, as hours to add.
        case half(Int64)
        /// The letter `T`.
        case timeSeparator
        case word
        case space
        case other
    }

    private let units: [UInt16]
    private var place = 0
    /// The next token.
    private(set) var next = Token.end

    /// Further digits of a number are passed over and do not count in its value, though in its length.
    private static let digitsMax = 9

    init(_ text: String) {
        units = Array(text.utf16)
        next = scanned()
    }

    /// Returns the next token and moves past it.
    mutating func take() -> Token {
        defer { next = scanned() }
        return next
    }

    /// Moves past a symbol; false, without moving, if another token is next.
    mutating func skip(_ symbol: Unicode.Scalar) -> Bool {
        guard isNext(symbol) else { return false }
        next = scanned()
        return true
    }

    func isNext(_ symbol: Unicode.Scalar) -> Bool { next == .symbol(UInt16(truncatingIfNeeded: symbol.value)) }

    /// The next token as a sign: 1 or -1; `nil` for any other token.
    var sign: Int64? { isNext("+") ? 1 : (isNext("-") ? -1 : nil) }

    /// The next token as a number and the count of its digits.
    var number: (value: Int64, length: Int)? {
        if case .number(let value, let length) = next { (value, length) } else { nil }
    }

    /// The next token as a number of exactly `length` digits.
    func number(ofLength length: Int) -> Int64? { number.flatMap { $0.length == length ? $0.value : nil } }

    /// The current code unit; 0 at the end. A NUL in the text ends it too, as in V8.
    private var unit: UInt16 { place < units.count ? units[place] : 0 }

    private mutating func scanned() -> Token {
        switch unit {
        case 0: return .end
        case 0x30...0x39: return scannedNumber()
        case 0x3A, 0x2D, 0x2B, 0x2E, 0x29:
            defer { place += 1 }
            return .symbol(unit)
        // Everything from `A` on, brackets and letters of all scripts included, makes words.
        case 0x41...: return scannedWord()
        case 0x09...0x0D, 0x20:
            place += 1
            return .space
        case 0x28: skipParentheses()
        default: place += 1
        }
        return .other
    }

    private mutating func scannedNumber() -> Token {
        var value: Int64 = 0
        var length = 0
        while (0x30...0x39).contains(unit) {
            if length < Self.digitsMax { value = value * 10 + Int64(unit - 0x30) }
            length += 1
            place += 1
        }
        return .number(value, length: length)
    }

    /// Skips a comment in parentheses, which may be nested or unclosed.
    private mutating func skipParentheses() {
        var depth = 0
        repeat {
            if unit == 0x28 { depth += 1 }
            if unit == 0x29 { depth -= 1 }
            place += 1
        } while depth > 0 && unit != 0
    }

    /// Scans a word. Three letters decide a month, so `Marchember` is March.
    private mutating func scannedWord() -> Token {
        let start = place
        while unit >= 0x41 { place += 1 }
        let length = place - start
        // Lower case for ASCII letters; what it makes of other units matches no name.
        let prefix = units[start..<place].prefix(3).map { $0 | 0x20 }
        if let month = Self.months.firstIndex(of: prefix) { return .month(Int64(month) + 1) }
        guard length <= 3 else { return .word }
        switch String(decoding: prefix, as: UTF16.self) {
        case "am": return .half(0)
        case "pm": return .half(12)
        case "t": return .timeSeparator
        case let name: return Self.zones[name].map { .zone($0, length: length) } ?? .word
        }
    }

    private static let months = "jan feb mar apr may jun jul aug sep oct nov dec".split(separator: " ").map {
        Array($0.utf16)
    }

    private static let zones: [String: Int64] = [
        "ut": 0, "utc": 0, "z": 0, "gmt": 0, "cdt": -5, "cst": -6, "edt": -4, "est": -5, "mdt": -6, "mst": -7,
        "pdt": -7, "pst": -8,
    ]
}
