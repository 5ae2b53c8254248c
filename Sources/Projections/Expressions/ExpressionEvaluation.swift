import EventLog

/// Evaluates an expression in one state, which it does not change.
///
/// Whether it throws depends on the state: ids may fit several rows in one state only, and a member may be no truth
/// value in one row only.
struct ExpressionEvaluation {
    let state: LogState

    /// The value of a node; `row` is the row that the filter around it tests, `nil` outside filters.
    func value(of node: ExpressionNode, row: ExpressionRow?) throws(ExpressionError) -> JSONValue {
        try node.value(in: row) { selection throws(ExpressionError) in try value(of: selection) }
    }

    /// The value of a node that selects rows; null of any other.
    private func value(of node: ExpressionNode) throws(ExpressionError) -> JSONValue {
        switch node {
        case .row(let selection, let steps):
            return ExpressionNode.follow(steps, from: try only(selection).map(ExpressionRow.init))
        case .count(let selection):
            var count = 0
            try forEachRow(of: selection) { _ in
                count += 1
                return true
            }
            return .int(count)
        case .exists(let selection, let steps): return .bool(try exists(selection, steps))
        case .duplicate(let selection, let steps): return .bool(try hasDuplicate(selection, steps))
        case .literal, .member, .memberCount, .memberExists, .memberDuplicate, .not, .and, .or, .compare: return .null
        }
    }

    /// Whether a row fits and, with steps, has a value there that is not null. Stops at the first.
    private func exists(_ selection: ExpressionSelection, _ steps: [ExpressionStep]) throws(ExpressionError) -> Bool {
        var found = false
        try forEachRow(of: selection) { row in
            // A row is never null.
            found = steps.isEmpty || ExpressionNode.follow(steps, from: row) != .null
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
            let value = ExpressionNode.follow(steps, from: row)
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
                return try filter.truth(in: row) { selection throws(ExpressionError) in try value(of: selection) }
                    ? body(row) : true
            } catch {
                // The visitor takes no throwing closure, so the error waits until the visit has ended.
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }
}
