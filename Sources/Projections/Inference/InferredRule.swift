import EventLog
import JSON
import Kinds

/// The rule that is proposed for a group of events, or the step for a group of units within them.
struct InferredRule {
    let group: InferenceGroup
    var effects: [InferredEffect]
    /// The set that each answer states as a whole.
    var snapshot: (name: String, scope: InferenceValue)?
    /// Whether all answers have status 200.
    var hasStatus = false
    /// The steps for what lies in the group's units.
    var children: [InferredRule] = []

    /// The rule and its steps, each before those within it.
    var all: [InferredRule] { [self] + children.flatMap(\.all) }

    /// Gives each effect that has members the name of a shape.
    mutating func nameShapes(_ name: (InferredEffect) -> String) {
        for place in effects.indices where !effects[place].members.isEmpty {
            effects[place].shapeName = name(effects[place])
        }
        for place in children.indices { children[place].nameShapes(name) }
    }

    private var whenText: String {
        var tests: [String] = []
        if group.parent == nil, !group.key.path.isEmpty {
            tests.append("path: \(InferenceText.quoted(group.key.path))")
        }
        if hasStatus { tests.append("status: 200") }
        tests += group.key.tests.map(Self.text)
        return "{\(tests.joined(separator: ", "))}"
    }

    /// A test as a file writes it.
    static func text(_ test: InferenceGroup.Test) -> String {
        let place = InferenceText.word(InferenceText.pointer(test.members))
        let isKept = if case .path(_, isSlashed: false) = test.condition { true } else { false }
        return "\(isKept ? "kept.about" : place): \(InferenceText.condition(test.condition))"
    }

    // MARK: - Lines

    /// The lines of a rule.
    func lines() -> [String] {
        let bodies = self.bodies
        let isPlain = bodies.count == 1 && effects.allSatisfy(\.tests.isEmpty)
        return all.flatMap(\.effects).map { "# \(InferenceText.comment($0.reason))" } + Self.item(head, bodies, isPlain)
    }

    /// The lines of a step. What its `when` tests is the unit, so its loops are steps within it.
    private func step() -> [String] {
        let bodies = self.bodies
        let isPlain = bodies.count == 1 && effects.allSatisfy { $0.tests.isEmpty && $0.levels(behind: base).isEmpty }
        return Self.item(head, bodies, isPlain && children.isEmpty)
    }

    private var head: String { "when: \(whenText)" }

    private var base: Int { group.base.steps.count }

    private static func item(_ head: String, _ bodies: [[String]], _ isPlain: Bool) -> [String] {
        if isPlain, let body = bodies.first { return ["- " + head] + body.map { "  " + $0 } }
        return ["- " + head, "  do:"] + bodies.flatMap(listed).map { "  " + $0 }
    }

    private static func listed(_ lines: [String]) -> [String] {
        lines.enumerated().map { ($0 == 0 ? "- " : "  ") + $1 }
    }

    /// What the rule does: its effects, then what lies in the units, then the snapshot.
    private var bodies: [[String]] {
        var bodies = effects.flatMap { effect in
            let levels = effect.levels(behind: base)
            return levels.isEmpty ? effect.items : [Self.nested(levels, effect.items)]
        }
        var bases: [InferencePath] = []
        for child in children where !bases.contains(child.group.base) { bases.append(child.group.base) }
        for path in bases {
            let steps = children.filter { $0.group.base == path }
            let levels = Self.levels(of: path.steps.dropFirst(base))
            let items =
                [Self.keep(for: steps)].compactMap(\.self) + steps.map { $0.step().map { String($0.dropFirst(2)) } }
            if levels.isEmpty { bodies += items } else { bodies.append(Self.nested(levels, items, isList: true)) }
        }
        if let snapshot, let effect = effects.first {
            bodies.append(["snapshot: \(snapshot.name)", "scope: \(effect.text(snapshot.scope))"])
        }
        return bodies
    }

    /// Keeps a path that begins without a slash as one that begins with one, as tests of paths need it.
    private static func keep(for steps: [InferredRule]) -> [String]? {
        for test in steps.first?.group.key.tests ?? [] {
            if case .path(_, isSlashed: false) = test.condition {
                return [
                    "keep: {about: {join: [{text: /}, \(InferenceText.word(InferenceText.pointer(test.members)))]}}"
                ]
            }
        }
        return nil
    }

    /// The lines that lead to each level on a way, from outside.
    static func levels(of steps: ArraySlice<InferencePath.Step>) -> [String] {
        var (levels, names) = ([String](), InferenceMembers())
        for step in steps {
            if let part = step.pointerPart {
                names.append(part)
                continue
            }
            let place = InferenceText.word(InferenceText.pointer(names))
            levels.append(step == .json ? "from: {json: \(place)}" : "each: \(place)")
            names = []
        }
        return levels
    }

    /// Levels one in another, and the steps in the innermost.
    private static func nested(_ levels: [String], _ steps: [[String]], isList: Bool = false) -> [String] {
        guard let innermost = levels.last else { return steps.first ?? [] }
        var lines: [String]
        if !isList, let step = steps.first, steps.count == 1, innermost.hasPrefix("each") {
            lines = [innermost] + step
        } else {
            lines = [innermost, "do:"] + steps.flatMap(listed)
        }
        for level in levels.dropLast().reversed() { lines = [level, "do:"] + listed(lines) }
        return lines
    }
}
