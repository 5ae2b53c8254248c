import EventLog

/// One change of one row of a realtime table.
struct RowChange: Codable, Sendable {
    enum Operation: String, Codable, Hashable, Sendable {
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"
    }

    var table: EntityID
    var id: EntityID
    var operation: Operation
    /// What decides the order of changes, ties by arrival.
    var committedAt: Timestamp
    /// What tells a repeat: the hash of the change's canonical text without `columns`.
    var identity: Hash256
    /// The names in `columns`, in order.
    var columns: [String]
    var record: JSONObject
    /// Whether an error `413` left values out of `record`.
    var isPartial = false
    /// Whether it is a row that was read, not a change: one that the remote last wrote before what is known is stale.
    var isReading = false
    /// Whether its place among the changes is that of its arrival, and no repeat is one.
    var isPlacedByArrival = false
}
