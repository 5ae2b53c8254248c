package import EventLog

/// The texts of decoder files on which depends what a payload gives: an anonymized payload must still have them.
///
/// More is taken than is needed: whatever stands in rules, steps, shapes and `dedupe`, names of effects among them. Samples are left
/// out.
package struct DecoderWords: Sendable {
    /// Names of members that pointers lead through.
    package private(set) var members: Set<String> = []
    /// Texts that values are compared with, or begin, end or are split with.
    package private(set) var texts: Set<String> = []

    /// No words.
    package init() {}

    /// Adds those of a file.
    package mutating func add(_ file: DecoderFile) {
        guard let root = try? YAMLDocument.node(of: file.text) else { return }
        for member in root.members ?? [] where ["rules", "steps", "shapes", "dedupe"].contains(member.name) {
            add(member.value)
        }
    }

    private mutating func add(_ node: YAMLNode) {
        switch node.value {
        case .absent: break
        case .text(let text, _): add(text)
        case .list(let elements): for element in elements { add(element) }
        case .map(let map):
            for member in map {
                add(member.name)
                if ["path", "pointer"].contains(member.name) { addParts(of: member.value) }
                if ["when", "unless", "holds"].contains(member.name) { addExpressions(of: member.value) }
                // What is written before a dot is the file's own word.
                if member.name.hasPrefix("query.") { members.insert(String(member.name.dropFirst(6))) }
                if member.name == "query", let name = member.value.text { members.insert(name) }
                add(member.value)
            }
        }
    }

    private mutating func add(_ text: String) {
        if let place = DecoderPlace(text) { members.formUnion(place.steps) }
        texts.insert(text)
    }

    /// The names and texts of expressions.
    private mutating func addExpressions(of node: YAMLNode) {
        for element in node.elements ?? [node] {
            guard let expression = element.text.flatMap({ try? ValueExpression(parsing: $0) }) else { continue }
            members.formUnion(expression.members)
            texts.formUnion(expression.texts)
        }
    }

    /// The literal parts of patterns of paths.
    private mutating func addParts(of node: YAMLNode) {
        for pattern in node.elements ?? [node] {
            texts.formUnion((pattern.text ?? "").split(separator: "/").filter { !$0.hasPrefix("{") }.map(String.init))
        }
    }
}

extension Decoders {
    /// The words of all files.
    package var words: DecoderWords {
        var words = DecoderWords()
        for source in sources { if let file = self[source] { words.add(file) } }
        return words
    }

    /// The files of sources that have other names elsewhere.
    ///
    /// - Parameter name: the other name of a source; `nil` if it has none there.
    package func renamed(_ name: (SourceName) -> SourceName?) -> Decoders {
        var renamed = Decoders()
        for source in sources { if let other = name(source) { renamed[other] = self[source] } }
        return renamed
    }
}
