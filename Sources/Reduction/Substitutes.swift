import EventLog

/// A class of texts that can be replaced.
package enum TextClass: String, CaseIterable, Sendable {
    case words, ids, times
}

/// The substitutes for all pieces of a log's texts. Equal pieces get equal substitutes, different ones different
/// substitutes of the same length. Ids and times keep their order, times also their distances and days of the week.
///
/// Substitutes depend on the pieces alone, not on chance: the same log gives the same result.
struct Substitutes {
    /// Shorter numbers are counts, codes and versions, which stay.
    private static let digitsMin = 5
    private static let consonants = Array("bcdfghjklmnpqrstvwxz")
    private static let vowels = Array("aeiou")
    /// The earliest day moves to the week that begins here, 2002-01-07. Times since 1970 keep their number of digits.
    private static let firstDay = 11_694

    /// The classes that are replaced.
    private let classes: Set<TextClass>
    /// Substitutes by word, both in lower case. A word without one stays.
    private var words: [String: String] = [:]
    private var ids: [String: String] = [:]
    /// How many days times are moved; a whole number of weeks, so that days of the week stay. 0 if times stay.
    let dayShift: Int

    /// Chooses substitutes for all pieces of some texts.
    ///
    /// - Parameters:
    ///   - texts: All texts that will be replaced.
    ///   - earliest: The earliest recorded time.
    ///   - kept: Words that stay, in lower case.
    init(for texts: [String], earliest: Timestamp, classes: Set<TextClass>, kept: Set<String>) {
        self.classes = classes
        let day = Int(earliest.microseconds / 86_400_000_000)
        dayShift = classes.contains(.times) ? (Self.firstDay - day) / 7 * 7 : 0
        let pieces = texts.flatMap { TextPiece.pieces(of: $0) }
        if classes.contains(.words) { chooseWords(pieces, kept) }
        if classes.contains(.ids) { chooseIDs(pieces) }
        assert(dayShift % 7 == 0, "times move by whole weeks")
    }

    /// Gives each word of two letters and more a made-up one, in the order of first appearance. Words stay once no more
    /// are left of their length.
    private mutating func chooseWords(_ pieces: [TextPiece], _ kept: Set<String>) {
        var originals: [String] = []
        for case .word(let word) in pieces where !kept.contains(word.lowercased()) {
            originals.append(word.lowercased())
        }
        // A made-up word that occurs in the log would look like a word that was not replaced.
        let taken = Set(originals).union(kept)
        var counters: [Int: Int] = [:]
        for word in originals where words[word] == nil {
            let length = word.unicodeScalars.count
            guard length > 1 else { continue }
            // Different starts for different lengths, so that no made-up word contains another systematically.
            let begin = length > 3 ? length * 37 : 0
            while let candidate = Self.word(counters[length, default: begin], length: length) {
                counters[length, default: begin] += 1
                guard !taken.contains(candidate) else { continue }
                words[word] = candidate
                break
            }
        }
    }

    /// The made-up word of a number and length, consonants and vowels in turn; `nil` if there are no more of that
    /// length.
    private static func word(_ number: Int, length: Int) -> String? {
        var rest = number
        var letters: [Character] = []
        for place in (0..<length).reversed() {
            let alphabet = place % 2 == 0 ? consonants : vowels
            letters.append(alphabet[rest % alphabet.count])
            rest /= alphabet.count
        }
        return rest == 0 ? String(letters.reversed()) : nil
    }

    /// Gives the ids of one shape ascending substitutes, in the order of their bytes.
    private mutating func chooseIDs(_ pieces: [TextPiece]) {
        var shapes: [String: Set<String>] = [:]
        for piece in pieces {
            switch piece {
            case .number(let digits) where digits.utf8.count >= Self.digitsMin && Self.unixDay(digits) == nil:
                shapes["number \(digits.utf8.count)", default: []].insert(digits)
            case .hex(let text): shapes["hex " + Self.shape(of: text), default: []].insert(text)
            default: break
            }
        }
        for (shape, texts) in shapes {
            for (rank, text) in texts.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }).enumerated() {
                ids[text] =
                    shape.hasPrefix("hex") ? Self.hex(rank, like: text) : Self.digits(rank, count: text.utf8.count)
            }
        }
    }

    private static func shape(of hex: String) -> String {
        hex.utf8.count == 36 && hex.contains("-") ? "uuid" : "\(hex.utf8.count)"
    }

    /// A number of the same length, with its rank at the end. It begins with 1, because a JSON number may not begin
    /// with 0.
    private static func digits(_ rank: Int, count: Int) -> String {
        let text = String(rank + 1)
        return "1" + String(repeating: "0", count: max(count - 1 - text.utf8.count, 0)) + text.suffix(count - 1)
    }

    /// An id of the same shape, with its rank at the end. It begins with `a`, so that it does not become a number.
    private static func hex(_ rank: Int, like text: String) -> String {
        let digits = Array(String(rank + 1, radix: 16).utf8)
        var result = Array(text.utf8)
        let places = result.indices.filter { result[$0] != UInt8(ascii: "-") }
        for place in places { result[place] = UInt8(ascii: "0") }
        for (digit, place) in zip(digits.reversed(), places.reversed()) { result[place] = digit }
        if let first = places.first { result[first] = UInt8(ascii: "a") }
        // A version 4 UUID (RFC 9562, section 5.4) stays one.
        if text.utf8.count == 36, places.count == 32 {
            (result[14], result[19]) = (UInt8(ascii: "4"), UInt8(ascii: "8"))
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The units in a day, if a number can be a time since 1970 of this century: seconds (10 digits) or milliseconds
    /// (13).
    private static func unixDay(_ digits: String) -> UInt64? {
        guard let number = UInt64(digits) else { return nil }
        switch digits.utf8.count {
        case 10 where (1_000_000_000..<2_200_000_000).contains(number): return 86_400
        case 13 where (1_000_000_000_000..<2_200_000_000_000).contains(number): return 86_400_000
        default: return nil
        }
    }

    // MARK: - Replacing

    /// A text with all pieces replaced. Pieces without a substitute stay.
    func replace(_ text: String) -> String {
        TextPiece.pieces(of: text).map(replace).joined()
    }

    /// The replaced words of more than three letters, in lower case. Shorter ones occur within other words by chance.
    var replacedWords: [String] { words.keys.filter { $0.unicodeScalars.count > 3 }.sorted() }

    /// The substitute of one piece. Times since 1970 are moved like dates, so they keep their distance to them.
    private func replace(_ piece: TextPiece) -> String {
        switch piece {
        case .word(let word): return Self.cased(words[word.lowercased()] ?? word, like: word)
        case .hex(let text): return ids[text] ?? text
        case .number(let digits):
            guard let unit = Self.unixDay(digits), let number = Int64(digits) else { return ids[digits] ?? digits }
            return String(number + Int64(dayShift) * Int64(unit))
        case .date(let day, let isCompact, let rest):
            let parts = CalendarDay.parts(of: day + dayShift)
            let texts = [Self.padded(parts.year, 4), Self.padded(parts.month, 2), Self.padded(parts.day, 2)]
            return texts.joined(separator: isCompact ? "" : "-") + rest
        case .other(let text): return text
        }
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(count - digits.utf8.count, 0)) + digits
    }

    /// The substitute with its original's capitals.
    private static func cased(_ substitute: String, like original: String) -> String {
        let letters = Array(original.unicodeScalars)
        guard substitute.unicodeScalars.count == letters.count else { return substitute }
        return zip(substitute, letters).map { $1.properties.isUppercase ? $0.uppercased() : String($0) }.joined()
    }
}
