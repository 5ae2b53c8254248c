import EventLog

/// Evaluates an expression in one state, which it does not change.
///
/// Whether it throws depends on the state: ids may fit several rows in one state only, and a member may be no truth
/// value in one row only.
struct ExpressionEvaluation {
    let state: LogState

    /// The value of a node; `row` is the row that the filter around it tests, `nil` outside filters.
    func value(of node: ExpressionNode, row: ExpressionRow?) throws(ExpressionError) -> JSONValue {
        switch node {
        case .literal(let value): return value
        case .member(let steps): return Self.follow(steps, from: row)
        case .row(let selection, let steps):
            return Self.follow(steps, from: try only(selection).map(ExpressionRow.init))
        case .count(let selection):
            var count = 0
            try forEachRow(of: selection) { _ in
                count += 1
                return true
            }
            return .int(count)
        case .exists(let selection, let steps): return .bool(try exists(selection, steps))
        case .duplicate(let selection, let steps): return .bool(try hasDuplicate(selection, steps))
        case .memberCount(let steps): return .int(Self.follow(steps, from: row).array?.count ?? 0)
        case .memberExists(let steps): return .bool(Self.follow(steps, from: row) != .null)
        case .memberDuplicate(let steps, let inner):
            var seen: Set<JSONValue> = []
            let values = (Self.follow(steps, from: row).array ?? []).map { Self.follow(inner[...], from: $0) }
            return .bool(!values.allSatisfy { $0 == .null || seen.insert($0).inserted })
        case .not(let node): return .bool(try !truth(of: node, row: row))
        // From left to right. What follows the side that decides is not evaluated, so an error there does not show.
        case .and(let nodes):
            for node in nodes where try !truth(of: node, row: row) { return .bool(false) }
            return .bool(true)
        case .or(let nodes):
            for node in nodes where try truth(of: node, row: row) { return .bool(true) }
            return .bool(false)
        case .compare(let left, let comparison, let right):
            return .bool(
                Self.compare(try value(of: left, row: row), comparison, try value(of: right, row: row))
            )
        }
    }

    /// The value of a node as a truth value; null counts as false. Any other value is an error at column 1, since nodes
    /// do not keep their columns.
    private func truth(of node: ExpressionNode, row: ExpressionRow?) throws(ExpressionError) -> Bool {
        switch try value(of: node, row: row) {
        case .bool(let answer): return answer
        case .null: return false
        case let other: throw ExpressionError(column: 1, reason: "\(other.canonicalText) is neither true nor false")
        }
    }

    /// Whether a row fits and, with steps, has a value there that is not null. Stops at the first.
    private func exists(_ selection: ExpressionSelection, _ steps: [ExpressionStep]) throws(ExpressionError) -> Bool {
        var found = false
        try forEachRow(of: selection) { row in
            // A row is never null.
            found = steps.isEmpty || Self.follow(steps, from: row) != .null
            return !found
        }
        return found
    }

    /// Whether two rows have one value there; null is no value. Memory: O(values until the first duplicate).
    private func hasDuplicate(
        _ selection: ExpressionSelection,
        _ steps: [ExpressionStep]
    ) throws(ExpressionError) -> Bool {
        var seen: Set<JSONValue> = []
        var found = false
        try forEachRow(of: selection) { row in
            let value = Self.follow(steps, from: row)
            if value != .null { found = !seen.insert(value).inserted }
            return !found
        }
        return found
    }

    /// The one row that a selection's ids name; `nil` if none fits, an error if several do. Looks at two rows at most.
    private func only(_ selection: ExpressionSelection) throws(ExpressionError) -> JSONValue? {
        var rows: [JSONValue] = []
        try forEachRow(of: selection) { row in
            rows.append(row.value)
            return rows.count < 2
        }
        guard rows.count < 2 else {
            let ids = (selection.ids ?? []).joined(separator: "/")
            throw ExpressionError(
                column: selection.column,
                reason: "several \(selection.section.rawValue) fit \"\(ids)\"; write the source too"
            )
        }
        return rows.first
    }

    /// Calls `body` with each row that fits a selection and its filter, in no particular order, until it returns false.
    /// The answer may not depend on that order (I10).
    private func forEachRow(
        of selection: ExpressionSelection,
        _ body: (ExpressionRow) -> Bool
    ) throws(ExpressionError) {
        var failure: ExpressionError?
        state.forEachRow(in: selection) { row in
            guard let filter = selection.filter else { return body(row) }
            do throws(ExpressionError) {
                return try truth(of: filter, row: row) ? body(row) : true
            } catch {
                // The visitor takes no throwing closure, so the error waits until the visit has ended.
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// The value at the end of a path into a row; null as soon as a step finds nothing. Without steps, the whole row.
    private static func follow(_ steps: [ExpressionStep], from row: ExpressionRow?) -> JSONValue {
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
