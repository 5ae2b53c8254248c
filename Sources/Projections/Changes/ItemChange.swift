/// A change of the items of a list.
enum ItemChange {
    /// A snapshot, which replaces the list. If not `isWhole` (a line did not decode), items that the snapshot lacks
    /// stay, behind the others.
    case snapshot(list: EntityID, items: [ItemFields], isWhole: Bool)
    /// One item was stated alone (a row).
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
    /// The time of creation, as written; not read as a time.
    var created: String?
    /// The remote's other members.
    var extra = JSONObject()
}
