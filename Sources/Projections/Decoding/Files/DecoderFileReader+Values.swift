/// Reading tests and values.
extension DecoderFileReader {
    // MARK: - Tests

    mutating func tests(_ node: YAMLNode) throws(DecoderFileError) -> DecoderTests {
        var tests = DecoderTests()
        for element in node.elements ?? [node] { tests.groups.append(try group(element)) }
        return tests
    }

    /// An expression over the value that a test looks at.
    private func expression(_ node: YAMLNode) throws(DecoderFileError) -> DecoderCondition {
        guard let text = node.text else { throw DecoderFileError(node.line, "an expression is a text") }
        do throws(ExpressionError) {
            return .holds(try ValueExpression(parsing: text))
        } catch {
            throw DecoderFileError(node.line, "in the expression, \(error)")
        }
    }

    private mutating func group(_ node: YAMLNode) throws(DecoderFileError) -> DecoderTests.Group {
        if node.text != nil {
            try count(node.line)
            let here = DecoderPlace(start: .here, steps: [])
            let test = DecoderTests.Test(value: .place(here), condition: try expression(node))
            return DecoderTests.Group(tests: [test])
        }
        guard let members = node.members else {
            throw DecoderFileError(node.line, "when is an object of tests, an expression, or a list of such")
        }
        var paths: [DecoderTests.Pattern] = []
        var tests: [DecoderTests.Test] = []
        var isOutgoing: Bool?
        var link: String?
        for member in members {
            try count(member.line)
            switch member.name {
            case "path":
                for pattern in member.value.elements ?? [member.value] { paths.append(try self.pattern(pattern)) }
            case "dir":
                guard let text = member.value.text, ["in", "out"].contains(text) else {
                    throw DecoderFileError(member.line, "dir is in or out")
                }
                isOutgoing = text == "out"
            case "link":
                guard let text = member.value.text, ["open", "close"].contains(text) else {
                    throw DecoderFileError(member.line, "link is open or close")
                }
                link = text
            default:
                tests.append(DecoderTests.Test(value: try tested(member), condition: try condition(member.value)))
            }
        }
        return DecoderTests.Group(paths: paths, tests: tests, isOutgoing: isOutgoing, link: link)
    }

    /// The value that a test looks at.
    private mutating func tested(_ member: YAMLNode.Member) throws(DecoderFileError) -> DecoderValue {
        if let place = DecoderPlace(member.name) { return .place(place) }
        switch member.name {
        case "status", "kind", "connection": return .attribute(member.name)
        case "event", "topic": return .place(DecoderPlace(start: .payload, steps: [member.name]))
        case "key": return .key(outside: 0)
        case let name where name.hasPrefix("query."): return .query(String(name.dropFirst(6)))
        case let name where name.hasPrefix("kept."): return kept(String(name.dropFirst(5)), of: nil, member.line)
        default:
            throw DecoderFileError(
                member.line,
                "\"\(member.name)\" is no test: write a place as /type, or path, status, event, topic, dir, link, key, query.NAME, kept.NAME"
            )
        }
    }

    /// - Parameter what: What the pattern is of, for errors: `path` or `pointer`.
    private func pattern(
        _ node: YAMLNode,
        of what: String = "path"
    ) throws(DecoderFileError) -> DecoderTests.Pattern {
        guard let text = node.text, text.hasPrefix("/") else {
            throw DecoderFileError(
                node.line,
                "\(what) is a pattern that begins with /, as /api/channels/{channel}/messages"
            )
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map {
            part -> DecoderTests.Pattern.Part in
            if part == "*" { return .any }
            if part.hasPrefix("{"), part.hasSuffix("}") { return .named(String(part.dropFirst().dropLast())) }
            return .literal(String(part))
        }
        return DecoderTests.Pattern(parts: parts)
    }

    private static let conditions = "not, same, starts, contains, pointer, holds, type"

    private mutating func condition(_ node: YAMLNode) throws(DecoderFileError) -> DecoderCondition {
        try count(node.line)
        switch node.value {
        case .absent: return .null
        case .text("missing", true): return .missing
        case .text("present", true): return .present
        case .text(let text, let isPlain): return isPlain ? .written(text) : .text(text)
        case .list(let elements):
            var conditions: [DecoderCondition] = []
            for element in elements { conditions.append(try condition(element)) }
            return .anyOf(conditions)
        case .map(let members):
            guard members.count == 1, let member = members.first else {
                throw DecoderFileError(node.line, "a condition has one of \(Self.conditions)")
            }
            switch member.name {
            case "not": return .not(try condition(member.value))
            case "same": return .same(try value(member.value))
            case "starts": return .starts(try Self.text(member))
            case "contains": return .contains(try Self.text(member))
            case "holds": return try expression(member.value)
            case "pointer": return .pointer(try pattern(member.value, of: "pointer"))
            case "type":
                guard let name = member.value.text, ["text", "number", "truth", "list", "object"].contains(name) else {
                    throw DecoderFileError(member.line, "type is one of text, number, truth, list, object")
                }
                return .type(name)
            default: throw DecoderFileError(member.line, "a condition has one of \(Self.conditions)")
            }
        }
    }

    // MARK: - Values

    mutating func values(
        _ node: YAMLNode,
        of what: String
    ) throws(DecoderFileError) -> [String: DecoderValue] {
        guard let members = node.members else { throw DecoderFileError(node.line, "\(what) is an object of values") }
        var values: [String: DecoderValue] = [:]
        for member in members { values[member.name] = try value(member.value) }
        return values
    }

    func place(_ node: YAMLNode) throws(DecoderFileError) -> DecoderPlace {
        guard let text = node.text, let place = DecoderPlace(text) else {
            throw DecoderFileError(node.line, "a place is written as /a/b, ^/a, $/a or .")
        }
        return place
    }

    private static let valueForms = "text, first, join, split, strip, json, time, value, path, query, kept, attribute"

    /// A value that a step keeps. Whether one does is seen at the end of the file.
    private mutating func kept(_ name: String, of owner: DecoderValue?, _ line: Int) -> DecoderValue {
        keptNames.used.append((name, line))
        return .kept(name, of: owner)
    }

    mutating func value(_ node: YAMLNode) throws(DecoderFileError) -> DecoderValue {
        try count(node.line)
        if let text = node.text {
            if let place = DecoderPlace(text) { return .place(place) }
            let levels = text.prefix { $0 == "^" }.count
            if text.dropFirst(levels) == "key" { return .key(outside: levels) }
            throw DecoderFileError(
                node.line,
                "\"\(text)\" is no place; a place is written as /a/b, ^/a, $/a, . or key, a constant as {text: \(text)}"
            )
        }
        let members = try DecoderMembers(node, of: "a value")
        guard let form = members.node.members?.first else {
            throw DecoderFileError(node.line, "a value is a place, or an object with one of \(Self.valueForms)")
        }
        switch form.name {
        case "text": return try finish(.text(try Self.text(form)), members, [])
        case "path": return try finish(.path(try Self.text(form)), members, [])
        case "query": return try finish(.query(try Self.text(form)), members, [])
        case "kept":
            let owner = try members["of"].map { node throws(DecoderFileError) in try value(node) }
            return try finish(kept(try Self.text(form), of: owner, form.line), members, ["of"])
        case "attribute": return try finish(.attribute(try Self.text(form)), members, [])
        case "value": return try finish(try value(form.value), members, [])
        case "first": return try finish(.first(try list(form)), members, [])
        case "join":
            return try finish(.join(try list(form), by: members["by"]?.text ?? ""), members, ["by"])
        case "split":
            guard let separator = members["by"]?.text, !separator.isEmpty,
                let part = members["part"]?.text.flatMap({ Int($0) }),
                part >= 0
            else { throw DecoderFileError(node.line, "split has by, a text, and part, a number from 0") }
            return try finish(.split(try value(form.value), by: separator, part: part), members, ["by", "part"])
        case "strip":
            let (prefix, suffix) = (members["prefix"]?.text ?? "", members["suffix"]?.text ?? "")
            let stripped = DecoderValue.strip(try value(form.value), prefix: prefix, suffix: suffix)
            return try finish(stripped, members, ["prefix", "suffix"])
        case "json":
            let inner = try members["at"].map { node throws(DecoderFileError) in try place(node) }
            let here = DecoderPlace(start: .here, steps: [])
            return try finish(.json(try value(form.value), inner ?? here), members, ["at"])
        case "time":
            if members["as"] == nil { return try finish(try value(form.value), members, []) }
            guard let time = DecoderTimeForm(rawValue: members["as"]?.text ?? "") else {
                let known = DecoderTimeForm.allCases.map(\.rawValue).joined(separator: ", ")
                throw DecoderFileError(node.line, "time has as: one of \(known)")
            }
            return try finish(.time(try value(form.value), time), members, ["as"])
        default:
            throw DecoderFileError(form.line, "\"\(form.name)\" is no value; there is \(Self.valueForms)")
        }
    }

    /// Adds the tests that a value may have, and refuses other members.
    private mutating func finish(
        _ value: DecoderValue,
        _ members: DecoderMembers,
        _ allowed: [String]
    ) throws(DecoderFileError) -> DecoderValue {
        let form = members.node.members?.first?.name ?? ""
        try members.allow([form, "when", "unless"] + allowed)
        var value = value
        if let when = members["when"] { value = .when(value, try tests(when), isMeant: true) }
        if let unless = members["unless"] { value = .when(value, try tests(unless), isMeant: false) }
        return value
    }

    private mutating func list(_ member: YAMLNode.Member) throws(DecoderFileError) -> [DecoderValue] {
        guard let elements = member.value.elements, !elements.isEmpty else {
            throw DecoderFileError(member.line, "\(member.name) is a list of values")
        }
        var values: [DecoderValue] = []
        for element in elements { values.append(try value(element)) }
        return values
    }

    private static func text(_ member: YAMLNode.Member) throws(DecoderFileError) -> String {
        switch member.value.value {
        case .text(let text, _): return text
        case .absent: return ""
        default: throw DecoderFileError(member.line, "\(member.name) is a text")
        }
    }
}
