/// Reading rules, steps and effects.
extension DecoderFileReader {
    private static let stepMembers = ["when", "once", "each", "from", "do", "keep", "of"]
    private static let effectMembers = [
        "at", "own", "shape", "with", "changes", "needs", "set", "scope", "reactions", "deleted", "columns",
    ]

    mutating func step(_ node: YAMLNode, depth: Int, isRule: Bool) throws(DecoderFileError) -> DecoderStep {
        try count(node.line)
        guard depth <= Self.depthMax else { throw DecoderFileError(node.line, "steps lie too deep in steps") }
        let what = isRule ? "a rule" : "a step"
        let members = try DecoderMembers(node, of: what)
        let operations = DecoderEffect.Operation.allCases.map(\.rawValue)
        try members.allow(Self.stepMembers + operations + Self.effectMembers)
        let given = operations.filter { members[$0] != nil }
        let steps = members["do"]?.elements
        let others = ["do", "keep"].filter { members[$0] != nil }
        guard given.count + others.count == 1, !(steps?.isEmpty ?? false) else {
            let all = operations.joined(separator: ", ")
            throw DecoderFileError(node.line, "\(what) has one of \(all), or do: a list of steps, or keep")
        }
        let when = try members["when"].map { node throws(DecoderFileError) in try tests(node) } ?? DecoderTests.any
        var each: [DecoderPlace] = []
        if let node = members["each"] {
            for element in node.elements ?? [node] { each.append(try place(element)) }
        }
        let from = try members["from"].map { node throws(DecoderFileError) in try value(node) }
        if from != nil, members["keep"] != nil {
            throw DecoderFileError(members.line("from"), "from goes with an effect or do")
        }
        var parsed: [DecoderStep] = []
        for step in steps ?? [] { parsed.append(try self.step(step, depth: depth + 1, isRule: false)) }
        if let list = members["do"], steps == nil { parsed = try namedSteps(list) }
        let effect = try given.first.map { name throws(DecoderFileError) in try self.effect(name, members) }
        if members["of"] != nil, members["keep"] == nil {
            throw DecoderFileError(members.line("of"), "of goes with keep: it names what the values are kept for")
        }
        var kept: [(name: String, value: DecoderValue)] = []
        for member in try members.members("keep") ?? [] {
            kept.append((member.name, try value(member.value)))
            keptNames.kept.insert(member.name)
        }
        return DecoderStep(
            line: node.line,
            when: when,
            once: try members["once"].map { node throws(DecoderFileError) in try value(node) },
            each: each,
            from: from,
            effect: effect,
            steps: parsed,
            kept: kept,
            keptOf: try members["of"].map { node throws(DecoderFileError) in try value(node) }
        )
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
        let (idNames, memberNames) = (subject.ids.map(\.text), subject.members.map(\.text))
        for member in ids.keys.sorted() where !idNames.contains(member) {
            throw DecoderFileError(
                members.line("at"),
                "at of a \(subjectName) has \(idNames.joined(separator: ", ")), not \(member)"
            )
        }
        let known = Set(idNames + memberNames)
        for member in (Array(inner.keys) + Array(outer.keys)).sorted()
        where !known.contains(member) && !subject.takesAnyMember {
            throw DecoderFileError(
                members.line(members["with"] == nil ? name : "with"),
                memberNames.isEmpty
                    ? "a \(subjectName) has no member \"\(member)\"; all that it has stands in at"
                    : "a \(subjectName) has no member \"\(member)\"; it has \(memberNames.joined(separator: ", "))"
            )
        }
        let lacking = subject.ids.filter { id in
            ids[id.text] == nil && inner[id.text] == nil && !subject.optionalIDs(of: operation).contains(id)
        }
        if let id = lacking.first {
            throw DecoderFileError(
                members.line(name),
                "the \(subjectName) has no \(id): write it in at or in its shape"
            )
        }
        if subject == .message, operation != .delete,
            let member = DecoderEffect.Subject.deletion.first(where: { outer[$0.text] != nil })
        {
            let reason = "\(member) goes with a deletion of a message, and with retract"
            throw DecoderFileError(members.line("with"), reason)
        }
        let isForEver =
            try members.word("deleted", of: ["for-ever", "until-stated"]).map { $0 == "for-ever" }
            ?? (subject == .message || subject == .item)
        if subject == .message, operation == .delete, isForEver, outer["version"] != nil {
            let reason =
                "version goes with deleted: until-stated; what is deleted for ever stays so, whatever its version"
            throw DecoderFileError(members.line("with"), reason)
        }
        for id in ids.keys { inner[id] = nil }
        if operation == .edit, inner["version"] == nil, outer["version"] == nil {
            throw DecoderFileError(
                members.line(name),
                "an edit has a version, by which edits are in order and one is taken back; where the app gives none, patch the "
                    + "message"
            )
        }
        for member in ["columns", "deleted"] where members[member] != nil && (subject == .row) == (member == "deleted")
        {
            let reason = subject == .row ? "a deleted row comes back when it is stated" : "columns goes with a row"
            throw DecoderFileError(members.line(member), reason)
        }
        return DecoderEffect(
            operation: operation,
            subject: subject,
            ids: DecoderValues(ids),
            own: try own(members, operation, subject),
            members: DecoderValues(inner),
            outerMembers: DecoderValues(outer),
            changes: try members.texts("changes", of: memberNames).map { Set($0.compactMap { DecoderName($0) }) },
            needs: try members.texts("needs", of: memberNames)?.compactMap { DecoderName($0) }
                ?? (subject == .message ? [.content] : subject == .item ? [.text] : []),
            set: try set(members),
            reactions: try members["reactions"].map { node throws(DecoderFileError) in try reactions(node) },
            columns: try members["columns"].map { node throws(DecoderFileError) in try value(node) },
            isForEver: isForEver
        )
    }

    private mutating func snapshot(_ members: DecoderMembers) throws(DecoderFileError) -> DecoderEffect {
        let scope = try members["scope"].map { node throws(DecoderFileError) in try value(node) }
        return DecoderEffect(
            operation: .snapshot,
            subject: .message,
            ids: .none,
            own: nil,
            members: .none,
            outerMembers: .none,
            changes: nil,
            needs: [],
            set: (try members.text("snapshot"), scope),
            reactions: nil,
            columns: nil,
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
        guard subject == .message && [.make, .replace, .edit, .delete].contains(operation) || operation == .add else {
            throw DecoderFileError(
                node.line,
                "own goes with make, replace, edit or delete of a message, and with add of a reaction"
            )
        }
        switch operation {
        case .make, .replace: owns.isStated = true
        case .edit, .add: owns.finderLine = owns.finderLine ?? node.line
        default: break
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
}

/// Reading what clients say of their screens.
extension DecoderFileReader {
    mutating func observed(_ node: YAMLNode) throws(DecoderFileError) -> DecoderObserved {
        try count(node.line)
        let members = try DecoderMembers(node, of: "a rule of observed")
        try members.allow(["when"] + DecoderObserved.names + DecoderObserved.sections.map(\.rawValue))
        var stated: [(name: String, value: DecoderValue)] = []
        for name in DecoderObserved.names {
            if let node = members[name] { stated.append((name, try value(node))) }
        }
        var rows: [DecoderObserved.ShownSection] = []
        for section in DecoderObserved.sections {
            if let node = members[section.rawValue] { rows.append(try shown(node, section)) }
        }
        guard !rows.isEmpty else {
            let all = DecoderObserved.sections.map(\.rawValue).joined(separator: ", ")
            throw DecoderFileError(node.line, "a rule of observed has rows in one of \(all)")
        }
        let when = try members["when"].map { node throws(DecoderFileError) in try tests(node) } ?? DecoderTests.any
        return DecoderObserved(line: node.line, when: when, members: stated, rows: rows)
    }

    private mutating func shown(_ node: YAMLNode, _ section: Section) throws(DecoderFileError)
        -> DecoderObserved.ShownSection
    {
        let members = try DecoderMembers(node, of: section.rawValue)
        try members.allow(["within", "each", "when", "with"])
        guard let each = members["each"], let with = try members.members("with"), !with.isEmpty else {
            throw DecoderFileError(
                node.line,
                "\(section.rawValue) has each, the place of the list, and with, the members of a row"
            )
        }
        var lists: [DecoderPlace] = []
        for node in [members["within"], each].compactMap({ $0 }) { lists.append(try place(node)) }
        let known = section.observedMembers
        var stated: [(name: String, value: DecoderValue)] = []
        for member in with {
            guard known.contains(member.name) else {
                throw DecoderFileError(
                    member.line,
                    "a row of \(section.rawValue) has no member \"\(member.name)\"; there are \(known.joined(separator: ", "))"
                )
            }
            stated.append((member.name, try value(member.value)))
        }
        let when = try members["when"].map { node throws(DecoderFileError) in try tests(node) } ?? DecoderTests.any
        return DecoderObserved.ShownSection(section: section, lists: lists, when: when, members: stated)
    }
}
