import EventLog
import Projections

/// A class of texts that can be replaced.
package enum TextClass: String, CaseIterable, Sendable {
    /// Words, wherever they stand.
    case words
    /// Numbers of five digits and more, hashes, UUIDs and short ids.
    case ids
    /// Days, the events' own among them.
    case times
    /// Names of members that no format has.
    case names
    /// Words of the protocols in texts that people wrote, where they mean nothing to a decoder.
    case terms
}

/// The substitutes for all pieces of a log's texts. Equal pieces get equal substitutes, different ones different
/// substitutes, mostly of the same length. Ids and times keep their order, times also their distances and days of the
/// week.
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
    /// Words that the test names and that stay everywhere, in lower case.
    private let named: Set<String>
    /// Names of members that stay.
    private let members: Set<String>
    /// Texts of decoder files, which stay as a whole, and their words where a text has more than these.
    private let fileTexts: Set<String>
    private let fileWords: Set<String>
    /// Substitutes by word, both in lower case.
    private var words: [String: String] = [:]
    private var ids: [String: String] = [:]
    /// How many days times are moved; a whole number of weeks, so that days of the week stay. 0 if times stay.
    let dayShift: Int

    /// Chooses substitutes for all pieces of some texts.
    ///
    /// - Parameters:
    ///   - texts: All texts that will be replaced, and where they stand.
    ///   - fragments: Texts that may be parts of words, such as those that a test looks for: words that hold one get
    ///     substitutes that hold its substitute.
    ///   - earliest: The earliest recorded time.
    ///   - named: Words that stay everywhere, in lower case.
    ///   - members: Names of members that stay, beside those of the formats.
    ///   - files: What stays because decoder files have it.
    init(
        for texts: [PlacedText],
        fragments: [PlacedText] = [],
        earliest: Timestamp,
        classes: Set<TextClass>,
        named: Set<String> = [],
        members: Set<String> = [],
        files: DecoderWords = DecoderWords()
    ) {
        (self.classes, self.named) = (classes, named)
        self.members = members.union(ProtocolWords.members).union(files.members)
        (fileTexts, fileWords) = (files.texts, Set(files.texts.flatMap { Anonymizer.words($0) }))
        let day = Int(earliest.microseconds / 86_400_000_000)
        dayShift = classes.contains(.times) ? (Self.firstDay - day) / 7 * 7 : 0
        var found = Pieces()
        var wanted = Pieces()
        for fragment in fragments { collect(fragment, into: &wanted) }
        for text in texts { collect(text, into: &found) }
        if classes.contains(.words) { chooseWords(found, wanted.words) }
        if classes.contains(.ids) { chooseIDs(found.ids.union(wanted.ids)) }
        assert(dayShift % 7 == 0, "times move by whole weeks")
    }

    /// What is to be replaced of some texts.
    private struct Pieces {
        /// In lower case, in the order of their first appearance.
        var words: [String] = []
        var ids: Set<TextPiece> = []
        private var seen: Set<String> = []

        mutating func add(_ word: String) {
            if seen.insert(word).inserted { words.append(word) }
        }
    }

    /// Adds the pieces of a text for which a substitute is needed.
    private func collect(_ text: PlacedText, into pieces: inout Pieces) {
        visit(text.text, at: text.place) { part, why in
            guard why == nil else { return }
            switch part.piece {
            case .word(let word) where word.utf8.count > 1: pieces.add(word.lowercased())
            case .word: break
            case .number, .id: pieces.ids.insert(part.piece)
            case .date, .writtenDate, .other: break
            }
        }
    }

    /// Gives each word a made-up one, in the order of first appearance.
    private mutating func chooseWords(_ found: Pieces, _ fragments: [String]) {
        let originals = fragments + found.words
        // A made-up word that occurs in the log, or that holds a word of it, would look like one that was not replaced.
        let taken = Set(originals).union(named).union(fileWords)
        var used: Set<String> = []
        var counters: [Int: Int] = [:]
        for word in originals where words[word] == nil {
            var length = max(word.unicodeScalars.count, 2)
            let part = fragments.first { $0.count > 1 && $0 != word && words[$0] != nil && word.contains($0) }
            var tries = 0
            while true {
                // Different starts for different lengths, so that no made-up word contains another systematically.
                let begin = length > 3 ? length * 37 : 0
                let number = counters[length, default: begin]
                guard var candidate = Self.word(number, length: length) else {
                    length += 1
                    continue
                }
                counters[length] = number + 1
                if let part, let substitute = words[part], tries < 1000 {
                    candidate = Self.holding(part, substitute, of: word, in: candidate)
                }
                tries += 1
                guard !Self.holds(candidate, anyOf: taken), used.insert(candidate).inserted else { continue }
                words[word] = candidate
                break
            }
        }
    }

    /// The made-up word with the substitute of a part of the original in the part's place.
    private static func holding(_ part: String, _ substitute: String, of word: String, in made: String) -> String {
        guard let range = word.firstRange(of: part) else { return made }
        let before = word.distance(from: word.startIndex, to: range.lowerBound)
        let after = word.distance(from: range.upperBound, to: word.endIndex)
        return String(made.prefix(before)) + substitute + String(made.suffix(after))
    }

    /// Whether a made-up word is a word of the log, or holds one of four letters and more.
    private static func holds(_ word: String, anyOf taken: Set<String>) -> Bool {
        taken.contains(word) || Self.parts(of: word).contains { taken.contains(String($0)) }
    }

    /// All parts of a word that have four letters and more.
    static func parts(of word: String) -> [Substring] {
        let letters = word.unicodeScalars
        guard letters.count >= 4, letters.count <= 64 else { return [word[...]] }
        let starts = Array(letters.indices) + [letters.endIndex]
        var parts: [Substring] = []
        for start in 0..<(starts.count - 4) {
            for end in (start + 4)..<starts.count { parts.append(word[starts[start]..<starts[end]]) }
        }
        return parts
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
    private mutating func chooseIDs(_ pieces: Set<TextPiece>) {
        var shapes: [String: Set<String>] = [:]
        for piece in pieces {
            switch piece {
            case .number(let digits) where digits.utf8.count >= Self.digitsMin && Self.unixDay(digits) == nil:
                shapes["number \(digits.utf8.count)", default: []].insert(digits)
            case .id(let text): shapes["id " + Self.shape(of: text), default: []].insert(text)
            default: break
            }
        }
        for (shape, texts) in shapes {
            for (rank, text) in texts.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }).enumerated() {
                ids[text] =
                    shape.hasPrefix("id") ? Self.id(rank, like: text) : Self.digits(rank, count: text.utf8.count)
            }
        }
    }

    private static func shape(of hex: String) -> String {
        hex.utf8.count == 36 && hex.contains("-") ? "uuid" : "\(hex.utf8.count)"
    }

    /// A number of the same length, with its rank at the end. It does not begin with 0, because a JSON number may not; so
    /// there is room for nine tenths of all numbers of its length.
    private static func digits(_ rank: Int, count: Int) -> String {
        let text = String(rank + 1)
        guard text.utf8.count >= count else {
            return "1" + String(repeating: "0", count: count - 1 - text.utf8.count) + text
        }
        return String((1..<count).reduce(1) { power, _ in power * 10 } + rank + 1)
    }

    /// An id of the same shape, with its rank at the end. It begins with `a`, so that it does not become a number.
    private static func id(_ rank: Int, like text: String) -> String {
        let digits = Array(String(rank + 1, radix: 16).utf8)
        var result = Array(text.utf8)
        let places = result.indices.filter { result[$0] != UInt8(ascii: "-") }
        // Of short ids there may be more than their length has room for.
        guard digits.count < places.count else { return "a" + String(decoding: digits, as: UTF8.self) }
        for place in places { result[place] = UInt8(ascii: "0") }
        for (digit, place) in zip(digits.reversed(), places.reversed()) { result[place] = digit }
        if let first = places.first { result[first] = UInt8(ascii: "a") }
        // A version 4 UUID (RFC 9562, section 5.4) stays one.
        if text.utf8.count == 36, places.count == 32 {
            (result[14], result[19]) = (UInt8(ascii: "4"), UInt8(ascii: "8"))
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The units in a day, if a number can be a time since 1970 of this century: seconds (10 digits), milliseconds
    /// (13) or microseconds (16).
    private static func unixDay(_ digits: String) -> UInt64? {
        guard let number = UInt64(digits) else { return nil }
        switch digits.utf8.count {
        case 10 where (1_000_000_000..<2_200_000_000).contains(number): return 86_400
        case 13 where (1_000_000_000_000..<2_200_000_000_000).contains(number): return 86_400_000
        case 16 where (1_000_000_000_000_000..<2_200_000_000_000_000).contains(number): return 86_400_000_000
        default: return nil
        }
    }

    // MARK: - Replacing

    /// Why a piece stays.
    enum Reason: Hashable, Sendable {
        /// A word of a protocol, where it means something.
        case constant
        /// A decoder file has it.
        case file
        /// A word of a path or address, or a file's extension.
        case path
        /// The test names it, and the answer depends on it.
        case test
        /// A word of a protocol in a text that people wrote.
        case term
        /// A name of a member that the formats have, or that the test names.
        case member
    }

    /// A text with all pieces replaced. Pieces without a substitute stay.
    ///
    /// - Parameter note: Called with each word that stays though its class is replaced, and why.
    func replace(_ text: String, at place: TextPlace = .text, note: (String, Reason) -> Void = { _, _ in }) -> String {
        var result = ""
        visit(text, at: place) { part, why in
            if let why {
                if case .word(let word) = part.piece {
                    note([.member, .file].contains(why) ? part.written : word.lowercased(), why)
                }
                result += part.written
            } else {
                result += substitute(for: part)
            }
        }
        return result
    }

    /// Calls `body` with each part of a text, and why it stays, if it does.
    private func visit(_ text: String, at place: TextPlace, _ body: (TextPiece.Part, Reason?) -> Void) {
        switch place {
        case .verbatim: body(TextPiece.Part(piece: .other(text), written: text), .constant)
        case _ where ProtocolWords.markers.contains(text):
            body(TextPiece.Part(piece: .word(text), written: text), .constant)
        case .text where fileTexts.contains(text):
            body(TextPiece.Part(piece: .word(text), written: text), .file)
        case .name where members.contains(text):
            body(TextPiece.Part(piece: .word(text), written: text), .member)
        case .name where !classes.contains(.names): body(TextPiece.Part(piece: .other(text), written: text), nil)
        case .text where text.hasPrefix("{") || text.hasPrefix("["):
            LooseJSON.visit(text) { piece, place in
                // A text within a text is taken apart no further.
                if place == .text, !fileTexts.contains(piece) {
                    visitParts(of: piece, at: place, body)
                } else {
                    visit(piece, at: place, body)
                }
            }
        case .file: FileText.visit(text) { piece, place in visit(piece, at: place, body) }
        default: visitParts(of: text, at: place, body)
        }
    }

    private func visitParts(of text: String, at place: TextPlace, _ body: (TextPiece.Part, Reason?) -> Void) {
        let place = place == .text && text.hasPrefix("realtime:") ? TextPlace.topic : place
        var isBehindStop = false
        for part in TextPiece.parts(of: text) {
            var why: Reason?
            if case .word(let word) = part.piece {
                why = reason(word.lowercased(), at: place, isBehindStop: isBehindStop)
            }
            body(part, why)
            if case .other(let text) = part.piece { isBehindStop = text.hasSuffix(".") } else { isBehindStop = false }
        }
    }

    /// Why a word stays at a place; `nil` if it does not.
    private func reason(_ word: String, at place: TextPlace, isBehindStop: Bool) -> Reason? {
        if named.contains(word) { return .test }
        if ProtocolWords.everywhere.contains(word) { return .constant }
        if fileWords.contains(word) { return .file }
        if isBehindStop, ProtocolWords.extensions.contains(word) { return .path }
        switch place {
        case .constant where ProtocolWords.constants.contains(word): return .constant
        case .topic where ProtocolWords.tables.contains(word): return .constant
        case .subject where ProtocolWords.subjects.contains(word): return .constant
        case .path where ProtocolWords.paths.contains(word) || ProtocolWords.tables.contains(word): return .path
        case .text, .subject:
            return !classes.contains(.terms) && ProtocolWords.all.contains(word) ? .term : nil
        default: return nil
        }
    }

    /// The decoder files of the renamed sources.
    func renamed(_ decoders: Decoders) -> Decoders {
        decoders.renamed { try? SourceName(replace($0.rawValue)) }
    }

    /// How many different words and ids have substitutes.
    var count: Int { words.count + ids.count }

    /// The replaced words of more than three letters, in lower case. Shorter ones occur within other words by chance.
    var replacedWords: Set<String> { Set(words.keys.filter { $0.unicodeScalars.count > 3 }) }

    /// The substitute of one piece; as it is written without one. Times since 1970 are moved like dates, so they keep
    /// their distance to them.
    private func substitute(for part: TextPiece.Part) -> String {
        switch part.piece {
        case .word(let word):
            // A letter alone names nobody in Latin script.
            if word.utf8.count == 1 { return part.written }
            return words[word.lowercased()].map { Self.cased($0, like: word) } ?? part.written
        case .id(let text): return ids[text] ?? part.written
        case .number(let digits):
            guard let unit = Self.unixDay(digits), let number = Int64(digits) else {
                return ids[digits] ?? part.written
            }
            return dayShift == 0 ? part.written : String(number + Int64(dayShift) * Int64(unit))
        case .date(let day, let isCompact, let rest):
            guard dayShift != 0 else { return part.written }
            let parts = CalendarDay.parts(of: day + dayShift)
            let texts = [Self.padded(parts.year, 4), Self.padded(parts.month, 2), Self.padded(parts.day, 2)]
            return texts.joined(separator: isCompact ? "" : "-") + rest
        case .writtenDate(let date): return dayShift == 0 ? part.written : date.text(movedBy: dayShift)
        case .other: return part.written
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

/// A text and where it stands.
struct PlacedText: Hashable, Sendable {
    let text: String
    let place: TextPlace

    init(_ text: String, _ place: TextPlace = .text) {
        (self.text, self.place) = (text, place)
    }
}
