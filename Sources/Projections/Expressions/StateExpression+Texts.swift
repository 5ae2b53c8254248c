extension StateExpression {
    /// The texts that the expression names: ids, and what members are compared with.
    public var texts: Set<String> {
        var texts: Set<String> = []
        Self.collect(root, into: &texts)
        return texts
    }

    private static func collect(_ node: ExpressionNode, into texts: inout Set<String>) {
        switch node {
        case .literal(.string(let text)): texts.insert(text)
        case .literal, .member: break
        case .row(let selection, _), .count(let selection), .exists(let selection, _), .duplicate(let selection, _):
            texts.formUnion(selection.ids ?? [])
            if let filter = selection.filter { collect(filter, into: &texts) }
        case .not(let node): collect(node, into: &texts)
        case .and(let left, let right), .or(let left, let right), .compare(let left, _, let right):
            collect(left, into: &texts)
            collect(right, into: &texts)
        }
    }
}
