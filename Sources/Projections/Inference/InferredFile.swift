import JSON

/// Writes the proposed rules as a decoder file.
struct InferredFile {
    private let name: String
    private let rules: [InferredRule]
    private let head: [String]
    /// The shapes by their names, in the order of their first use.
    private var shapes: [(name: String, members: [String])] = []
    private var shapeNames: [[String?]] = []

    /// The rules that have a sample.
    var sampledRules: [Int] { Array(rules.indices) }

    init(name: String, rules: [InferredRule], ordersByCreation: Bool, sampled: Int, of count: Int) {
        self.name = name
        self.rules = rules
        head =
            [
                "# A proposal, made of \(sampled) of \(count) events: read it, try it, correct it (docs/decoders.md).",
                "# The samples hold made-up values.",
                "decoder: \(name)/1",
            ] + (ordersByCreation ? ["# The ids do not grow with the times.", "order: creation"] : [])
        for rule in rules { shapeNames.append(rule.effects.map { _ in nil }) }
        for (index, rule) in rules.enumerated() {
            for (place, effect) in rule.effects.enumerated() where !effect.members.isEmpty {
                shapeNames[index][place] = shapeName(effect)
            }
        }
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

    /// - Parameter gives: what the sample of each rule gives, by the rule's place.
    func text(gives: [Int: JSONValue]) -> String {
        var lines = head
        if !shapes.isEmpty { lines.append("shapes:") }
        for shape in shapes {
            lines.append("  \(shape.name):")
            lines += shape.members.map { "    \($0)" }
        }
        lines.append("rules:")
        for (index, rule) in rules.enumerated() { lines += rule.lines(shapeNames: shapeNames[index]) }
        lines.append("samples:")
        for index in sampledRules {
            let rule = rules[index]
            let sample = rule.sample()
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
