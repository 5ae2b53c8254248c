import EventLog
import JSON

/// Gives each name of a branch's files and folders a text of its own.
///
/// A document percent-encodes bytes of a path that are no UTF-8. So the name `caf\xe9` reads like the name `caf%E9`. The name
/// that the log has first keeps this text; for the other one each `%` is written as `%25`, so that the two never become one
/// message or one channel. Only names with a `%` are kept.
struct GitSpellings: Sendable {
    /// A name as the document has it.
    private struct Name: Codable, Hashable {
        let text: ExactText
        /// Whether a byte that is no UTF-8 is percent-encoded in it.
        let isEncoded: Bool
    }

    /// The text of each name.
    private var texts: [Name: String] = [:]
    /// The names by their texts.
    private var names: [ExactText: Name] = [:]

    init() {}

    /// Replaces the paths by texts that no other path has.
    mutating func spell(_ changes: inout [GitPathChange]) {
        for place in changes.indices where changes[place].path.utf8.contains(UInt8(ascii: "%")) {
            let (path, isEncoded) = (changes[place].path, changes[place].isEncoded)
            let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            changes[place].path = parts.map { text(of: name(Array($0), isEncoded)) }.joined(separator: "/")
        }
    }

    /// The name of a folder or a file of a path, of which the document tells only as a whole whether it is encoded.
    private func name(_ bytes: [UInt8], _ isEncoded: Bool) -> Name {
        let isFaulty = isEncoded && PercentEncoding.hasEncodedFault(bytes)
        // In an encoded path, a `%` that would be read as part of an encoded byte is written as `%25`.
        let plain = isEncoded && !isFaulty ? PercentEncoding.restoringSigns(bytes) : bytes
        return Name(text: ExactText(String(decoding: plain, as: UTF8.self)), isEncoded: isFaulty)
    }

    private mutating func text(of name: Name) -> String {
        guard name.text.string.utf8.contains(UInt8(ascii: "%")) else { return name.text.string }
        if let text = texts[name] { return text }
        var text = name.text.string
        // Longer in each round, so one is free at last.
        while names[ExactText(text)] != nil {
            text = text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
        }
        add(name, text)
        return text
    }

    private mutating func add(_ name: Name, _ text: String) {
        texts[name] = text
        names[ExactText(text)] = name
    }

    /// The names with their texts, sorted by text; absent without any.
    var facts: JSONValue? {
        if texts.isEmpty { return nil }
        return .array(
            texts.sorted { ExactText.precedes($0.value, $1.value) }.map { name, text in
                .array([.string(text), .string(name.text.string), .bool(name.isEncoded)])
            }
        )
    }

    /// - Throws: `ProjectionError` for another form.
    init(facts: JSONValue?) throws {
        for fact in facts?.array ?? [] {
            guard let parts = fact.array, parts.count == 3, let text = parts[0].string, let name = parts[1].string,
                let isEncoded = parts[2].bool
            else { throw ProjectionError.facts("a git spelling has another form") }
            add(Name(text: ExactText(name), isEncoded: isEncoded), text)
        }
    }
}

/// Saved as its facts.
extension GitSpellings: Codable {
    init(from decoder: any Decoder) throws {
        let texts = try decoder.singleValueContainer().decode([Spelling].self)
        for spelling in texts { add(spelling.name, spelling.text) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let sorted = texts.sorted { ExactText.precedes($0.value, $1.value) }
        try container.encode(sorted.map { Spelling(name: $0.key, text: $0.value) })
    }

    private struct Spelling: Codable {
        let name: Name
        let text: String
    }
}
