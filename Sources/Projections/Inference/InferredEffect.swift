import JSON

/// A value that an effect reads.
indirect enum InferenceValue: Hashable, Sendable {
    /// The value at members of what the first steps of the effect's path lead to.
    case place(Int, InferenceMembers)
    /// The name of the member to which so many steps lead.
    case key(Int)
    /// A named part of a path at members of what the first steps lead to, which the rule tests.
    case part(Int, InferenceMembers, InferencePattern, String)
    /// A named part of the request's path, a member of its query.
    case path(String), query(String)
    case constant(String)
    /// The channel that was kept for the id of a message.
    case keptChannel(InferenceValue)

    /// The members, of a value in the payload.
    var members: InferenceMembers? { if case .place(_, let members) = self { members } else { nil } }
}

/// One effect that is proposed for the events of a group.
struct InferredEffect {
    struct Member {
        let name: String
        let place: InferenceMembers
        var form: DecoderTimeForm?
        /// Left out where it is the same as another member.
        var unlessSame: InferenceMembers?
        /// The name by which it is kept for the id that is at the place.
        var kept: String?
    }

    /// A value that a step keeps for an object's id: the second place of one of the object's tags.
    struct Kept {
        let name: String
        let list: String
        let tests: [InferenceGroup.Test]
    }

    var verb: String
    var subject: String
    /// Where the object is.
    var path: InferencePath
    /// The shape that has the members; `nil` if there are none.
    var shapeName: String?
    /// What is kept of tags, before the effect.
    var kept: [Kept] = []
    /// What a unit must fit that is a tag.
    var unitTests: [InferenceGroup.Test] = []
    /// Whether the channel is kept for what names the message alone.
    var keepsChannel = false
    /// Members that some objects lack and the effect needs.
    var guards: [InferenceMembers] = []
    var at: [(name: String, value: InferenceValue)] = []
    /// What the shape reads, from the object.
    var members: [Member] = []
    var changes: [String] = []
    var needs: [String] = []
    /// A member of the object that must be true, or there; or must not.
    var condition: (place: InferenceMembers, isTruth: Bool, isMeant: Bool)?
    var set: (name: String, scope: InferenceValue)?
    var reactions: (each: InferenceMembers, emoji: InferenceMembers, users: InferenceMembers)?
    var reason: String
    /// Some of the objects.
    var instances: [InferenceInstance]

    /// Says where the id of the thing is: a member of the shape, or what the step reads itself.
    mutating func setID(_ id: InferenceValue) {
        if case .place(path.steps.count, let members) = id {
            self.members.insert(.init(name: "id", place: members), at: 0)
        } else {
            at.append(("id", id))
        }
    }

    /// Where the id of the thing is.
    var id: InferenceValue? {
        if let member = members.first(where: { $0.name == "id" }) { return .place(path.steps.count, member.place) }
        return at.first { $0.name == "id" }?.value
    }

    /// Whether it makes messages that are not known.
    var makesMessages: Bool { verb == "make" || (verb == "patch" && !needs.contains("author")) }

    /// Where the channel is, of what is in one.
    var channel: InferenceValue? {
        get { at.first { $0.name == "channel" }?.value }
        set {
            guard let newValue, let place = at.firstIndex(where: { $0.name == "channel" }) else { return }
            at[place].value = newValue
        }
    }

    /// The steps behind its levels: it, and before it one that keeps the channel for the id.
    var items: [[String]] {
        guard let channel, let id else { return [lines()] }
        var items = kept.map { kept in
            [
                "each: " + text(.place(path.steps.count, [kept.list])),
                "when: {\(kept.tests.map(InferredRule.text).joined(separator: ", "))}",
                "keep: {\(kept.name): /1}", "of: " + text(id, from: 1),
            ]
        }
        if case .keptChannel = channel { return items + [lines()] }
        let when = tests.isEmpty ? [] : ["when: {\(tests.joined(separator: ", "))}"]
        if keepsChannel { items.append(when + ["keep: {channel: \(text(channel))}", "of: \(text(id))"]) }
        return items + [lines()]
    }

    /// The parts of a pointer behind the last level among the first so many steps, and the levels from there to the effect.
    private func near(_ count: Int) -> (parts: InferenceMembers, levels: Int) {
        let steps = path.steps.prefix(count)
        let last = steps.lastIndex(where: \.isLevel).map { $0 + 1 } ?? 0
        return (steps[last...].compactMap(\.pointerPart), path.levelCount - path.prefix(count).levelCount)
    }

    /// - Parameter further: how many levels further in than the effect the value is read.
    func text(_ value: InferenceValue, from further: Int = 0) -> String {
        switch value {
        case .constant(let text): return "{text: \(InferenceText.word(text))}"
        case .keptChannel(let id): return "{kept: channel, of: \(text(id))}"
        case .path(let name), .part(_, _, _, let name): return "{path: \(InferenceText.word(name))}"
        case .query(let name): return "{query: \(InferenceText.word(name))}"
        case .key(let count):
            return String(repeating: "^", count: further + path.levelCount - path.prefix(count).levelCount) + "key"
        case .place(let count, let members):
            let (parts, levels) = near(count)
            let prefix = String(repeating: "^", count: levels + further)
            return InferenceText.word(prefix + InferenceText.pointer(parts + members))
        }
    }

    /// The lines that lead to each level behind the first so many steps, from outside.
    func levels(behind count: Int) -> [String] { InferredRule.levels(of: path.steps.dropFirst(count)) }

    /// Where the shape is read from; `nil` if that is where the effect is.
    var from: String? {
        let text = text(.place(path.steps.count, []))
        return text == "." ? nil : text
    }

    /// The value in the first object that has one.
    func found(_ value: InferenceValue) -> JSONValue? {
        for instance in instances {
            if let found = instance.read(value, path), found != .null { return found }
        }
        return nil
    }

    /// The shape's members as YAML.
    var shape: [String] {
        members.map { member in
            let place = InferenceText.word(InferenceText.pointer(member.place))
            if let kept = member.kept { return "\(member.name): {kept: \(kept), of: \(place)}" }
            if let form = member.form { return "\(member.name): {time: \(place), as: \(form.rawValue)}" }
            if let other = member.unlessSame {
                let same = InferenceText.word(InferenceText.pointer(other))
                return "\(member.name): {value: \(place), unless: {\(place): {same: \(same)}}}"
            }
            return "\(member.name): \(place)"
        }
    }

    /// What must fit besides the tests of the group.
    var tests: [String] {
        var tests = unitTests.map(InferredRule.text)
        tests += guards.map { "\(text(.place(path.steps.count, $0))): present" }
        guard let condition else { return tests }
        let fits =
            switch (condition.isTruth, condition.isMeant) {
            case (true, true): "true"
            case (true, false): "{not: true}"
            case (false, true): "present"
            case (false, false): "{not: present}"
            }
        tests.append("\(text(.place(path.steps.count, condition.place))): \(fits)")
        return tests
    }

    /// The lines of the effect behind its levels.
    func lines() -> [String] {
        var lines: [String] = []
        if !tests.isEmpty { lines.append("when: {\(tests.joined(separator: ", "))}") }
        lines.append("\(verb): \(subject)")
        if !at.isEmpty {
            lines.append("at: {" + at.map { "\($0.name): \(text($0.value))" }.joined(separator: ", ") + "}")
        }
        if let shapeName {
            if let from { lines.append("from: \(from)") }
            if shapeName != subject { lines.append("shape: \(shapeName)") }
        }
        if !changes.isEmpty { lines.append("changes: [\(changes.joined(separator: ", "))]") }
        if !needs.isEmpty { lines.append("needs: [\(needs.joined(separator: ", "))]") }
        if let set {
            lines.append("set: \(set.name)")
            lines.append("scope: \(text(set.scope))")
        }
        if let reactions {
            let parts = [reactions.each, reactions.emoji, reactions.users].map {
                InferenceText.word(InferenceText.pointer($0))
            }
            lines.append("reactions: {each: \(parts[0]), emoji: \(parts[1]), users: \(parts[2])}")
        }
        return lines
    }
}
