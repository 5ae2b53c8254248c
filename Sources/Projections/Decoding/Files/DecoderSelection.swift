import JSON

extension JSONSelection {
    /// The members of payloads that a decoder file may read; `nil` if that cannot be told from its places.
    convenience init?(_ rules: [DecoderStep], _ dedupe: DecoderDedupe?) {
        var finder = DecoderSelectionFinder()
        switch dedupe?.rule {
        case .key(let value, _)?: finder.add(value)
        case .grows(let value, let begins)?:
            finder.add(value)
            finder.add(begins)
        case nil: break
        }
        if let dedupe { finder.add(dedupe.when) }
        for rule in rules { finder.add(rule) }
        guard finder.isComplete else { return nil }
        self.init(finder.extents.sorted { ExactText.precedes($0.key, $1.key) }.map { ($0.key, $0.value) })
    }
}

/// Goes through the places of a decoder file.
private struct DecoderSelectionFinder {
    /// How much is read under each name that a place leads through.
    private(set) var extents: [String: JSONSelection.Extent] = [:]
    /// False if a place reads all of a value that no name stands before.
    private(set) var isComplete = true

    mutating func add(_ step: DecoderStep) {
        add(step.when)
        for place in step.each { add(place, .members) }
        if let from = step.from { add(from) }
        for inner in step.steps { add(inner) }
        for (_, value) in step.kept { add(value) }
        if let owner = step.keptOf { add(owner) }
        guard let effect = step.effect else { return }
        for pair in effect.ids.pairs { add(pair.value) }
        for pair in effect.members.pairs + effect.outerMembers.pairs {
            // Other members are texts, times, or lists of texts.
            let isAnyValue = effect.subject == .row || effect.subject == .item || pair.name == "attachments"
            add(pair.value, isAnyValue ? .whole : .named)
        }
        if let own = effect.own { add(own) }
        if let scope = effect.set?.scope { add(scope) }
        if let columns = effect.columns { add(columns, .whole) }
        if let reactions = effect.reactions {
            add(reactions.each, .members)
            add(reactions.emoji)
            add(reactions.users)
        }
    }

    mutating func add(_ tests: DecoderTests) {
        for test in tests.groups.flatMap(\.tests) {
            add(test.value, test.condition.comparesValues ? .whole : .named)
            add(test.condition)
        }
    }

    private mutating func add(_ condition: DecoderCondition) {
        switch condition {
        case .same(let value): add(value, .whole)
        case .anyOf(let conditions): for condition in conditions { add(condition) }
        case .not(let condition): add(condition)
        case .holds(let expression): for name in expression.members { extents[name] = .whole }
        case .present, .missing, .null, .written, .text, .starts, .contains, .pointer, .type: break
        }
    }

    mutating func add(_ value: DecoderValue, _ extent: JSONSelection.Extent = .named) {
        switch value {
        case .place(let place): add(place, extent)
        case .first(let values), .join(let values, _): for value in values { add(value, extent) }
        // The JSON of a text is read whole.
        case .split(let value, _, _), .strip(let value, _, _), .time(let value, _), .json(let value, _):
            add(value, extent)
        case .when(let value, let tests, _):
            add(value, extent)
            add(tests)
        case .kept(_, let owner): if let owner { add(owner) }
        case .key, .text, .path, .query, .attribute: break
        }
    }

    private mutating func add(_ place: DecoderPlace, _ extent: JSONSelection.Extent) {
        for step in place.steps where extents[step] == nil { extents[step] = .named }
        guard extent != .named else { return }
        guard let last = place.steps.last, Int(last) == nil else { return isComplete = false }
        if extents[last] != .whole { extents[last] = extent }
    }
}

extension DecoderCondition {
    /// Whether a list or an object is compared with another.
    fileprivate var comparesValues: Bool {
        switch self {
        case .same: true
        case .anyOf(let conditions): conditions.contains(where: \.comparesValues)
        case .not(let condition): condition.comparesValues
        case .present, .missing, .null, .written, .text, .starts, .contains, .pointer, .type, .holds: false
        }
    }
}
