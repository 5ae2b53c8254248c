import EventLog
import JSON

/// What tells the kinds of like units apart: members whose values are words, and a member whose value is a path.
struct InferenceTelling {
    /// A member that holds a path, as `/messages/r1/m1`.
    struct Pointer {
        let members: InferenceMembers
        let isSlashed: Bool
        /// A member beside it that is null in some units.
        let nullable: InferenceMembers?
    }

    /// The members that name what a unit is, as `/type`.
    let discriminators: [InferenceMembers]
    /// The member whose paths say what a unit is about.
    private(set) var pointer: Pointer?

    /// Of whole events: where no member has a usual name, one is found by its values.
    init(events values: [JSONValue]) { discriminators = Self.discriminators(of: values, byValues: true) }

    /// Of units within events, or of the events of a group.
    ///
    /// - Parameter isWhole: whether the units have a group by their words already.
    init(units values: [JSONValue], isWhole: Bool) {
        discriminators = isWhole ? [] : Self.discriminators(of: values, byValues: false)
        pointer = Self.pointer(in: values)
    }

    // MARK: - Tests

    /// The tests that a whole event fits. What it lacks is tested only behind what it has, since the first rule that fits counts.
    func tests(of value: JSONValue) -> [InferenceGroup.Test] {
        var tests: [InferenceGroup.Test] = []
        for members in discriminators {
            switch Self.condition(value.value(at: members)) {
            case nil: break
            case .missing? where tests.isEmpty: break
            case let condition?: tests.append(.init(members: members, condition: condition))
            }
        }
        return tests
    }

    /// The tests that a unit fits and no unit of another kind does; `nil` if there are none.
    func exactTests(of value: JSONValue) -> [InferenceGroup.Test]? {
        var tests: [InferenceGroup.Test] = []
        for members in discriminators {
            guard let condition = Self.condition(value.value(at: members)) else { return nil }
            tests.append(.init(members: members, condition: condition))
        }
        guard let pointer else { return tests.isEmpty ? nil : tests }
        guard let text = value.value(at: pointer.members)?.string, let pattern = InferencePattern(text) else {
            return nil
        }
        tests.append(.init(members: pointer.members, condition: .path(pattern, isSlashed: pointer.isSlashed)))
        if let members = pointer.nullable {
            let condition: InferenceGroup.Test.Condition =
                switch value.value(at: members) {
                case nil: .missing
                case .null?: .null
                case _?: .present
                }
            tests.append(.init(members: members, condition: condition))
        }
        return tests
    }

    private static func condition(_ value: JSONValue?) -> InferenceGroup.Test.Condition? {
        switch value {
        case .string(let text)? where InferenceNames.isWord(text): .text(text)
        case .number(let number)?: .number(number.text)
        case nil: .missing
        case _?: nil
        }
    }

    // MARK: - Changes

    /// Whether the members tell what happens rather than what things are: some word says a change, or units with one word
    /// have little in common with units with another.
    func tellsChanges(_ values: [JSONValue]) -> Bool {
        guard let head = discriminators.first, head.count == 1 else { return false }
        var common: [String: Set<String>] = [:]
        for value in values {
            guard case .text(let word)? = Self.condition(value.value(at: head)) else { continue }
            let names = Set(value.parts.prefix(40).map(\.name))
            common[word] = common[word]?.intersection(names) ?? names
        }
        let verbs = InferenceNames.edits.union(InferenceNames.deletes)
        if common.keys.contains(where: { !InferenceNames.words(of: [$0]).isDisjoint(with: verbs) }) { return true }
        let shapes = common.values.map { $0.subtracting(head) }
        return shapes.contains { one in shapes.contains { Self.differ(one, $0) } }
    }

    private static func differ(_ one: Set<String>, _ other: Set<String>) -> Bool {
        one.intersection(other).count * 2 < min(one.count, other.count)
    }

    // MARK: - Paths

    private static func pointer(in values: [JSONValue]) -> Pointer? {
        for name in InferenceNames.path {
            for members in places(of: name, in: values) {
                let texts = values.compactMap { $0.value(at: members)?.string }
                guard isPath(texts) else { continue }
                let isSlashed = texts.allSatisfy { $0.hasPrefix("/") }
                if !isSlashed, texts.contains(where: { $0.hasPrefix("/") }) { continue }
                return Pointer(members: members, isSlashed: isSlashed, nullable: nullable(beside: members, in: values))
            }
        }
        return nil
    }

    /// Whether texts are paths of more than one pattern, most of several parts.
    private static func isPath(_ texts: [String]) -> Bool {
        guard texts.count >= 4, texts.allSatisfy({ InferencePattern($0) != nil }) else { return false }
        let patterns = Set(texts.compactMap { InferencePattern($0) })
        return (2...32).contains(patterns.count) && patterns.contains { $0.idCount > 0 }
            && texts.count(where: { $0.utf8.dropFirst().contains(0x2f) }) * 2 > texts.count
    }

    /// The members of a name, up to three floors deep, in the order in which they first stand.
    private static func places(of name: String, in values: [JSONValue]) -> [InferenceMembers] {
        var places: [InferenceMembers] = []
        func look(_ value: JSONValue, _ outer: InferenceMembers) {
            guard outer.count < 3 else { return }
            for part in value.parts.prefix(40) {
                let place = outer + [part.name]
                if InferenceNames.plain(part.name) == name, part.value.string != nil, !places.contains(place) {
                    places.append(place)
                }
                if part.value.object != nil { look(part.value, place) }
            }
        }
        for value in values.prefix(200) where places.count < 8 { look(value, []) }
        return places
    }

    private static func nullable(beside place: InferenceMembers, in values: [JSONValue]) -> InferenceMembers? {
        let outer = Array(place.dropLast())
        for value in values.prefix(InferenceWalk.instancesMax) {
            for part in value.value(at: outer)?.parts.prefix(40) ?? [] where part.value == .null {
                return outer + [part.name]
            }
        }
        return nil
    }

    // MARK: - Words

    private struct Candidate {
        var count = 0
        var values: [String: Set<[String]>] = [:]
        var isFit = true
        /// Whether it is the first of a list whose places have meanings.
        var isHead = false
    }

    private static func discriminators(of values: [JSONValue], byValues: Bool) -> [InferenceMembers] {
        var candidates: [InferenceMembers: Candidate] = [:]
        for value in values {
            let shape = shape(of: value)
            note(value, [], shape, &candidates)
        }
        let fit = candidates.filter { $0.value.isFit && $0.value.values.count > 1 && $0.value.values.count <= 64 }
        var named = fit.keys.filter { place in
            let name = InferenceNames.plain(place.last ?? "")
            // The type of a reaction is its emoji.
            let isOfReaction = place.dropLast().contains {
                ["reaction", "reactions"].contains(InferenceNames.plain($0))
            }
            guard !isOfReaction, let candidate = fit[place] else { return false }
            // Deep within, only what GraphQL writes itself.
            if place.count > 3 { return name == "typename" }
            return candidate.isHead || InferenceNames.naming.contains(name)
                || (InferenceNames.rareNaming.contains(name) && candidate.count >= candidate.values.count * 3)
        }
        if byValues, !named.contains(where: { $0.count == 1 }) {
            // By values alone: few, in most payloads, each with a shape of its own.
            let others = fit.filter { members, candidate in
                members.count == 1 && !InferenceNames.isOfWhom(InferenceNames.plain(members[0]))
                    && candidate.values.count <= 16 && candidate.count * 10 >= values.count * 6
                    && candidate.count >= candidate.values.count * 2
                    && Set(candidate.values.values).count * 3 >= candidate.values.count * 2
            }
            if let best = others.keys.sorted(by: precedes).first { named.append(best) }
        }
        return named.sorted(by: precedes)
    }

    private static func precedes(_ left: InferenceMembers, _ right: InferenceMembers) -> Bool {
        if left.count != right.count { return left.count < right.count }
        return ExactText.precedes(left.joined(separator: "/"), right.joined(separator: "/"))
    }

    private static func note(
        _ value: JSONValue,
        _ members: InferenceMembers,
        _ shape: [String],
        _ candidates: inout [InferenceMembers: Candidate],
        isInTuple: Bool = false
    ) {
        guard members.count < 4 else { return }
        let isTuple = value.isTuple
        for part in value.parts.prefix(40) {
            let place = members + [part.name]
            switch part.value {
            case .object: note(part.value, place, shape, &candidates, isInTuple: isTuple)
            case .string(let text):
                add(text, place, shape, isFit: InferenceNames.isWord(text), &candidates)
                if isTuple, part.name == "0" { candidates[place]?.isHead = true }
            case .number(let number) where place.count == 1 || isInTuple:
                add(number.text, place, shape, isFit: number.text.utf8.count <= 5, &candidates)
            default: break
            }
        }
    }

    private static func add(
        _ text: String,
        _ place: InferenceMembers,
        _ shape: [String],
        isFit: Bool,
        _ candidates: inout [InferenceMembers: Candidate]
    ) {
        var candidate = candidates[place] ?? Candidate()
        if candidates[place] == nil, candidates.count >= 1_000 { return }
        candidate.count += 1
        candidate.isFit = candidate.isFit && isFit
        if candidate.values.count <= 64 { candidate.values[text, default: []].insert(shape) }
        candidates[place] = candidate
    }

    /// The names of the outer two floors of members, sorted.
    private static func shape(of value: JSONValue) -> [String] {
        var names: [String] = []
        for part in value.parts.prefix(40) {
            names.append(part.name)
            for inner in part.value.object?.members.prefix(40) ?? [] { names.append(part.name + "/" + inner.name) }
        }
        return names.sorted { ExactText.precedes($0, $1) }
    }
}
