/// The current content of a row, as its row of the state document has it.
struct SettledRow: Codable, Sendable {
    var record: JSONObject
    /// Columns that exist but whose value was never seen, sorted.
    var unknownColumns: [String]
    /// Columns whose known value may be outdated, sorted.
    var staleColumns: [String]

    /// Whether `deleted_at` is set.
    var isSoftDeleted: Bool { record["deleted_at"].map { !$0.isNull } ?? false }

    /// The members that the row contributes to its row of the state document.
    var members: JSONObject {
        [
            "state": .string(isSoftDeleted ? "soft_deleted" : "live"),
            "record": .object(record),
            "unknownColumns": .array(unknownColumns.map { .string($0) }),
            "staleColumns": .array(staleColumns.map { .string($0) }),
        ]
    }
}
