import EventLog

/// One change of one row of a realtime table.
struct RowChange: Codable, Sendable {
    enum Operation: String, Codable, Hashable, Sendable {
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"

        /// Whether a row exists of which a change of this kind is the only one.
        var givesRow: Bool { self != .delete }
    }

    var table: EntityID
    var id: EntityID
    /// Equal for repeats: the hash of the change as JSON, without `columns`.
    var identity: ChangeIdentity
    /// The names that the payload's list of columns contains; `record` may lack some.
    var columns: RowShape
    /// The columns' values as sent; empty for a DELETE.
    var record: RowRecord
    /// The remote's time of the commit. Orders the changes of a row; ties go by arrival.
    var committedAt: Timestamp
    var operation: Operation
    /// True if an error `413` left values out of `record`.
    var isPartial = false
    /// True for a row that was read, not changed. The register ignores it if the remote wrote it before the known row.
    var isReading = false
    /// True if changes apply in arrival order, duplicates included.
    var isPlacedByArrival = false
}
