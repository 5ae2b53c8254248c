/// What can happen to the items of a list.
enum ItemChange {
    /// A snapshot of one list: it replaces the list. If not `isWhole` (a line did not decode), what it lacks keeps its
    /// place after the others.
    case snapshot(list: EntityID, items: [ItemFields], isWhole: Bool)
    /// One item was stated by itself (a row).
    case stated(list: EntityID, item: ItemFields)
    /// One item is gone from a list.
    case removed(list: EntityID, id: EntityID)
}

/// An item as a remote states it.
struct ItemFields: Codable, Hashable, Sendable {
    var id: EntityID
    var text: String?
    var done: Bool
    var status: String?
    /// As written.
    var created: String?
    /// What the remote says beyond the members above.
    var extra = JSONObject()
}
