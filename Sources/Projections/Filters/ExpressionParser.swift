/// Parses the text of an expression (`docs/expressions.md`), by recursive descent: `or`, `and`, `not`, comparison,
/// operand.
///
/// `depthMax` bounds the recursion here and over the nodes: a chain of `or` or `and` is one node with a list.
struct ExpressionParser {
    /// How many parentheses and filters may enclose each other.
    private static let depthMax = 64
    private static let textBytesMax = 65_536

    /// Empty if the text is too long, which `parse` reports.
    private let text: [Character]
    private var place = 0
    private var depth = 0
    /// The sections named so far, also in filters.
    private(set) var sections: Set<Section> = []

    init(_ text: String) {
        self.text = text.utf8.count > Self.textBytesMax ? [] : Array(text)
        isTooLong = text.utf8.count > Self.textBytesMax
    }

    private let isTooLong: Bool

    /// Parses the whole text. Call it once.
    ///
    /// - Parameter row: what the expression is a filter of; `nil` for one of a whole state.
    mutating func parse(of row: ExpressionRowKind? = nil) throws(ExpressionError) -> ExpressionNode {
        if isTooLong { throw error("an expression has at most \(Self.textBytesMax) bytes") }
        let node = try or(of: row)
        assert(depth == 0, "every level that was entered is left")
        skipSpace()
        guard place == text.count else { throw error("\"\(text[place])\" cannot follow here; and, or or the end can") }
        return node
    }

    // MARK: - Grammar

    /// - Parameter row: what a filter tests: names are its members then, and a comma means `and`.
    private mutating func or(of row: ExpressionRowKind?) throws(ExpressionError) -> ExpressionNode {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.depthMax { throw error("the expression is nested more than \(Self.depthMax) levels deep") }
        var nodes = [try and(of: row)]
        while take("||") || takeWord("or") { nodes.append(try and(of: row)) }
        return nodes.count == 1 ? nodes[0] : .or(nodes)
    }

    private mutating func and(of row: ExpressionRowKind?) throws(ExpressionError) -> ExpressionNode {
        var nodes = [try not(of: row)]
        while take("&&") || takeWord("and") || row != nil && take(",") { nodes.append(try not(of: row)) }
        return nodes.count == 1 ? nodes[0] : .and(nodes)
    }

    private mutating func not(of row: ExpressionRowKind?) throws(ExpressionError) -> ExpressionNode {
        var isNegated = false
        while takeNegation() || takeWord("not") { isNegated.toggle() }
        let node = try comparison(of: row)
        return isNegated ? .not(node) : node
    }

    /// Takes `!`, but not the `!` of `!=`.
    private mutating func takeNegation() -> Bool {
        skipSpace()
        guard place < text.count, text[place] == "!", place + 1 == text.count || text[place + 1] != "=" else {
            return false
        }
        place += 1
        return true
    }

    /// Reads one operand, or two with an operator between them. Comparisons do not chain: `1 < 2 < 3` is an error.
    private mutating func comparison(of row: ExpressionRowKind?) throws(ExpressionError) -> ExpressionNode {
        let left = try operand(of: row)
        guard let comparison = takeOperator() else { return left }
        return .compare(left, comparison, try operand(of: row))
    }

    private mutating func takeOperator() -> ExpressionOperator? {
        // In the order of the cases: `<=` precedes `<`, which would take its first character.
        for known in ExpressionOperator.allCases where known != .contains && take(known.rawValue) { return known }
        if take("=") { return .equal }
        return takeWord("contains") ? .contains : nil
    }

    /// Reads a value, a member, a row, a function, or anything in parentheses.
    private mutating func operand(of row: ExpressionRowKind?) throws(ExpressionError) -> ExpressionNode {
        skipSpace()
        guard place < text.count else { throw error("a value is missing at the end") }
        if take("(") {
            let node = try or(of: row)
            try expect(")")
            return node
        }
        if text[place] == "\"" || text[place] == "'" { return .literal(.string(try string())) }
        if text[place] == "-" || text[place].isASCIIDigit { return .literal(try number()) }
        // Counted from 0 while parsing; errors and selections count from 1.
        let column = place
        let name = try word()
        switch name {
        case "true": return .literal(.bool(true))
        case "false": return .literal(.bool(false))
        case "null": return .literal(.null)
        default: break
        }
        // Within a filter no other list can be named, so evaluation never visits lists within lists.
        if let kind = row {
            if take("(") { return try memberFunction(name, of: kind, at: column) }
            place = column
            return .member(try member(of: kind))
        }
        return try take("(") ? function(name, at: column) : self.row(name, at: column)
    }

    /// Reads a function's arguments behind its opening parenthesis. `column` counts from 0.
    private mutating func function(_ name: String, at column: Int) throws(ExpressionError) -> ExpressionNode {
        let node: ExpressionNode
        switch name {
        case "count": node = .count(try selection())
        case "exists":
            let rows = try selection()
            node = .exists(rows, try steps(of: rows.section))
        case "duplicate":
            let rows = try selection()
            try expect(",")
            node = .duplicate(rows, try member(of: .section(rows.section)))
        default: throw unknownFunction(name, at: column)
        }
        try expect(")")
        return node
    }

    /// Reads a function's argument within a filter: a member of the row.
    private mutating func memberFunction(
        _ name: String,
        of row: ExpressionRowKind,
        at column: Int
    ) throws(ExpressionError) -> ExpressionNode {
        let node: ExpressionNode
        switch name {
        case "count": node = .memberCount(try member(of: row))
        case "exists": node = .memberExists(try member(of: row))
        case "duplicate":
            let list = try member(of: row)
            guard case .member(let last) = list.last else { throw error("duplicate takes a list") }
            node = .memberDuplicate(
                list,
                take(",")
                    ? try steps(first: row.members == nil ? nil : Section.shape(of: last).memberNames, in: last) : []
            )
        default: throw unknownFunction(name, at: column)
        }
        try expect(")")
        return node
    }

    /// `column` counts from 0.
    private mutating func unknownFunction(_ name: String, at column: Int) -> ExpressionError {
        place = column
        let known = ["count", "exists", "duplicate"]
        let near = Suggestion.clause(for: name, among: known)
        return error("there is no function \"\(name)\"; there are count, exists and duplicate\(near)")
    }

    /// Reads a row named by ids, and the way to a member. `column` is where its name begins, counted from 0.
    private mutating func row(_ name: String, at column: Int) throws(ExpressionError) -> ExpressionNode {
        place = column
        let rows = try selection()
        guard rows.ids != nil else {
            place = column
            throw error("\"\(name)\" is a list: write \(name)[\"ID\"].MEMBER, count(\(name)) or exists(\(name)[…])")
        }
        return .row(rows, try steps(of: rows.section))
    }

    /// Reads a section and, in brackets, the ids of a row or a filter. A quote decides which.
    private mutating func selection() throws(ExpressionError) -> ExpressionSelection {
        skipSpace()
        let column = place
        let name = try word()
        guard let section = Section(rawValue: name) else {
            place = column
            let known = Section.allCases.map(\.rawValue).joined(separator: ", ")
            throw error("a state has no part \"\(name)\"; it has \(known)")
        }
        sections.insert(section)
        var rows = ExpressionSelection(section: section, column: column + 1)
        guard take("[") else { return rows }
        skipSpace()
        if place < text.count, text[place] == "\"" || text[place] == "'" {
            // Any kind would do: only the splitting into parts is of use, and the section gives the kind.
            rows.ids = EntityReference("message:" + (try string()))?.parts
            if rows.ids == nil { throw error("an id is missing") }
        } else {
            rows.filter = try or(of: .section(section))
        }
        try expect("]")
        return rows
    }

    /// Reads a member of a row, and the way on from there.
    private mutating func member(of row: ExpressionRowKind) throws(ExpressionError) -> [ExpressionStep] {
        try steps(first: row.members, in: row.name)
    }

    /// Reads `.NAME` and the way on from there, or nothing.
    private mutating func steps(of section: Section) throws(ExpressionError) -> [ExpressionStep] {
        take(".") ? try member(of: .section(section)) : []
    }

    /// Reads a name and any number of `.NAME` and `[N]`.
    ///
    /// - Parameters:
    ///   - known: the names that can stand first; `nil` for any.
    ///   - owner: what has them, for errors.
    private mutating func steps(first known: [String]?, in owner: String) throws(ExpressionError) -> [ExpressionStep] {
        skipSpace()
        var (known, owner) = (known, owner)
        var steps: [ExpressionStep] = []
        repeat {
            let column = place
            let name = try word()
            if let known, !known.contains(name) { throw unknownMember(name, of: owner, known, at: column) }
            steps.append(.member(name))
            known = known == nil ? nil : Section.shape(of: name).memberNames
            owner = name
            while take("[") {
                skipSpace()
                guard case .number(let number) = try number(), let index = number.uint64.flatMap({ Int(exactly: $0) })
                else { throw error("a place in a list is a number from 0 on") }
                steps.append(.index(index))
                try expect("]")
            }
        } while take(".")
        return steps
    }

    /// `column` counts from 0.
    private mutating func unknownMember(
        _ name: String,
        of owner: String,
        _ known: [String],
        at column: Int
    ) -> ExpressionError {
        place = column
        guard !known.isEmpty else { return error("\"\(owner)\" has no members, so there is no \"\(name)\"") }
        let near = Suggestion.clause(for: name, among: known)
        // Another part of the state can be named only outside of a filter.
        let part = Section(rawValue: name).map { "; \($0.rawValue) is a part of the state, not of a row" } ?? ""
        return error("no member \"\(name)\" in \(owner); there are \(known.joined(separator: ", "))\(part)\(near)")
    }

    // MARK: - Characters

    private mutating func skipSpace() {
        while place < text.count, text[place].isWhitespace { place += 1 }
    }

    private mutating func take(_ symbol: String) -> Bool {
        skipSpace()
        let symbol = Array(symbol)
        guard text[place...].starts(with: symbol) else { return false }
        place += symbol.count
        return true
    }

    /// Takes a whole word; false, without moving, if another follows. `order` does not begin with the word `or`.
    private mutating func takeWord(_ wanted: String) -> Bool {
        skipSpace()
        let start = place
        if let found = try? word(), found == wanted { return true }
        place = start
        return false
    }

    private mutating func expect(_ symbol: String) throws(ExpressionError) {
        guard take(symbol) else {
            let found = place < text.count ? "\"\(text[place])\"" : "the end"
            throw error("\(found) is where \"\(symbol)\" is expected")
        }
    }

    /// Takes a name: ASCII letters, digits and `_`, no digit first.
    private mutating func word() throws(ExpressionError) -> String {
        skipSpace()
        let start = place
        while place < text.count,
            text[place].isASCIILetter || text[place] == "_"
                || place > start && text[place].isASCIIDigit
        {
            place += 1
        }
        guard place > start else {
            let found = place < text.count ? "\"\(text[place])\"" : "the end"
            throw error("\(found) is where a name or a value is expected")
        }
        return String(text[start..<place])
    }

    /// Takes a whole number of 64 bits; there are no fractions.
    private mutating func number() throws(ExpressionError) -> JSONValue {
        let start = place
        if place < text.count, text[place] == "-" { place += 1 }
        while place < text.count, text[place].isASCIIDigit { place += 1 }
        guard let number = Int64(String(text[start..<place])) else {
            place = start
            throw error("this is no whole number of 64 bits")
        }
        return .int(number)
    }

    /// A text in double or single quotes; `\` takes the next character as it is, but for `\n` and `\t`.
    private mutating func string() throws(ExpressionError) -> String {
        let (start, quote) = (place, text[place])
        var result = ""
        place += 1
        while place < text.count, text[place] != quote {
            if text[place] == "\\", place + 1 < text.count {
                place += 1
                result.append(text[place] == "n" ? "\n" : text[place] == "t" ? "\t" : text[place])
            } else {
                result.append(text[place])
            }
            place += 1
        }
        guard place < text.count else {
            place = start
            throw error("the text that begins here has no closing \(quote)")
        }
        place += 1
        return result
    }

    /// An error at the current place. Where an earlier place is to blame, set `place` first.
    private func error(_ reason: String) -> ExpressionError {
        ExpressionError(column: place + 1, reason: reason)
    }
}

/// What the names in a filter are members of.
enum ExpressionRowKind: Sendable {
    /// A row of a part of the state.
    case section(Section)
    /// Any object: every name may stand.
    case value

    /// The names that can stand first; `nil` for any.
    fileprivate var members: [String]? {
        switch self {
        case .section(let section): section.rowMembers
        case .value: nil
        }
    }

    fileprivate var name: String {
        switch self {
        case .section(let section): section.rawValue
        case .value: "the value"
        }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) && isASCII }
    fileprivate var isASCIILetter: Bool { isASCII && isLetter }
}
