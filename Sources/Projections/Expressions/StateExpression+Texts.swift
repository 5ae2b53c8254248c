extension StateExpression {
    /// The texts in the expression: ids, split into their parts, and texts that members are compared with.
    public var texts: Set<String> {
        var texts: Set<String> = []
        Self.collect(root, into: &texts)
        return texts
    }

    /// Adds the texts of a node and of all nodes below it.
    private static func collect(_ node: ExpressionNode, into texts: inout Set<String>) {
        switch node {
        case .literal(.string(let text)): texts.insert(text)
        case .literal, .member: break
        case .row(let selection, _), .count(let selection), .exists(let selection, _), .duplicate(let selection, _):
            texts.formUnion(selection.ids ?? [])
            if let filter = selection.filter { collect(filter, into: &texts) }
        case .not(let node): collect(node, into: &texts)
        case .and(let nodes), .or(let nodes): for node in nodes { collect(node, into: &texts) }
        case .compare(let left, _, let right):
            collect(left, into: &texts)
            collect(right, into: &texts)
        }
    }
}

extension StateExpression {
    /// The same expression with each text in it replaced by what `body` returns; `nil` if the result does not parse.
    ///
    /// Works on the text and not on the nodes, so the rest of it stays as written. An id in quotes is given whole to
    /// `body`, with its slashes.
    public func renaming(_ body: (String) -> String) -> StateExpression? {
        var result = ""
        var rest = description[...]
        // The expression parsed, so quotes occur only around texts.
        while let start = rest.firstIndex(where: { $0 == "\"" || $0 == "'" }) {
            result += rest[..<start]
            let quote = rest[start]
            var text = ""
            var index = rest.index(after: start)
            while index < rest.endIndex, rest[index] != quote {
                if rest[index] == "\\" {
                    index = rest.index(after: index)
                    guard index < rest.endIndex else { return nil }
                    text += Self.escaped(rest[index])
                } else {
                    text.append(rest[index])
                }
                index = rest.index(after: index)
            }
            guard index < rest.endIndex else { return nil }
            result += Self.quoted(body(text), by: quote)
            rest = rest[rest.index(after: index)...]
        }
        return try? StateExpression(parsing: result + rest)
    }

    /// The character that an escape means; the parser's `string` reads the same.
    private static func escaped(_ character: Character) -> String {
        switch character {
        case "n": "\n"
        case "t": "\t"
        default: String(character)
        }
    }

    /// The text in quotes, as the parser reads it back.
    private static func quoted(_ text: String, by quote: Character) -> String {
        var result = String(quote)
        for character in text {
            switch character {
            case quote, "\\": result += "\\\(character)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result.append(character)
            }
        }
        return result + String(quote)
    }
}
