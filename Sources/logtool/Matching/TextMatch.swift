import JSON
import Projections

/// A text to search for, in texts and in the bytes of payloads.
///
/// Texts are matched as written, without Unicode normalization: a search for evidence must tell two spellings apart. A class, so that
/// lending it to a million tests counts no references of its parts.
final class TextMatch: Sendable {
    let text: String
    let ignoresCase: Bool
    /// Finds the text's bytes; with `ignoresCase`, where it may be; `nil` if it may be anywhere.
    let search: TextSearch?

    /// - Parameter text: Not empty; `MatchOptions` refuses an empty one, which would match everything.
    init(_ text: String, ignoresCase: Bool) {
        self.text = text
        self.ignoresCase = ignoresCase
        search = TextSearch(text, ignoresCase: ignoresCase)
    }

    /// The first match in a text. Without `ignoresCase`, bytes are compared, so composed and decomposed accents differ.
    /// With it, Swift's regular expressions compare scalars.
    func range(in other: String) -> Range<String.Index>? {
        if let search, !search.occurs(in: other) { return nil }
        guard ignoresCase else { return other.utf8.firstRange(of: text.utf8) }
        return other.firstRange(of: Regex<Substring>(verbatim: text).ignoresCase().matchingSemantics(.unicodeScalar))
    }

    /// True if bytes contain the text, as they are or with JSON escapes decoded. Payloads that are no JSON are searched
    /// the same way, so a backslash in them may hide or make a match.
    func isFound(in payload: UnsafeRawBufferPointer) -> Bool {
        if let search, !search.occursUnescaped(in: payload) { return false }
        if !ignoresCase { return true }
        if range(in: String(decoding: payload, as: UTF8.self)) != nil { return true }
        guard payload.contains(UInt8(ascii: "\\")) else { return false }
        return range(in: String(decoding: JSONEscapes.undone(in: payload), as: UTF8.self)) != nil
    }

    /// True if bytes that are a text contain this one.
    func isFound(inText bytes: UnsafeRawBufferPointer) -> Bool {
        if let search, !search.occurs(in: bytes) { return false }
        return !ignoresCase || range(in: String(decoding: bytes, as: UTF8.self)) != nil
    }
}

/// The texts of a history's entry: what it says, not who wrote it, when, or what it answers.
///
/// Numbers and truth values are no texts.
enum EntryTexts {
    /// The members that tell about a message or item, by their names in histories.
    private static let others: Set<String> = [
        "author", "authorName", "createdAt", "editedAt", "replyTo", "cause", "from", "to", "by",
        "lostRoles",
    ]

    /// All texts of a thing's fields, each with the name of its outermost member.
    static func texts(of fields: JSONObject) -> [(name: String, text: String)] {
        fields.members.filter { !others.contains($0.name) }.flatMap { member in
            texts(in: member.value).map { (member.name, $0) }
        }
    }

    private static func texts(in value: JSONValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(texts(in:))
        case .object(let object): object.members.flatMap { texts(in: $0.value) }
        case .null, .bool, .number: []
        }
    }
}
