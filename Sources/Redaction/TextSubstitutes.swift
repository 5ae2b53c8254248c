import JSON

/// Texts with what takes their places: `(redacted)`, `(redacted 2)` and so on in the order in which the log first has
/// them.
///
/// Different texts have different substitutes, so that a version which repeats another one still does, and one that differs
/// still differs. Nothing in a substitute depends on the text, and in YAML it is a text wherever one may stand, unlike one in
/// square brackets.
struct TextSubstitutes {
    /// A form in which one of the texts is looked for.
    private struct Form {
        let bytes: [UInt8]
        /// The index of the text.
        let text: Int
    }

    /// The texts in the order in which the log first has them.
    private(set) var texts: [String] = []
    private var known: Set<ExactText> = []
    /// By the first byte, the longest first: of two that begin at one place the longer one is replaced.
    private var forms: [[Form]] = Array(repeating: [], count: 256)
    /// The substitute of each text.
    private var substitutes: [String] = []

    /// Adds a text, unless it is known, empty, or a substitute itself.
    mutating func add(_ text: String) {
        guard !text.isEmpty, Self.number(of: text) == nil, known.insert(ExactText(text)).inserted else { return }
        texts.append(text)
        addForm(text)
        // A remote may write other ends of lines than the reading shows.
        let other = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        if !other.utf8.elementsEqual(text.utf8) { addForm(other) }
    }

    private mutating func addForm(_ text: String) {
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { return }
        forms[Int(first)].append(Form(bytes: bytes, text: texts.count - 1))
        forms[Int(first)].sort { $0.bytes.count > $1.bytes.count }
    }

    /// Gives each text its substitute. Call it once all texts are added.
    ///
    /// - Parameter taken: The numbers that earlier redactions of the log have given. Given again, one would make two texts alike.
    mutating func number(besides taken: Set<Int>) {
        var next = 1
        substitutes = texts.map { _ in
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
        let start = Array("(redacted".utf8)
        guard bytes.starts(with: start), let end = bytes.prefix(32).firstIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
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

    /// A text of so many bytes hardly stands in another one by chance.
    private static let longBytes = 8

    /// A search for all texts in every form.
    var search: TokenSearch { TokenSearch(forms.joined().map { String(decoding: $0.bytes, as: UTF8.self) }) }

    /// A search, in every form, for the texts that hardly stand anywhere by chance.
    var longSearch: TokenSearch {
        TokenSearch(
            forms.joined().filter { $0.bytes.count >= Self.longBytes }.map { String(decoding: $0.bytes, as: UTF8.self) }
        )
    }

    /// A text with its texts replaced; `nil` if it has none. Bytes are compared, without Unicode normalization.
    func replaced(in other: String) -> String? { replaced(in: other) { $1 } }

    /// As `replaced(in:)`, by what a closure makes of the number of the place in the text, counted from 0, and of the substitute;
    /// `nil` leaves the place.
    func replaced(in other: String, by substitute: (_ number: Int, String) -> String?) -> String? {
        let bytes = Array(other.utf8)
        var result: [UInt8] = []
        var (copied, start, number) = (0, 0, 0)
        while start < bytes.count {
            let form = forms[Int(bytes[start])].first { bytes[start...].starts(with: $0.bytes) }
            guard let form else {
                start += Self.substituteCount(bytes[start...]) ?? 1
                continue
            }
            if let text = substitute(number, substitutes[form.text]) {
                result += bytes[copied..<start]
                result += text.utf8
                copied = start + form.bytes.count
            }
            number += 1
            start += form.bytes.count
        }
        guard copied > 0 else { return nil }
        return String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// How often the texts stand in another one.
    func count(in other: String) -> Int {
        var count = 0
        _ = replaced(in: other) { number, _ in
            count = number + 1
            return nil
        }
        return count
    }

    /// Whether a string of a value holds a text.
    func occur(in value: JSONValue) -> Bool { value.strings.contains { count(in: $0) > 0 } }

    /// Whether a text is one of these, or holds one that is long enough not to stand there by chance.
    ///
    /// - Parameter isNear: Whether the text stands beside one that is redacted, so that a short one counts as well.
    func isCopied(in other: String, isNear: Bool) -> Bool {
        let other = Array(other.utf8)
        return forms.joined().contains { form in
            let isLong = form.bytes.count >= Self.longBytes
            if form.bytes == other { return isLong || isNear }
            return isLong && other.firstRange(of: form.bytes) != nil
        }
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
