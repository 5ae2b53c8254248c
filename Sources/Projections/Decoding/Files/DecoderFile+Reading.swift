import EventLog
import Kinds

extension DecoderFile {
    /// Reads a decoder file: YAML within the limits of `YAMLDocument`, at most `bytesMax` bytes.
    ///
    /// - Throws: `DecoderFileError` for the first thing that is wrong.
    public convenience init(_ text: String) throws(DecoderFileError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw DecoderFileError(nil, "the file has more than \(Self.bytesMax) bytes")
        }
        let root: YAMLNode
        do throws(YAMLDocument.Fault) {
            root = try YAMLDocument.node(of: text)
        } catch {
            throw DecoderFileError(error.line, "it \(error.reason)")
        }
        var reader = DecoderFileReader()
        try self.init(reader.file(root), text)
    }

    private convenience init(_ parts: DecoderFileReader.Parts, _ text: String) throws(DecoderFileError) {
        self.init(
            name: parts.name,
            text: text,
            absences: parts.absences,
            dedupe: parts.dedupe,
            order: parts.order,
            rules: parts.rules,
            samples: parts.samples
        )
    }
}

/// Reads the nodes of a decoder file.
private struct DecoderFileReader {
    struct Parts {
        var name = ""
        var absences = DecoderAbsences()
        var dedupe: DecoderDedupe?
        var order = MessageOrder.byID
        var rules: [DecoderStep] = []
        var samples: [DecoderSample] = []
    }

    /// Steps within steps.
    private static let depthMax = 6
    /// The steps, tests and values of a file together: each is evaluated at most once for each element of a payload.
    private static let partsMax = 4096

    private var shapes: [String: [String: DecoderValue]] = [:]
    /// The lists of steps that rules and later lists name, and how many parts each has, those of lists in it included.
    private var named: [String: (steps: [DecoderStep], partCount: Int)] = [:]
    private var partCount = 0

    // MARK: - The file

    mutating func file(_ root: YAMLNode) throws(DecoderFileError) -> Parts {
        let members = try DecoderMembers(root, of: "the file")
        try members.allow(["decoder", "none", "dedupe", "order", "shapes", "steps", "rules", "samples"])
        var parts = Parts()
        parts.name = try members.text("decoder")
        guard parts.name.wholeMatch(of: /[A-Za-z0-9._-]{1,48}\/[0-9]{1,6}/) != nil else {
            throw DecoderFileError(members.line("decoder"), "decoder is a name and a version, as slack/1")
        }
        if let none = members["none"] { parts.absences = try absences(none) }
        if let order = try members.word("order", of: ["id", "creation"]) {
            parts.order = order == "creation" ? .byCreation : .byID
        }
        if let dedupe = members["dedupe"] { parts.dedupe = try self.dedupe(dedupe) }
        for shape in try members.members("shapes") ?? [] {
            shapes[shape.name] = try values(shape.value, of: "shape \(shape.name)")
        }
        for list in try members.members("steps") ?? [] {
            guard let elements = list.value.elements, !elements.isEmpty else {
                throw DecoderFileError(list.line, "steps holds lists of steps by their names")
            }
            let before = partCount
            var steps: [DecoderStep] = []
            for element in elements { steps.append(try step(element, depth: 2, isRule: false)) }
            named[list.name] = (steps, partCount - before)
        }
        guard let rules = members["rules"]?.elements, !rules.isEmpty else {
            throw DecoderFileError(members.line("rules"), "rules is a list of at least one rule")
        }
        for rule in rules { parts.rules.append(try step(rule, depth: 1, isRule: true)) }
        guard let samples = members["samples"]?.elements, !samples.isEmpty else {
            throw DecoderFileError(
                members.line("samples"),
                "samples is a list of at least one payload with the changes that it must give"
            )
        }
        for sample in samples { parts.samples.append(try self.sample(sample)) }
        return parts
    }

    /// Counts a part of the file, all of which together are limited.
    private mutating func count(_ line: Int) throws(DecoderFileError) {
        partCount += 1
        if partCount > Self.partsMax {
            throw DecoderFileError(line, "the file has more than \(Self.partsMax) steps, tests and values")
        }
    }

    private func absences(_ node: YAMLNode) throws(DecoderFileError) -> DecoderAbsences {
        var absences = DecoderAbsences(isMissing: false, isNull: false, isEmptyText: false, isZero: false)
        for element in node.elements ?? [node] {
            switch element.value {
            case .absent: absences.isNull = true
            case .text("missing", true): absences.isMissing = true
            case .text("", _): absences.isEmptyText = true
            case .text("0", true): absences.isZero = true
            default:
                throw DecoderFileError(element.line, "none lists how no value is written: missing, null, \"\" or 0")
            }
        }
        return absences
    }

    private mutating func dedupe(_ node: YAMLNode) throws(DecoderFileError) -> DecoderDedupe {
        let members = try DecoderMembers(node, of: "dedupe")
        try members.allow(["key", "grows", "begins", "when"])
        let when = try members["when"].map { node throws(DecoderFileError) in try tests(node) } ?? DecoderTests.any
        switch (members["key"], members["grows"]) {
        case (let key?, nil): return DecoderDedupe(rule: .key(try value(key)), when: when)
        case (nil, let number?):
            guard let begins = members["begins"] else {
                throw DecoderFileError(node.line, "dedupe with grows needs begins: the event that begins a session")
            }
            return DecoderDedupe(rule: .grows(try value(number), begins: try tests(begins)), when: when)
        default: throw DecoderFileError(node.line, "dedupe has either key or grows")
        }
    }

    private func sample(_ node: YAMLNode) throws(DecoderFileError) -> DecoderSample {
        let members = try DecoderMembers(node, of: "a sample")
        try members.allow(["kind", "attributes", "payload", "gives"])
        var pairs: [Attributes.Pair] = []
        for member in try members.members("attributes") ?? [] {
            guard let text = member.value.text else {
                throw DecoderFileError(member.line, "the attribute \(member.name) is no text")
            }
            pairs.append(Attributes.Pair(name: member.name, value: text))
        }
        let kindText = members["kind"]?.text ?? KnownKind.socketFrame.rawValue
        guard let attributes = try? Attributes(pairs), let kind = try? EventKind(kindText) else {
            throw DecoderFileError(node.line, "the attributes or the kind of the sample are too long")
        }
        guard let gives = (try? JSONValue.parse(try members.text("gives")))?.array else {
            throw DecoderFileError(members.line("gives"), "gives is a JSON list of changes, as a text: '[…]'")
        }
        let payload = try members.text("payload")
        return DecoderSample(line: node.line, kind: kind, attributes: attributes, payload: payload, gives: gives)
    }

    // MARK: - Steps

    private static let stepMembers = ["when", "each", "from", "do"]
    private static let effectMembers = [
        "at", "own", "shape", "with", "changes", "needs", "set", "scope", "reactions", "deleted",
    ]

    private mutating func step(_ node: YAMLNode, depth: Int, isRule: Bool) throws(DecoderFileError) -> DecoderStep {
        try count(node.line)
        guard depth <= Self.depthMax else { throw DecoderFileError(node.line, "steps lie too deep in steps") }
        let what = isRule ? "a rule" : "a step"
        let members = try DecoderMembers(node, of: what)
        let operations = DecoderEffect.Operation.allCases.map(\.rawValue)
        try members.allow(Self.stepMembers + operations + Self.effectMembers)
        let given = operations.filter { members[$0] != nil }
        let steps = members["do"]?.elements
        guard given.count == (members["do"] == nil ? 1 : 0), !(steps?.isEmpty ?? false) else {
            let all = operations.joined(separator: ", ")
            throw DecoderFileError(node.line, "\(what) has one of \(all), or do: a list of steps")
        }
        let when = try members["when"].map { node throws(DecoderFileError) in try tests(node) } ?? DecoderTests.any
        var each: [DecoderPlace] = []
        if let node = members["each"] {
            for element in node.elements ?? [node] { each.append(try place(element)) }
        }
        let from = try members["from"].map { node throws(DecoderFileError) in try value(node) }
        if from != nil, given.isEmpty {
            throw DecoderFileError(members.line("from"), "from goes with an effect; the steps of do have their own")
        }
        var parsed: [DecoderStep] = []
        for step in steps ?? [] { parsed.append(try self.step(step, depth: depth + 1, isRule: false)) }
        if let list = members["do"], steps == nil { parsed = try namedSteps(list) }
        let effect = try given.first.map { name throws(DecoderFileError) in try self.effect(name, members) }
        return DecoderStep(line: node.line, when: when, each: each, from: from, effect: effect, steps: parsed)
    }

    /// The steps of a list that stands earlier in the file, so that no list holds itself.
    private mutating func namedSteps(_ node: YAMLNode) throws(DecoderFileError) -> [DecoderStep] {
        guard let name = node.text, let list = named[name] else {
            throw DecoderFileError(node.line, "do is a list of steps, or the name of an earlier list under steps")
        }
        partCount += list.partCount
        try count(node.line)
        return list.steps
    }

    private mutating func effect(_ name: String, _ members: DecoderMembers) throws(DecoderFileError) -> DecoderEffect {
        guard let operation = DecoderEffect.Operation(rawValue: name) else {
            throw DecoderFileError(members.line(name), "\(name) is no operation")
        }
        if operation == .snapshot { return try snapshot(members) }
        let subjectName = try members.text(name)
        guard let subject = DecoderEffect.Subject(rawValue: subjectName) else {
            let known = DecoderEffect.Subject.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecoderFileError(members.line(name), "\(name) takes one of \(known), not \"\(subjectName)\"")
        }
        guard subject.operations.contains(operation) else {
            let known = subject.operations.map(\.rawValue).joined(separator: ", ")
            throw DecoderFileError(members.line(name), "of a \(subjectName) a rule can \(known), not \(name)")
        }
        let shapeName = members["shape"]?.text ?? subjectName
        if members["shape"] != nil, shapes[shapeName] == nil {
            throw DecoderFileError(members.line("shape"), "there is no shape \"\(shapeName)\"")
        }
        var inner = shapes[shapeName] ?? [:]
        let ids = try members["at"].map { node throws(DecoderFileError) in try values(node, of: "at") } ?? [:]
        let outer = try members["with"].map { node throws(DecoderFileError) in try values(node, of: "with") } ?? [:]
        for member in ids.keys.sorted() where !subject.ids.contains(member) {
            throw DecoderFileError(
                members.line("at"),
                "at of a \(subjectName) has \(subject.ids.joined(separator: ", ")), not \(member)"
            )
        }
        let known = Set(subject.ids + subject.members)
        for member in (Array(inner.keys) + Array(outer.keys)).sorted() where !known.contains(member) {
            throw DecoderFileError(
                members.line(members["with"] == nil ? name : "with"),
                "a \(subjectName) has no member \"\(member)\"; it has \(subject.members.joined(separator: ", "))"
            )
        }
        let lacking = subject.ids.filter { ids[$0] == nil && inner[$0] == nil && !subject.optionalIDs.contains($0) }
        if let id = lacking.first, operation != .clear || id == "channel" || id == "id" {
            throw DecoderFileError(
                members.line(name),
                "the \(subjectName) has no \(id): write it in at or in its shape"
            )
        }
        for id in ids.keys { inner[id] = nil }
        return DecoderEffect(
            operation: operation,
            subject: subject,
            ids: ids,
            own: try own(members, operation, subject),
            members: inner,
            outerMembers: outer,
            changes: try members.texts("changes", of: subject.members).map { Set($0) },
            needs: try members.texts("needs", of: subject.members) ?? (subject == .message ? ["content"] : []),
            set: try set(members),
            reactions: try members["reactions"].map { node throws(DecoderFileError) in try reactions(node) },
            isForEver: try members.word("deleted", of: ["for-ever", "until-stated"]).map { $0 == "for-ever" }
                ?? (subject == .message || subject == .item)
        )
    }

    private mutating func snapshot(_ members: DecoderMembers) throws(DecoderFileError) -> DecoderEffect {
        let scope = try members["scope"].map { node throws(DecoderFileError) in try value(node) }
        return DecoderEffect(
            operation: .snapshot,
            subject: .message,
            ids: [:],
            own: nil,
            members: [:],
            outerMembers: [:],
            changes: nil,
            needs: [],
            set: (try members.text("snapshot"), scope),
            reactions: nil,
            isForEver: false
        )
    }

    /// The id of the event; of a message that an event makes, the message's own unless the file gives another.
    private mutating func own(
        _ members: DecoderMembers,
        _ operation: DecoderEffect.Operation,
        _ subject: DecoderEffect.Subject
    ) throws(DecoderFileError) -> DecoderValue? {
        guard let node = members["own"] else {
            if operation == .edit { throw DecoderFileError(members.node.line, "an edit has own: the id of its event") }
            return nil
        }
        guard subject == .message && [.make, .edit, .delete].contains(operation) || operation == .add else {
            throw DecoderFileError(
                node.line,
                "own goes with make, edit or delete of a message, and with add of a reaction"
            )
        }
        return try value(node)
    }

    private mutating func set(_ members: DecoderMembers) throws(DecoderFileError) -> (
        name: String, scope: DecoderValue?
    )? {
        guard members["set"] != nil else { return nil }
        return (
            try members.text("set"), try members["scope"].map { node throws(DecoderFileError) in try value(node) }
        )
    }

    private mutating func reactions(_ node: YAMLNode) throws(DecoderFileError) -> DecoderReactions {
        let members = try DecoderMembers(node, of: "reactions")
        try members.allow(["each", "emoji", "users"])
        guard let each = members["each"], let emoji = members["emoji"], let users = members["users"] else {
            throw DecoderFileError(node.line, "reactions has each, emoji and users")
        }
        return DecoderReactions(each: try place(each), emoji: try value(emoji), users: try value(users))
    }

    // MARK: - Tests

    private mutating func tests(_ node: YAMLNode) throws(DecoderFileError) -> DecoderTests {
        var tests = DecoderTests()
        for element in node.elements ?? [node] { tests.groups.append(try group(element)) }
        return tests
    }

    private mutating func group(_ node: YAMLNode) throws(DecoderFileError) -> DecoderTests.Group {
        guard let members = node.members else {
            throw DecoderFileError(node.line, "when is an object of tests, or a list of such objects")
        }
        var group = DecoderTests.Group()
        for member in members {
            try count(member.line)
            switch member.name {
            case "path":
                for pattern in member.value.elements ?? [member.value] { group.paths.append(try self.pattern(pattern)) }
            case "dir":
                guard let text = member.value.text, ["in", "out"].contains(text) else {
                    throw DecoderFileError(member.line, "dir is in or out")
                }
                group.isOutgoing = text == "out"
            case "link":
                guard let text = member.value.text, ["open", "close"].contains(text) else {
                    throw DecoderFileError(member.line, "link is open or close")
                }
                group.link = text
            default:
                let value = try tested(member)
                group.tests.append(DecoderTests.Test(value: value, condition: try condition(member.value)))
            }
        }
        return group
    }

    /// The value that a test looks at.
    private func tested(_ member: YAMLNode.Member) throws(DecoderFileError) -> DecoderValue {
        if let place = DecoderPlace(member.name) { return .place(place) }
        switch member.name {
        case "status", "kind", "connection": return .attribute(member.name)
        case "event": return .place(DecoderPlace(start: .payload, steps: ["event"]))
        case "key": return .key(outside: 0)
        case let name where name.hasPrefix("query."): return .query(String(name.dropFirst(6)))
        default:
            throw DecoderFileError(
                member.line,
                "\"\(member.name)\" is no test: write a place as /type, or path, status, event, dir, link, key, query.NAME"
            )
        }
    }

    private func pattern(_ node: YAMLNode) throws(DecoderFileError) -> DecoderTests.Pattern {
        guard let text = node.text, text.hasPrefix("/") else {
            throw DecoderFileError(
                node.line,
                "path is a pattern that begins with /, as /api/channels/{channel}/messages"
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
                throw DecoderFileError(node.line, "a condition has one of not, same, starts, contains, type")
            }
            switch member.name {
            case "not": return .not(try condition(member.value))
            case "same": return .same(try value(member.value))
            case "starts": return .starts(try Self.text(member))
            case "contains": return .contains(try Self.text(member))
            case "type":
                guard let name = member.value.text, ["text", "number", "truth", "list", "object"].contains(name) else {
                    throw DecoderFileError(member.line, "type is one of text, number, truth, list, object")
                }
                return .type(name)
            default: throw DecoderFileError(member.line, "a condition has one of not, same, starts, contains, type")
            }
        }
    }

    // MARK: - Values

    private mutating func values(
        _ node: YAMLNode,
        of what: String
    ) throws(DecoderFileError) -> [String: DecoderValue] {
        guard let members = node.members else { throw DecoderFileError(node.line, "\(what) is an object of values") }
        var values: [String: DecoderValue] = [:]
        for member in members { values[member.name] = try value(member.value) }
        return values
    }

    private func place(_ node: YAMLNode) throws(DecoderFileError) -> DecoderPlace {
        guard let text = node.text, let place = DecoderPlace(text) else {
            throw DecoderFileError(node.line, "a place is written as /a/b, ^/a, $/a or .")
        }
        return place
    }

    private static let valueForms = "text, first, join, split, strip, json, time, value, path, query, attribute"

    private mutating func value(_ node: YAMLNode) throws(DecoderFileError) -> DecoderValue {
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

/// The members of one object of a decoder file, by name.
private struct DecoderMembers {
    let node: YAMLNode
    private let what: String

    init(_ node: YAMLNode, of what: String) throws(DecoderFileError) {
        guard node.members != nil else { throw DecoderFileError(node.line, "\(what) is an object with named members") }
        (self.node, self.what) = (node, what)
    }

    subscript(name: String) -> YAMLNode? { node.members?.first { $0.name == name }?.value }

    /// The line of a member, or else of the object.
    func line(_ name: String) -> Int { node.members?.first { $0.name == name }?.line ?? node.line }

    /// Refuses members of other names.
    func allow(_ names: [String]) throws(DecoderFileError) {
        guard let other = node.members?.first(where: { !names.contains($0.name) }) else { return }
        throw DecoderFileError(
            other.line,
            "\(what) has no member \"\(other.name)\"; there is \(names.joined(separator: ", "))"
        )
    }

    func text(_ name: String) throws(DecoderFileError) -> String {
        guard let text = self[name]?.text else {
            throw DecoderFileError(line(name), "\(what) has \(name), a text")
        }
        return text
    }

    /// One of some words; `nil` if it is not there.
    func word(_ name: String, of words: [String]) throws(DecoderFileError) -> String? {
        guard let node = self[name] else { return nil }
        guard let text = node.text, words.contains(text) else {
            throw DecoderFileError(node.line, "\(name) is one of \(words.joined(separator: ", "))")
        }
        return text
    }

    /// A list of some of the names; `nil` if it is not there.
    func texts(_ name: String, of names: [String]) throws(DecoderFileError) -> [String]? {
        guard let node = self[name] else { return nil }
        guard let elements = node.elements else { throw DecoderFileError(node.line, "\(name) is a list of members") }
        var texts: [String] = []
        for element in elements {
            guard let text = element.text, names.contains(text) else {
                throw DecoderFileError(element.line, "\(name) lists some of \(names.joined(separator: ", "))")
            }
            texts.append(text)
        }
        return texts
    }

    func members(_ name: String) throws(DecoderFileError) -> [YAMLNode.Member]? {
        guard let node = self[name] else { return nil }
        guard let members = node.members else { throw DecoderFileError(node.line, "\(name) is an object") }
        return members
    }
}

extension DecoderEffect.Subject {
    /// The parts of the thing's name.
    var ids: [String] {
        switch self {
        case .message: ["channel", "id"]
        case .channel: ["id", "guild"]
        case .user: ["scope", "id"]
        case .item: ["list", "id"]
        case .session: ["id"]
        case .reaction: ["channel", "id", "user", "emoji"]
        case .typing: ["channel", "user"]
        case .presence: ["user"]
        case .event: ["id"]
        }
    }

    var optionalIDs: [String] {
        switch self {
        case .channel: ["guild"]
        case .user: ["scope"]
        default: []
        }
    }

    var members: [String] {
        switch self {
        case .message:
            ["author", "authorName", "content", "createdAt", "editedAt", "replyTo", "tags", "attachments", "version"]
        case .channel: ["name", "kind", "topic"]
        case .user: ["name"]
        case .item:
            [
                "text", "done", "status", "created", "version", "order", "parent", "section", "assignee", "due",
                "labels",
                "doneAt",
            ]
        case .session: ["project", "status", "timestamp", "device"]
        case .presence: ["status"]
        case .reaction, .typing, .event: []
        }
    }

    var operations: [DecoderEffect.Operation] {
        switch self {
        case .message: [.make, .patch, .replace, .edit, .delete]
        case .event: [.retract]
        case .channel: [.make, .replace, .delete]
        case .user, .item, .session: [.replace, .delete]
        case .reaction: [.add, .remove, .clear]
        case .typing, .presence: [.replace]
        }
    }
}
