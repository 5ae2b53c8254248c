import EventLog
import JSON
import Projections

extension RedactionPlan {
    /// Folds the new generation and compares: only the texts may differ, and the ids and names of who is forgotten.
    ///
    /// - Returns: The events that still name somebody who is forgotten, or state what they wrote: in a form that cannot be replaced.
    /// - Throws: `EngineError` with code `no` if anything else would change, or a thing still had one of its texts.
    func prove(_ session: borrowing ReadSession) throws -> [SequenceNumber] {
        let stating = try StatedTexts.eventsStating(scope, session, through: decidedAt)
        if let event = stating.first, scope.people == nil {
            let payload = try session.event(at: event)?.payload ?? []
            let other = others.map(\.description).min()
            let reason =
                if !payload.withUnsafeBytes({ search.occurs(in: $0) }) {
                    "which its decoder file joins from several texts: redact each of them with --match"
                } else if let other {
                    "which is that of \(other), too: name that as well"
                } else {
                    "which is an id or a word of the protocol there as well"
                }
            throw EngineError(
                "redact: event \(event) would still state the text, \(reason); nothing was written",
                code: .no
            )
        }
        let after = try Replay.logState(of: session, through: decidedAt)
        let comparison = RedactionComparison(scope, search, answers: answers)
        guard let first = comparison.unexpected(StateDiff.differences(before, after)).first else { return stating }
        let fields = first.fields.map(\.name).joined(separator: ", ")
        let advice =
            scope.things == nil || scope.people != nil
            ? "" : "what shares a text with the named goes with it only if it is named, too; "
        throw EngineError(
            "\(scope.verb): \(first.entity) would change (\(fields.isEmpty ? first.change.rawValue : fields)); \(advice)"
                + "nothing was written",
            code: .no
        )
    }
}

extension RedactionScope {
    /// What is done, as messages name it.
    var verb: String { people == nil ? "redact" : "forget" }
}

/// Tells the differences that a redaction makes from all others.
struct RedactionComparison {
    private let scope: RedactionScope
    private let search: TokenSearch
    private let answers: Set<EntityReference>
    /// The substitutes of all texts, and of ids and names alone.
    private let (all, names): (TextForms, TextForms)

    init(_ scope: RedactionScope, _ search: TokenSearch, answers: Set<EntityReference>) {
        (self.scope, self.search, self.answers) = (scope, search, answers)
        var (all, names) = (TextForms(), TextForms())
        if scope.people != nil {
            for number in scope.substitutes.texts.indices {
                let substitute = scope.substitutes.substitute(of: number)
                all.add(substitute, number: number, .text)
                if scope.substitutes.roles[number].isOfPerson { names.add(substitute, number: number, .text) }
            }
        }
        (self.all, self.names) = (all, names)
    }

    /// The differences that the redaction should not make.
    func unexpected(_ differences: [StateDifference]) -> [StateDifference] {
        guard scope.people != nil else { return differences.filter { !isExpected($0) } }
        // What has a person's id as its own comes under the pseudonym.
        let added = Dictionary(
            differences.filter { $0.change == .added }.map { ($0.entity, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var renamed: Set<EntityReference> = []
        let rest = differences.filter { difference in
            if difference.change == .added { return false }
            guard difference.change == .removed, let name = newName(of: difference.entity), let other = added[name]
            else {
                return !isExpected(difference)
            }
            renamed.insert(name)
            return !isSame(difference, other)
        }
        return rest + differences.filter { $0.change == .added && !renamed.contains($0.entity) }
    }

    /// The name of a thing whose own id is that of a person; `nil` for other things.
    private func newName(of thing: EntityReference) -> EntityReference? {
        let kinds: Set<EntityReference.Kind> = [.member, .ban, .presence, .voice, .typing, .row]
        guard kinds.contains(thing.kind), let source = thing.parts.first, let id = thing.parts.last,
            scope.people?.ids[source]?.contains(id) == true, let number = scope.substitutes.index(of: id)
        else { return nil }
        return EntityReference(
            kind: thing.kind,
            parts: thing.parts.dropLast() + [scope.substitutes.substitute(of: number)]
        )
    }

    /// Whether a thing has the same members under its new name.
    private func isSame(_ old: StateDifference, _ new: StateDifference) -> Bool {
        let others = Dictionary(new.fields.map { ($0.name, $0.b) }, uniquingKeysWith: { first, _ in first })
        return old.fields.count == new.fields.count
            && old.fields.allSatisfy { field in
                others[field.name].map { isRenamed(field.a, to: $0, by: names) } ?? false
            }
    }

    /// Whether a difference is nothing but texts replaced, and ids and names.
    private func isExpected(_ difference: StateDifference) -> Bool {
        guard difference.change == .changed else { return false }
        if let things = scope.things, !things.contains(difference.entity) {
            let isAnswer = answers.contains(difference.entity)
            guard isAnswer || scope.people != nil else { return false }
            return difference.fields.allSatisfy { field in
                if isAnswer, field.name != "content", isReplaced(field.a, by: field.b) { return true }
                return scope.people != nil && !Self.fixed.contains(field.name)
                    && isRenamed(field.a, to: field.b, by: names)
            }
        }
        return difference.fields.allSatisfy { field in
            isReplaced(field.a, by: field.b)
                || scope.people != nil && !Self.fixed.contains(field.name) && isRenamed(field.a, to: field.b, by: all)
        }
    }

    /// Members that no id or name of a person is in.
    private static let fixed: Set = [
        "replyTo", "order", "guild", "channel", "kind", "parent", "position", "state", "status",
    ]

    /// Whether a value is another one with ids, names and texts replaced. Lists of people may have another order.
    private func isRenamed(_ old: JSONValue?, to new: JSONValue?, by forms: TextForms) -> Bool {
        guard let old, let new else { return old == new }
        let before = restored(new, by: forms)
        return Self.sorted(old).canonicalBytes == Self.sorted(before).canonicalBytes
    }

    /// A value with the substitutes replaced by what they stand for.
    private func restored(_ value: JSONValue, by forms: TextForms) -> JSONValue {
        switch value {
        case .string(let text): return .string(restored(text, by: forms))
        case .number(let number):
            let text = restored(number.text, by: forms)
            return scope.substitutes.numbers.contains(text) ? .number(JSONNumber(unchecked: text)) : value
        case .array(let elements): return .array(elements.map { restored($0, by: forms) })
        case .object(let object):
            var result = JSONObject()
            for member in object.members { result[member.name] = restored(member.value, by: forms) }
            return .object(result)
        case .null, .bool: return value
        }
    }

    private func restored(_ text: String, by forms: TextForms) -> String {
        let bytes = Array(text.utf8)
        var (result, start): ([UInt8], Int) = ([], 0)
        while start < bytes.count {
            if let match = forms.match(in: bytes, at: start, loose: []) {
                result += scope.substitutes.texts[match.text].utf8
                start = match.range.upperBound
            } else {
                result.append(bytes[start])
                start += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// A value with the lists of texts within it sorted.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements):
            let isList = elements.allSatisfy { $0.string != nil }
            return .array(
                isList
                    ? elements.sorted { ExactText.precedes($0.string ?? "", $1.string ?? "") } : elements.map(sorted)
            )
        case .object(let object):
            var result = JSONObject()
            for member in object.members { result[member.name] = sorted(member.value) }
            return .object(result)
        case .string, .number, .bool, .null: return value
        }
    }

    /// Whether each string of a value stays or gave its texts away, and all else stays.
    private func isReplaced(_ old: JSONValue?, by new: JSONValue?) -> Bool {
        guard let old, let new else { return false }
        switch (old, new) {
        case (.string(let old), .string(let new)):
            if old.utf8.elementsEqual(new.utf8) || scope.substitutes.replaced(in: old) == new { return true }
            // A text that grew piece by piece, and one in another form, are not replaced as one text.
            return search.occurs(in: old) && !search.occurs(in: new)
        case (.array(let old), .array(let new)):
            return old.count == new.count && zip(old, new).allSatisfy { isReplaced($0, by: $1) }
        case (.object(let old), .object(let new)):
            // A name that is no member of a protocol may be a text as well.
            return old.members.count == new.members.count
                && zip(old.members, new.members).allSatisfy { old, new in
                    isReplaced(.string(old.name), by: .string(new.name)) && isReplaced(old.value, by: new.value)
                }
        default: return old == new
        }
    }
}
