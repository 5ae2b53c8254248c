import JSON

/// Texts with what takes their places: `(redacted)`, `(redacted 2)` and so on in the order in which the log first has
/// them.
///
/// Different texts have different substitutes, so that a version which repeats another one still does, and one that differs
/// still differs. Nothing in a substitute depends on the text, and in YAML it is a text wherever one may stand, unlike one in
/// square brackets.
struct TextSubstitutes {
    /// The texts in the order in which the log first has them.
    private(set) var texts: [String] = []
    /// What each text is.
    private(set) var roles: [TextForms.Role] = []
    private var known: [ExactText: Int] = [:]
    private var forms = TextForms()
    /// The substitute of each text.
    private var substitutes: [String] = []
    /// Substitutes that were given with their texts: pseudonyms.
    private var given: [Int: String] = [:]
    /// The ids that a payload may have as JSON numbers.
    private(set) var numbers: Set<String> = []

    /// Whether ids and names of people are among the texts.
    private(set) var hasPeople = false

    /// Adds a text, unless it is known, empty, or a substitute itself.
    ///
    /// - Parameter substitute: What takes its place; `nil` for the next number.
    mutating func add(_ text: String, as role: TextForms.Role = .text, substitute: String? = nil) {
        guard !text.isEmpty, Self.number(of: text) == nil, known[ExactText(text)] == nil else { return }
        known[ExactText(text)] = texts.count
        given[texts.count] = substitute
        texts.append(text)
        roles.append(role)
        if role.isNumber { numbers.insert(text) }
        if role.isOfPerson { hasPeople = true }
        forms.add(text, number: texts.count - 1, role)
        // A remote may write other ends of lines than the reading shows.
        let other = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        if !other.utf8.elementsEqual(text.utf8) { forms.add(other, number: texts.count - 1, role) }
    }

    /// The number of a text, byte for byte; `nil` for one that was not added.
    func index(of text: String) -> Int? { known[ExactText(text)] }

    /// What takes the place of a text.
    func substitute(of number: Int) -> String { substitutes[number] }

    /// Gives each text its substitute. Call it once all texts are added.
    ///
    /// - Parameter taken: The numbers that earlier redactions of the log have given. Given again, one would make two texts alike.
    mutating func number(besides taken: Set<Int>) {
        var next = 1
        let taken = taken.union(substitutes.compactMap { Self.number(of: $0) })
        // Those that were numbered before keep their numbers.
        substitutes += texts.indices.dropFirst(substitutes.count).map { index in
            if let substitute = given[index] { return substitute }
            while taken.contains(next) { next += 1 }
            defer { next += 1 }
            return Self.substitute(next)
        }
    }

    private static func substitute(_ number: Int) -> String { number == 1 ? "(redacted)" : "(redacted \(number))" }

    /// The numbers of all substitutes in a payload.
    static func numbers(in payload: UnsafeRawBufferPointer) -> Set<Int> {
        let matches = String(decoding: payload, as: UTF8.self).matches(of: /\(redacted(?: ([0-9]+))?\)/)
        return Set(matches.compactMap { match in match.output.1.map { Int($0) } ?? 1 })
    }

    /// The bytes of the substitute that bytes begin with, within which nothing is looked for; `nil` if they begin with none.
    private static func substituteCount(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.first == UInt8(ascii: "("), bytes.starts(with: Array("(redacted".utf8)),
            let end = bytes.prefix(32).firstIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let text = String(decoding: bytes[...end], as: UTF8.self)
        return number(of: text) == nil ? nil : text.utf8.count
    }

    /// The number of a substitute; `nil` for any other text.
    private static func number(of text: String) -> Int? {
        if text == "(redacted)" { return 1 }
        guard text.hasPrefix("(redacted "), text.hasSuffix(")") else { return nil }
        return Int(text.dropFirst("(redacted ".count).dropLast())
    }

    /// How many texts have one byte, for which `search` does not look.
    var tinyCount: Int { texts.count { $0.utf8.count == 1 } }

    /// A search for all texts in every form.
    var search: TokenSearch { TokenSearch(forms.all { _ in true }) }

    /// A search, in every form, for the texts that hardly stand anywhere by chance.
    var longSearch: TokenSearch { TokenSearch(forms.all { $0.isLong }) }

    /// A search, in every form, for the long texts and for all ids and names.
    var peopleSearch: TokenSearch { TokenSearch(forms.all { $0.isLong || $0.role.isOfPerson }) }

    /// A search for the long texts in every form, and for long ids and names in every form but as they are: those may be parts of
    /// words.
    var coverSearch: TokenSearch {
        TokenSearch(
            forms.all { $0.isLong && !$0.role.isOfPerson },
            encoded: forms.all { $0.isLong && $0.role.isOfPerson }
        )
    }

    /// A text with its texts replaced; `nil` if it has none. Bytes are compared, without Unicode normalization.
    func replaced(in other: String) -> String? { replaced(in: other) { $2 } }

    /// As `replaced(in:)`, by what a closure makes of the number of the place in the text, counted from 0, of the match and of the
    /// substitute; `nil` leaves the place.
    func replaced(
        in other: String,
        loose: Set<Int> = [],
        by substitute: (_ number: Int, TextForms.Match, String) -> String?
    ) -> String? {
        let bytes = Array(other.utf8)
        var result: [UInt8] = []
        var copied = 0
        for (number, match) in matches(in: bytes, loose: loose).enumerated() {
            guard let text = substitute(number, match, substitutes[match.text]) else { continue }
            result += bytes[copied..<match.range.lowerBound]
            result += text.utf8
            copied = match.range.upperBound
        }
        guard copied > 0 else { return nil }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// The places of the texts in another one, in order. Within a substitute nothing is looked for.
    ///
    /// - Parameter loose: Numbers of texts that are found anywhere, whatever their roles say.
    func matches(in bytes: [UInt8], loose: Set<Int> = []) -> [TextForms.Match] {
        var found: [TextForms.Match] = []
        var start = 0
        while start < bytes.count {
            if let match = forms.match(in: bytes, at: start, loose: loose) {
                found.append(match)
                start = match.range.upperBound
            } else {
                start += Self.substituteCount(bytes[start...]) ?? 1
            }
        }
        return found
    }

    /// How often the texts stand in another one.
    func count(in other: String) -> Int { matches(in: Array(other.utf8)).count }

    /// Whether a string of a value holds a text.
    func occur(in value: JSONValue) -> Bool { value.strings.contains { count(in: $0) > 0 } }

    /// Whether a text is one of these, or holds one that is long enough not to stand there by chance.
    ///
    /// - Parameter isNear: Whether the text stands beside one that is redacted, so that a short one counts as well.
    func isCopied(in other: String, isNear: Bool) -> Bool {
        let bytes = Array(other.utf8)
        return forms.isWhole(bytes, isShortEnough: isNear)
            || bytes.indices.contains { forms.hasLong(in: bytes, at: $0) }
    }
}

extension JSONValue {
    /// All strings of a value, without the names of members.
    var strings: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.strings)
        case .object(let object): object.members.flatMap { $0.value.strings }
        case .null, .bool, .number: []
        }
    }
}
