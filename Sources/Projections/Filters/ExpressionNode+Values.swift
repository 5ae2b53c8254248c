/// What the members in a filter are read from.
protocol ExpressionSubject {
    /// The whole of it.
    var value: JSONValue { get }
    /// A member; null if absent.
    subscript(name: String) -> JSONValue { get }
}

extension ExpressionNode {
    /// The value of the node.
    ///
    /// - Parameters:
    ///   - row: what the members are read from; `nil` outside of filters.
    ///   - selected: the value of a node that selects rows of a state.
    func value(
        in row: (any ExpressionSubject)?,
        _ selected: (ExpressionNode) throws(ExpressionError) -> JSONValue
    ) throws(ExpressionError) -> JSONValue {
        switch self {
        case .literal(let value): return value
        case .member(let steps): return Self.follow(steps, from: row)
        case .row, .count, .exists, .duplicate: return try selected(self)
        case .memberCount(let steps): return .int(Self.follow(steps, from: row).array?.count ?? 0)
        case .memberExists(let steps): return .bool(Self.follow(steps, from: row) != .null)
        case .memberDuplicate(let steps, let inner):
            var seen: Set<JSONValue> = []
            let values = (Self.follow(steps, from: row).array ?? []).map { Self.follow(inner[...], from: $0) }
            return .bool(!values.allSatisfy { $0 == .null || seen.insert($0).inserted })
        case .not(let node): return .bool(try !node.truth(in: row, selected))
        // From left to right. What follows the side that decides is not evaluated, so an error there does not show.
        case .and(let nodes):
            for node in nodes where try !node.truth(in: row, selected) { return .bool(false) }
            return .bool(true)
        case .or(let nodes):
            for node in nodes where try node.truth(in: row, selected) { return .bool(true) }
            return .bool(false)
        case .compare(let left, let comparison, let right):
            return .bool(
                Self.compare(try left.value(in: row, selected), comparison, try right.value(in: row, selected))
            )
        }
    }

    /// The value of the node as a truth value; null counts as false. Any other value is an error at column 1, since nodes do not
    /// keep their columns.
    func truth(
        in row: (any ExpressionSubject)?,
        _ selected: (ExpressionNode) throws(ExpressionError) -> JSONValue
    ) throws(ExpressionError) -> Bool {
        switch try value(in: row, selected) {
        case .bool(let answer): return answer
        case .null: return false
        case let other: throw ExpressionError(column: 1, reason: "\(other.canonicalText) is neither true nor false")
        }
    }

    /// The value at the end of a path into a row; null as soon as a step finds nothing. Without steps, the whole row.
    static func follow(_ steps: [ExpressionStep], from row: (any ExpressionSubject)?) -> JSONValue {
        guard let row else { return .null }
        guard let first = steps.first else { return row.value }
        guard case .member(let name) = first else { return .null }
        return follow(steps.dropFirst(), from: row[name])
    }

    /// The value at the end of a path into another value.
    private static func follow(_ steps: ArraySlice<ExpressionStep>, from start: JSONValue) -> JSONValue {
        var value = start
        for step in steps {
            switch step {
            case .member(let name): value = value[name] ?? .null
            case .index(let index):
                let array = value.array ?? []
                value = index < array.count ? array[index] : .null
            }
        }
        return value
    }

    private static func compare(_ left: JSONValue, _ comparison: ExpressionOperator, _ right: JSONValue) -> Bool {
        switch comparison {
        case .equal: areEqual(left, right)
        case .unequal: !areEqual(left, right)
        case .less: isLess(left, right)
        case .greater: isLess(right, left)
        // Equal values without an order, such as two nulls, are neither less nor equal here.
        case .lessOrEqual: isLess(left, right) || isOrdered(left, right) && areEqual(left, right)
        case .greaterOrEqual: isLess(right, left) || isOrdered(left, right) && areEqual(left, right)
        case .contains: contains(left, right)
        }
    }

    /// Whether two values are one JSON value, as `diff` compares them.
    private static func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
        left.isSameJSON(as: right)
    }

    /// Whether two values have an order: both are numbers or both are texts.
    private static func isOrdered(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.number, .number), (.string, .string): true
        default: false
        }
    }

    /// Compares numbers by their exact value, without floating point (I10), and texts by their UTF-8 bytes; other values
    /// have no order.
    private static func isLess(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.number(let left), .number(let right)):
            if let left = left.int64, let right = right.int64 { return left < right }
            guard let left = DecimalNumber(left.text), let right = DecimalNumber(right.text) else { return false }
            return left < right
        default: return false
        }
    }

    /// Whether a list contains an element, or a text contains another.
    private static func contains(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.array(let elements), _): elements.contains { areEqual($0, right) }
        case (.string(let text), .string(let part)):
            Array(text.utf8).firstRange(of: Array(part.utf8)) != nil || part.isEmpty
        default: false
        }
    }
}
