import JSON

/// What paths that are texts in payloads have in common: `/messages/{channel}/{id}`.
struct InferencePattern: Hashable, Sendable {
    /// The parts; `nil` for one that is an id.
    let parts: [String?]

    static let partsMax = 8

    /// - Returns: `nil` of a text that is no path.
    init?(_ text: String) {
        guard let parts = Self.parts(of: text), parts.count <= Self.partsMax else { return nil }
        self.parts = parts.enumerated().map { index, part in
            let isBehindContainer =
                index > 0 && InferenceNames.containers.contains(InferenceNames.plain(parts[index - 1]))
            return isBehindContainer || Self.isID(part) ? nil : part
        }
    }

    /// The parts of a path; `nil` of a text that is none.
    private static func parts(of text: String) -> [String]? {
        guard text.utf8.count <= 256, text.hasPrefix("/") || !text.utf8.contains(0x20), !text.contains("://") else {
            return nil
        }
        let body = text.hasPrefix("/") ? text.dropFirst() : text[...]
        return body.isEmpty ? [] : body.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    private static func isID(_ part: String) -> Bool {
        part.utf8.contains { (0x30...0x39).contains($0) } || part.utf8.count > 16 || !InferenceNames.isWord(part)
    }

    /// How many parts are ids.
    var idCount: Int { parts.count { $0 == nil } }

    /// Whether the path ends with an id.
    var endsWithID: Bool { parts.last.map { $0 == nil } ?? false }

    /// The words that are the same in all paths.
    var words: [String] { parts.compactMap(\.self) }

    /// The names of the parts that are ids, from the first: the last of them names the thing, if the path ends there or
    /// there is another for its channel.
    var names: [String] {
        let last = idCount > 1 || endsWithID ? ["channel", "id"] : ["channel"]
        let others = (0..<max(0, idCount - last.count)).map { "part\($0 + 1)" }
        return others + last.suffix(idCount)
    }

    /// As a test of decoder files writes it.
    var text: String {
        var names = names[...]
        let texts = parts.map { part in
            part.map { InferenceText.escaped($0) } ?? "{\(names.popFirst() ?? "id")}"
        }
        return "/" + texts.joined(separator: "/")
    }

    /// A path that fits, with made-up ids.
    var sample: String {
        var names = names[...]
        return parts.map { $0.map { InferenceText.escaped($0) } ?? "\(names.popFirst() ?? "id")-1" }.joined(
            separator: "/"
        )
    }

    /// The part of a path that has a name.
    static func part(_ name: String, of text: String, _ pattern: InferencePattern) -> String? {
        guard let parts = parts(of: text), parts.count == pattern.parts.count else { return nil }
        let ids = zip(parts, pattern.parts).filter { $0.1 == nil }.map(\.0)
        return zip(ids, pattern.names).first { $0.1 == name }
            .map { $0.0.replacing("~1", with: "/").replacing("~0", with: "~") }
    }
}
