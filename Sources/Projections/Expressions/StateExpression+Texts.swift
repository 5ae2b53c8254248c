extension StateExpression {
    /// The texts in the expression: ids, split into their parts, and texts that members are compared with.
    public var texts: Set<String> {
        Set(named.flatMap { $0.ids ?? [$0.text] })
    }

    /// The texts in the expression in order, each with the member that it is compared with. Ids of rows are whole, and
    /// have `table` as their member.
    package var namedTexts: [(text: String, member: String?)] { named.map { ($0.text, $0.member) } }

    /// The names of members of rows in the expression, at any depth.
    package var members: Set<String> {
        var names: Set<String> = []
        Self.walk(root) { _ in
        } step: {
            if case .member(let name) = $0 { names.insert(name) }
        }
        return names
    }

    /// A text in quotes.
    private struct Named {
        let text: String
        /// The parts of an id.
        var ids: [String]?
        var member: String?
    }

    private var named: [Named] {
        var found: [Named] = []
        Self.walk(root) {
            found.append($0)
        } step: { _ in
        }
        return found
    }

    /// Visits the texts and steps of a node and of all nodes below it, in the order of the text.
    private static func walk(
        _ node: ExpressionNode,
        beside other: ExpressionNode? = nil,
        text: (Named) -> Void,
        step: (ExpressionStep) -> Void
    ) {
        switch node {
        case .literal(.string(let string)): text(Named(text: string, member: other.flatMap(member)))
        case .literal: break
        case .member(let steps), .memberCount(let steps), .memberExists(let steps): steps.forEach(step)
        case .memberDuplicate(let steps, let inner): (steps + inner).forEach(step)
        case .count(let selection): walk(selection, text, step)
        case .row(let selection, let steps), .exists(let selection, let steps), .duplicate(let selection, let steps):
            walk(selection, text, step)
            steps.forEach(step)
        case .not(let node): walk(node, text: text, step: step)
        case .and(let nodes), .or(let nodes): for node in nodes { walk(node, text: text, step: step) }
        case .compare(let left, _, let right):
            walk(left, beside: right, text: text, step: step)
            walk(right, beside: left, text: text, step: step)
        }
    }

    private static func walk(
        _ selection: ExpressionSelection,
        _ text: (Named) -> Void,
        _ step: (ExpressionStep) -> Void
    ) {
        if let ids = selection.ids {
            text(Named(text: ids.joined(separator: "/"), ids: ids, member: selection.section == .rows ? "table" : nil))
        }
        if let filter = selection.filter { walk(filter, text: text, step: step) }
    }

    /// The last member on the way to a value; `nil` for a value without one.
    private static func member(_ node: ExpressionNode) -> String? {
        switch node {
        case .member(let steps), .row(_, let steps):
            steps.reversed().lazy.compactMap { if case .member(let name) = $0 { name } else { nil } }.first
        default: nil
        }
    }
}

extension StateExpression {
    /// The same expression with each text in it replaced by what `body` returns; `nil` if the result does not parse.
    ///
    /// Works on the text and not on the nodes, so the rest of it stays as written. An id in quotes is given whole to
    /// `body`, with its slashes.
    public func renaming(_ body: (String) -> String) -> StateExpression? {
        renaming(naming: { text, _ in body(text) })
    }

    /// The same expression as `renaming`, where `body` also gets the member that the text is compared with.
    package func renaming(naming body: (String, String?) -> String) -> StateExpression? {
        var members = named.map(\.member)[...]
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
            result += Self.quoted(body(text, members.popFirst() ?? nil), by: quote)
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
