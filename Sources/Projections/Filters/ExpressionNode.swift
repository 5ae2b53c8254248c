/// Why an expression cannot be parsed or answered.
public struct ExpressionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place in the text, in characters from 1; 1 if the answer is neither true nor false.
    public let column: Int
    /// The mistake at that place, and how to mend it.
    public let reason: String

    /// The column and the reason.
    public var description: String { "column \(column): \(reason)" }
}

/// A node of a parsed expression.
indirect enum ExpressionNode: Sendable {
    case literal(JSONValue)
    /// A member of the row that a filter tests, such as `reactions[0].emoji`.
    case member([ExpressionStep])
    /// How many elements a list has that the row has as a member; 0 without one.
    case memberCount([ExpressionStep])
    /// Whether the row has a value there that is not null.
    case memberExists([ExpressionStep])
    /// Whether two elements of a member's list have equal values, or equal values of a member, that are not null.
    case memberDuplicate([ExpressionStep], [ExpressionStep])
    /// A member of the one row that a selection names; null if no row fits. Several that fit are an error.
    case row(ExpressionSelection, [ExpressionStep])
    case count(ExpressionSelection)
    case exists(ExpressionSelection, [ExpressionStep])
    /// Whether two rows of a selection have equal values of a member that is not null.
    case duplicate(ExpressionSelection, [ExpressionStep])
    case not(ExpressionNode)
    /// At least two. One list instead of pairs: a chain of thousands is no deeper than one of two.
    case and([ExpressionNode])
    case or([ExpressionNode])
    case compare(ExpressionNode, ExpressionOperator, ExpressionNode)
}

/// One step into a value.
enum ExpressionStep: Sendable {
    case member(String)
    /// The place in a list, from 0.
    case index(Int)
}

/// How two values are compared.
enum ExpressionOperator: String, Sendable, CaseIterable {
    case equal = "=="
    case unequal = "!="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"
    case contains
}

/// Rows of one section.
struct ExpressionSelection: Sendable {
    let section: Section
    /// Ids as in an entity reference, source first; leading parts may be missing. A selection has ids, a filter, or
    /// neither, and never both.
    var ids: [String]?
    var filter: ExpressionNode?
    /// The column at which it begins in the text, from 1.
    let column: Int

    /// The text that the filter requires a member to equal in every row; `nil` if it requires none. Lets the state
    /// visit fewer rows; the filter still decides.
    func demanded(_ name: String) -> String? {
        filter.flatMap { Self.demanded(name, by: $0) }
    }

    private static func demanded(_ name: String, by node: ExpressionNode) -> String? {
        switch node {
        // If several sides demand a text, one is enough: a row that lacks it fails the filter anyway.
        case .and(let nodes): nodes.lazy.compactMap { demanded(name, by: $0) }.first
        case .compare(.member(let steps), .equal, .literal(.string(let text))):
            if case .member(name) = steps.first, steps.count == 1 { text } else { nil }
        default: nil
        }
    }

    /// A text that a member of every row contains if the filter accepts it; `nil` if the filter accepts others, or can have no
    /// answer before it comes to that member.
    func demandedPart(of name: String) -> String? {
        guard let filter else { return nil }
        guard case .and(let nodes) = filter else { return Self.part(of: name, in: filter) }
        for node in nodes {
            if let text = Self.part(of: name, in: node) { return text }
            // Comparisons of members alone always have an answer.
            guard case .compare(let left, _, let right) = node, left.isPlain, right.isPlain else { return nil }
        }
        return nil
    }

    private static func part(of name: String, in node: ExpressionNode) -> String? {
        guard case .compare(.member(let steps), let comparison, .literal(.string(let text))) = node, steps.count == 1,
            case .member(name) = steps[0], comparison == .equal || comparison == .contains
        else { return nil }
        return text
    }
}

extension ExpressionNode {
    /// Whether the node is a literal or a member of the filtered row.
    fileprivate var isPlain: Bool {
        switch self {
        case .literal, .member: true
        default: false
        }
    }
}

extension ExpressionNode {
    /// A text that the content of some message contains, live or deleted, wherever the node is true; `nil` if there need be none.
    var neededText: String? {
        switch self {
        case .exists(let selection, _): selection.neededText
        case .compare(.count(let selection), .greater, .literal(.number(let count))):
            (count.int64 ?? -1) >= 0 ? selection.neededText : nil
        // One that is needed is enough: without it the whole is false.
        case .and(let nodes): nodes.lazy.compactMap(\.neededText).first
        default: nil
        }
    }
}

extension ExpressionSelection {
    /// A text that the content of every message of the selection contains; `nil` if it demands none, or is of other rows.
    fileprivate var neededText: String? { section.isOfMessages ? demandedPart(of: "content") : nil }
}
