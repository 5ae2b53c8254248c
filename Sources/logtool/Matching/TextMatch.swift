import Projections

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A text to search for, in texts and in the bytes of payloads.
///
/// Texts are matched as written, without Unicode normalization: a search for evidence must tell two spellings apart.
struct TextMatch {
    let text: String
    let ignoresCase: Bool
    /// The text's UTF-8, searched for in payloads.
    private let bytes: [UInt8]

    /// - Parameter text: Not empty; `MatchOptions` refuses an empty one, which would match everything.
    init(_ text: String, ignoresCase: Bool) {
        self.text = text
        self.ignoresCase = ignoresCase
        bytes = Array(text.utf8)
    }

    /// The first match in a text. Without `ignoresCase`, bytes are compared, so composed and decomposed accents differ.
    /// With it, Swift's regular expressions compare scalars.
    func range(in other: String) -> Range<String.Index>? {
        guard ignoresCase else { return other.utf8.firstRange(of: text.utf8) }
        return other.firstRange(of: Regex<Substring>(verbatim: text).ignoresCase().matchingSemantics(.unicodeScalar))
    }

    /// True if bytes contain the text, as they are or with JSON escapes decoded. Payloads that are no JSON are searched
    /// the same way, so a backslash in them may hide or make a match.
    func isFound(in payload: UnsafeRawBufferPointer) -> Bool {
        if isFoundAsItIs(in: payload) { return true }
        guard payload.contains(UInt8(ascii: "\\")) else { return false }
        return JSONEscapes.undone(in: payload).withUnsafeBytes(isFoundAsItIs)
    }

    /// True if the bytes contain the text without decoding. Cost: linear for usual texts; with `ignoresCase` the
    /// payload becomes a `String` first.
    private func isFoundAsItIs(in payload: UnsafeRawBufferPointer) -> Bool {
        if ignoresCase { return range(in: String(decoding: payload, as: UTF8.self)) != nil }
        guard let start = payload.baseAddress, let first = bytes.first, payload.count >= bytes.count else {
            return false
        }
        let end = payload.count - bytes.count
        var place = 0
        while place <= end, let hit = memchr(start + place, Int32(first), end - place + 1) {
            // `memchr` looks no further than `end`, so the whole text fits behind each hit.
            if memcmp(hit, bytes, bytes.count) == 0 { return true }
            place = UnsafeRawPointer(hit) - start + 1
        }
        return false
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
