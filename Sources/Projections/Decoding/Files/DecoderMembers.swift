/// The members of one object of a decoder file, by name.
struct DecoderMembers {
    let node: YAMLNode
    private let what: String

    init(_ node: YAMLNode, of what: String) throws(DecoderFileError) {
        guard node.members != nil else { throw DecoderFileError(node.line, "\(what) is an object with named members") }
        (self.node, self.what) = (node, what)
    }

    subscript(name: String) -> YAMLNode? { node.members?.first { $0.name == name }?.value }

    /// The line of a member, or else of the object.
    func line(_ name: String) -> Int { node.members?.first { $0.name == name }?.line ?? node.line }

    /// Refuses members of other names.
    func allow(_ names: [String]) throws(DecoderFileError) {
        guard let other = node.members?.first(where: { !names.contains($0.name) }) else { return }
        throw DecoderFileError(
            other.line,
            "\(what) has no member \"\(other.name)\"; there is \(names.joined(separator: ", "))"
        )
    }

    func text(_ name: String) throws(DecoderFileError) -> String {
        guard let text = self[name]?.text else {
            throw DecoderFileError(line(name), "\(what) has \(name), a text")
        }
        return text
    }

    /// One of some words; `nil` if it is not there.
    func word(_ name: String, of words: [String]) throws(DecoderFileError) -> String? {
        guard let node = self[name] else { return nil }
        guard let text = node.text, words.contains(text) else {
            throw DecoderFileError(node.line, "\(name) is one of \(words.joined(separator: ", "))")
        }
        return text
    }

    /// A list of some of the names; `nil` if it is not there.
    func texts(_ name: String, of names: [String]) throws(DecoderFileError) -> [String]? {
        guard let node = self[name] else { return nil }
        guard let elements = node.elements else { throw DecoderFileError(node.line, "\(name) is a list of members") }
        var texts: [String] = []
        for element in elements {
            guard let text = element.text, names.contains(text) else {
                throw DecoderFileError(element.line, "\(name) lists some of \(names.joined(separator: ", "))")
            }
            texts.append(text)
        }
        return texts
    }

    func members(_ name: String) throws(DecoderFileError) -> [YAMLNode.Member]? {
        guard let node = self[name] else { return nil }
        guard let members = node.members else { throw DecoderFileError(node.line, "\(name) is an object") }
        return members
    }
}
