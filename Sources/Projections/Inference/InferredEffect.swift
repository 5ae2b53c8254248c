import JSON

/// A value that an effect reads.
enum InferenceValue: Hashable, Sendable {
    /// The value at members of what the first steps of the effect's path lead to.
    case place(Int, InferenceMembers)
    /// The name of the member to which so many steps lead.
    case key(Int)
    /// A named part of the request's path, a member of its query.
    case path(String), query(String)
    case constant(String)
}

/// One effect that is proposed for the events of a group.
struct InferredEffect {
    struct Member {
        let name: String
        let place: InferenceMembers
        var form: DecoderTimeForm?
        /// Left out where it is the same as another member.
        var unlessSame: InferenceMembers?
    }

    var verb: String
    var subject: String
    /// Where the object is.
    var path: InferencePath
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

    /// The steps behind the last loop among the first so many, and the levels from there to the effect.
    private func near(_ count: Int) -> (steps: [InferencePath.Step], levels: Int) {
        let steps = path.steps.prefix(count)
        let last = steps.lastIndex(where: InferencePath.isLoop).map { $0 + 1 } ?? 0
        return (Array(steps[last...]), path.loopCount - path.prefix(count).loopCount)
    }

    func text(_ value: InferenceValue) -> String {
        switch value {
        case .constant(let text): return "{text: \(InferenceText.word(text))}"
        case .path(let name): return "{path: \(InferenceText.word(name))}"
        case .query(let name): return "{query: \(InferenceText.word(name))}"
        case .key(let count):
            return String(repeating: "^", count: path.loopCount - path.prefix(count).loopCount) + "key"
        case .place(let count, let members):
            let (steps, levels) = near(count)
            let prefix = String(repeating: "^", count: levels)
            let names = steps.map { if case .member(let name) = $0 { name } else { "" } }
            guard let json = steps.firstIndex(of: .json) else {
                return InferenceText.word(prefix + InferenceText.pointer(names + members))
            }
            let outer = InferenceText.word(prefix + InferenceText.pointer(Array(names[..<json])))
            let inner = InferenceText.word(InferenceText.pointer(Array(names[(json + 1)...]) + members))
            return inner == "." ? "{json: \(outer)}" : "{json: \(outer), at: \(inner)}"
        }
    }

    /// The places of the loops, from outside.
    var loops: [String] {
        var (loops, names) = ([String](), InferenceMembers())
        for step in path.steps {
            switch step {
            case .member(let name): names.append(name)
            case .elements, .members:
                loops.append(InferenceText.word(InferenceText.pointer(names)))
                names = []
            case .json: break
            }
        }
        return loops
    }

    /// Where the shape is read from; `nil` if that is where the effect is.
    var from: String? {
        let text = text(.place(path.steps.count, []))
        return text == "." ? nil : text
    }

    /// The value in the first object that has one.
    func found(_ value: InferenceValue) -> JSONValue? {
        guard case .place(let count, let members) = value else { return nil }
        for instance in instances {
            let outer = count == path.steps.count ? instance.value : instance.way[count]
            if let found = outer.value(at: members), found != .null { return found }
        }
        return nil
    }

    /// The shape's members as YAML.
    var shape: [String] {
        members.map { member in
            let place = InferenceText.word(InferenceText.pointer(member.place))
            if let form = member.form { return "\(member.name): {time: \(place), as: \(form.rawValue)}" }
            if let other = member.unlessSame {
                let same = InferenceText.word(InferenceText.pointer(other))
                return "\(member.name): {value: \(place), unless: {\(place): {same: \(same)}}}"
            }
            return "\(member.name): \(place)"
        }
    }

    /// The lines of the effect behind its loops.
    func lines(shapeName: String?) -> [String] {
        var lines: [String] = []
        if let condition {
            var test = InferenceText.pointer(condition.place)
            if let from, from.hasPrefix("/") { test = from + test }
            let fits =
                switch (condition.isTruth, condition.isMeant) {
                case (true, true): "true"
                case (true, false): "{not: true}"
                case (false, true): "present"
                case (false, false): "{not: present}"
                }
            lines.append("when: {\(InferenceText.word(test)): \(fits)}")
        }
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
