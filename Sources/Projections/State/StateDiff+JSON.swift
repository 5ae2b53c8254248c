public import EventLog

extension StateDiff {
    /// The document of `diff --json`: `{"same", "differences": [{"entity", "change", "fields", "sequences"}]}`.
    ///
    /// `fields` maps each name to `{"a", "b"}`, where the side without a value is left out. `sequences` are the
    /// responsible events, in the order given. Differences without an entry in `responsible` lack it.
    public static func document(
        _ differences: [StateDifference],
        responsible: [EntityReference: [SequenceNumber]] = [:]
    ) -> JSONValue {
        .object([
            "same": .bool(differences.isEmpty),
            "differences": .array(differences.map { row(of: $0, responsible: responsible) }),
        ])
    }

    /// One element of the document's `differences`.
    public static func row(
        of difference: StateDifference,
        responsible: [EntityReference: [SequenceNumber]] = [:]
    ) -> JSONValue {
        // Most comparisons explain nothing, and looking a thing up hashes its name.
        let sequences = responsible.isEmpty ? nil : responsible[difference.entity]
        return .object([
            "entity": .string(difference.entity.description),
            "change": .string(difference.change.rawValue),
            "fields": .object(fields(of: difference)),
            "sequences": sequences.map { .array($0.map { .string($0.description) }) },
        ])
    }

    private static func fields(of difference: StateDifference) -> JSONObject {
        var object = JSONObject()
        for field in difference.fields { object[field.name] = .object(["a": field.a, "b": field.b]) }
        return object
    }
}
