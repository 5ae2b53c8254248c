import JSON

/// Writes the proposed rules as a decoder file.
struct InferredFile {
    private let name: String
    private var rules: [InferredRule]
    private let head: [String]
    /// The shapes by their names, in the order of their first use.
    private var shapes: [(name: String, members: [String])] = []
    /// Each rule and step that has effects, with those that it lies in.
    private var sampled: [(rule: InferredRule, outer: [InferredRule])] = []

    /// The samples, by their places.
    var sampleIndices: Range<Int> { sampled.indices }

    init(name: String, rules: [InferredRule], ordersByCreation: Bool, sampled: Int, of count: Int) {
        self.name = name
        self.rules = []
        head =
            [
                "# A proposal, made of \(sampled) of \(count) events: read it, try it, correct it (docs/decoders.md).",
                "# The samples hold made-up values.",
                "decoder: \(name)/1",
            ] + Self.absences(rules)
            + (ordersByCreation ? ["# The ids do not grow with the times.", "order: creation"] : [])
        for var rule in rules {
            rule.nameShapes { self.shapeName($0) }
            self.rules.append(rule)
            addSamples(rule, [])
        }
    }

    /// How the app writes that a message answers none, where it does so by a value.
    private static func absences(_ rules: [InferredRule]) -> [String] {
        var forms = ["null"]
        for effect in rules.flatMap(\.all).flatMap(\.effects) {
            for member in effect.members where member.name == "replyTo" {
                let values = effect.instances.compactMap { $0.value.value(at: member.place)?.writtenText }
                for (text, form) in [("", "\"\""), ("0", "0")] where values.contains(text) && !forms.contains(form) {
                    forms.append(form)
                }
            }
        }
        return forms.count > 1 ? ["none: [\(forms.joined(separator: ", "))]"] : []
    }

    private mutating func addSamples(_ rule: InferredRule, _ outer: [InferredRule]) {
        if !rule.effects.isEmpty { sampled.append((rule, outer)) }
        for child in rule.children { addSamples(child, outer + [rule]) }
    }

    private mutating func shapeName(_ effect: InferredEffect) -> String {
        let members = effect.shape
        if let known = shapes.first(where: { $0.members == members && $0.name.hasPrefix(effect.subject) }) {
            return known.name
        }
        let count = shapes.count { $0.name.hasPrefix(effect.subject) }
        let name = count == 0 ? effect.subject : "\(effect.subject)\(count + 1)"
        shapes.append((name, members))
        return name
    }

    /// - Parameter gives: what each sample gives, by its place.
    func text(gives: [Int: JSONValue]) -> String {
        var lines = head
        if !shapes.isEmpty { lines.append("shapes:") }
        for shape in shapes {
            lines.append("  \(shape.name):")
            lines += shape.members.map { "    \($0)" }
        }
        lines.append("rules:")
        for rule in rules { lines += rule.lines() }
        lines.append("samples:")
        for (index, (rule, outer)) in sampled.enumerated() {
            let sample = rule.sample(in: outer)
            lines.append("- kind: \(rule.group.key.kind)")
            if !sample.attributes.isEmpty {
                let pairs = sample.attributes.map { "\($0.name): \(InferenceText.quoted($0.value))" }
                lines.append("  attributes: {\(pairs.joined(separator: ", "))}")
            }
            lines.append("  payload: \(InferenceText.quoted(sample.payload))")
            lines.append("  gives: \(InferenceText.quoted((gives[index] ?? .array([])).canonicalText))")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
