/// A question about one JSON value that is answered with yes or no: `type == "post" and count(posts) > 1`. Names are its members.
///
/// The language is that of filters (`docs/expressions.md`).
struct ValueExpression: Sendable {
    private let root: ExpressionNode
    /// The names of members that it reads, and the texts that it compares them with.
    let members, texts: Set<String>

    private struct Subject: ExpressionSubject {
        let value: JSONValue
        subscript(name: String) -> JSONValue { value[name] ?? .null }
    }

    /// Parses an expression.
    ///
    /// - Throws: `ExpressionError` with the column at which the text cannot be parsed.
    init(parsing text: String) throws(ExpressionError) {
        var parser = ExpressionParser(text)
        root = try parser.parse(of: .value)
        var (members, texts): (Set<String>, Set<String>) = ([], [])
        root.collect(&members, &texts)
        (self.members, self.texts) = (members, texts)
    }

    /// The answer for a value; no if the expression gives neither yes nor no. Cost: O(expression), and for each `contains`, `count`
    /// and `duplicate` the length of what it looks at.
    func holds(for value: JSONValue) -> Bool {
        Steps.count(1)
        // A filter names no rows.
        return (try? root.truth(in: Subject(value: value)) { _ in .null }) ?? false
    }
}

extension ExpressionNode {
    /// Collects names of members and texts. Nodes that select rows are left out.
    fileprivate func collect(_ members: inout Set<String>, _ texts: inout Set<String>) {
        func note(_ steps: [ExpressionStep]) {
            for case .member(let name) in steps { members.insert(name) }
        }
        switch self {
        case .literal(.string(let text)): texts.insert(text)
        case .literal, .row, .count, .exists, .duplicate: break
        case .member(let steps), .memberCount(let steps), .memberExists(let steps): note(steps)
        case .memberDuplicate(let steps, let inner): note(steps + inner)
        case .not(let node): node.collect(&members, &texts)
        case .and(let nodes), .or(let nodes): for node in nodes { node.collect(&members, &texts) }
        case .compare(let left, _, let right):
            left.collect(&members, &texts)
            right.collect(&members, &texts)
        }
    }
}
