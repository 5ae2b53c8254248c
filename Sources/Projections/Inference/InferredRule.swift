import EventLog
import JSON
import Kinds

/// The rule that is proposed for a group of events.
struct InferredRule {
    let group: InferenceGroup
    let effects: [InferredEffect]
    /// The set that each answer states as a whole.
    var snapshot: (name: String, scope: InferenceValue)?
    /// Whether all answers have status 200.
    let hasStatus: Bool

    private var whenText: String {
        var tests: [String] = []
        if !group.key.path.isEmpty { tests.append("path: \(InferenceText.quoted(group.key.path))") }
        if hasStatus { tests.append("status: 200") }
        for test in group.key.tests {
            let place = InferenceText.word(InferenceText.pointer(test.members))
            tests.append("\(place): \(InferenceText.condition(test.condition))")
        }
        return "{\(tests.joined(separator: ", "))}"
    }

    /// - Parameter shapeNames: the name of the shape of each effect; `nil` for one that reads none.
    func lines(shapeNames: [String?]) -> [String] {
        var lines = effects.map { "# \(InferenceText.comment($0.reason))" }
        lines.append("- when: \(whenText)")
        if effects.count == 1, let effect = effects.first, effect.condition == nil, snapshot == nil {
            lines += Self.nested(effect, shapeNames[0]).map { "  " + $0 }
            return lines
        }
        lines.append("  do:")
        for (effect, name) in zip(effects, shapeNames) {
            for (index, line) in Self.nested(effect, name).enumerated() {
                lines.append((index == 0 ? "  - " : "    ") + line)
            }
        }
        if let snapshot, let effect = effects.first {
            lines.append("  - snapshot: \(snapshot.name)")
            lines.append("    scope: \(effect.text(snapshot.scope))")
        }
        return lines
    }

    /// The loops of an effect one in another, and the effect in the innermost.
    private static func nested(_ effect: InferredEffect, _ shapeName: String?) -> [String] {
        var lines = effect.lines(shapeName: shapeName)
        for (index, loop) in effect.loops.reversed().enumerated() {
            if index > 0 {
                lines = lines.enumerated().map { ($0 == 0 ? "- " : "  ") + $1 }
                lines.insert("do:", at: 0)
            }
            lines.insert("each: \(loop)", at: 0)
        }
        return lines
    }

    /// A payload that the rule takes.
    func sample() -> (attributes: [(name: String, value: String)], payload: String) {
        let sample = InferredSample()
        for test in group.key.tests {
            let steps = test.members.map { InferencePath.Step.member($0) }
            switch test.condition {
            case .text(let text): sample.put(.string(text), at: steps[...])
            case .number(let text): sample.put((try? JSONValue.parse(text)) ?? .null, at: steps[...])
            case .present, .missing: break
            }
        }
        var query: [String] = []
        for effect in effects {
            let isDeletion = effect.condition?.isMeant == true
            for member in effect.members.sorted(by: { ($0.form != nil ? 0 : 1) < ($1.form != nil ? 0 : 1) })
            where !isDeletion {
                let found = effect.found(.place(effect.path.steps.count, member.place))
                let value = InferredSample.value(of: member.name, like: found, member.form)
                sample.put(value, at: (effect.path.steps + member.place.map { .member($0) })[...])
            }
            for (name, value) in effect.at {
                switch value {
                case .place(let count, let members):
                    let steps = effect.path.prefix(count).steps + members.map { .member($0) }
                    sample.put(InferredSample.value(of: name, like: effect.found(value), nil), at: steps[...])
                case .query(let name): query.append("\(name)=c1")
                case .key, .path, .constant: break
                }
            }
        }
        for test in group.key.tests where test.condition == .present {
            sample.put(.bool(true), at: test.members.map { InferencePath.Step.member($0) }[...])
        }
        var attributes: [(name: String, value: String)] = []
        if !group.key.path.isEmpty {
            let path = group.key.path.replacing("{channel}", with: "c1").replacing("*", with: "1")
            attributes.append(("path", path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))))
            attributes.append(("status", "200"))
        }
        return (attributes, sample.payload(group.key.kind))
    }
}
