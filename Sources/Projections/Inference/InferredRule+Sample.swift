import JSON

/// Payloads with made-up values.
extension InferredRule {
    /// A payload that the rule takes, and whose unit its step takes.
    ///
    /// - Parameter outer: the rules that it lies in, from outside.
    func sample(in outer: [InferredRule]) -> (attributes: [(name: String, value: String)], payload: String) {
        let sample = InferredSample()
        for rule in outer + [self] { rule.putTests(in: sample) }
        var query: [String] = []
        for effect in effects {
            let isDeletion = effect.condition?.isMeant == true
            for test in effect.unitTests {
                if case .text(let text) = test.condition {
                    sample.put(.string(text), at: (effect.path.steps + steps(test.members, effect))[...])
                }
            }
            for member in effect.members.sorted(by: { ($0.form != nil ? 0 : 1) < ($1.form != nil ? 0 : 1) })
            where !isDeletion && member.kept == nil {
                let found = effect.found(.place(effect.path.steps.count, member.place))
                let value = InferredSample.value(of: member.name, like: found, member.form)
                sample.put(value, at: (effect.path.steps + steps(member.place))[...])
            }
            for (name, value) in effect.at {
                switch value {
                case .place(let count, let members):
                    let isHere = count == effect.path.steps.count
                    let way = effect.path.prefix(count).steps + steps(members, isHere ? effect : nil)
                    sample.put(InferredSample.value(of: name, like: effect.found(value), nil), at: way[...])
                case .query(let name): query.append("\(name)=c1")
                case .key, .path, .part, .constant, .keptChannel: break
                }
            }
        }
        for rule in outer + [self] { rule.putPresence(in: sample) }
        var attributes: [(name: String, value: String)] = []
        if !group.key.path.isEmpty {
            let path = group.key.path.replacing("{channel}", with: "c1").replacing("*", with: "1")
            attributes.append(("path", path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))))
            attributes.append(("status", "200"))
        }
        return (attributes, sample.payload(group.key.kind))
    }

    /// The steps to members, or to a place of the tags that an effect is at.
    private func steps(_ members: InferenceMembers, _ effect: InferredEffect? = nil) -> [InferencePath.Step] {
        let isTag = effect.map { !$0.unitTests.isEmpty } ?? false
        return members.map { name in (isTag ? Int(name) : nil).map { .place($0) } ?? .member(name) }
    }

    /// The steps to a member that is tested; the places of a list where the unit is one.
    private func way(to test: InferenceGroup.Test) -> ArraySlice<InferencePath.Step> {
        var steps = group.base.steps
        for (index, name) in test.members.enumerated() {
            let isPlace = index == 0 && (group.units.first?.value.isTuple ?? false)
            steps.append((isPlace ? Int(name) : nil).map { .place($0) } ?? .member(name))
        }
        return steps[...]
    }

    private func putTests(in sample: InferredSample) {
        for test in group.key.tests {
            switch test.condition {
            case .text(let text): sample.put(.string(text), at: way(to: test))
            case .number(let text): sample.put((try? JSONValue.parse(text)) ?? .null, at: way(to: test))
            case .path(let pattern, let isSlashed):
                sample.put(.string((isSlashed ? "/" : "") + pattern.sample), at: way(to: test))
            case .null: sample.put(.null, at: way(to: test))
            case .present, .there, .missing: break
            }
        }
    }

    private func putPresence(in sample: InferredSample) {
        for test in group.key.tests where [.present, .there].contains(test.condition) {
            sample.put(.bool(true), at: way(to: test))
        }
    }
}
