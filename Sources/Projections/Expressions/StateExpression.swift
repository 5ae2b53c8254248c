/// A question about a state that is answered with yes or no: `count(messages[channel="10"]) > 3`.
///
/// `docs/expressions.md` describes the language. An expression reads only the rows of the state document, so equal
/// states give equal answers. A member that a row lacks is null. Values of different types are neither equal nor
/// ordered.
public struct StateExpression: Sendable, CustomStringConvertible {
    /// The expression's text, as it was given.
    public let description: String
    /// The sections of the state document that the answer depends on.
    public let sections: Set<Section>
    let root: ExpressionNode

    /// Parses an expression.
    ///
    /// - Throws: `ExpressionError` with the column at which the text cannot be parsed.
    public init(parsing text: String) throws(ExpressionError) {
        var parser = ExpressionParser(text)
        root = try parser.parse()
        description = text
        sections = parser.sections
    }

    /// Whether passing time alone can change the answer, without an event that touches a row: typing ends, and sessions
    /// become stale and expire.
    public var dependsOnTime: Bool {
        !sections.isDisjoint(with: [.typing, .sessions, .sessionAggregates])
    }

    /// A text that some message says, or said before it was deleted, in every state in which the expression holds; `nil` if it
    /// names none.
    package var neededText: String? { root.neededText }

    /// The answer in a state.
    ///
    /// Cost: O(1) for a row named by source and ids, O(messages of the channel) for `messages[channel=…]`, O(rows of
    /// the section) for any other list.
    /// - Throws: `ExpressionError` if ids fit several rows, or if the expression's value is neither true nor false.
    public func holds(in state: LogState) throws(ExpressionError) -> Bool {
        let evaluation = ExpressionEvaluation(state: state)
        let value = try evaluation.value(of: root, row: nil)
        guard case .bool(let answer) = value else {
            throw ExpressionError(
                column: 1,
                reason: "the expression gives \(value.canonicalText), which is neither true nor false"
            )
        }
        return answer
    }
}
