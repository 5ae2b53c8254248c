/// A change of the items of a list.
enum ItemChange {
    /// A snapshot, which replaces the list. If not `isWhole` (a line did not decode), items that the snapshot lacks
    /// stay, behind the others.
    case snapshot(list: EntityID, items: [ItemFields], isWhole: Bool)
    /// One item was stated alone (a row). If not `tellsWhole`, the event said little of a large item.
    case stated(list: EntityID, item: ItemFields, tellsWhole: Bool = true)
    /// One item is gone from a list.
    case removed(list: EntityID, id: EntityID, tellsWhole: Bool = true)
}

/// An item as a remote states it. Copies share their fields: a snapshot of a list hands on all its items, of which few
/// are new.
struct ItemFields: Codable, Sendable {
    /// The remote's other members.
    enum Extra: Codable {
        case members(JSONObject)
        /// Of an item that a row states, which may have many columns and change one at a time.
        case columns(SharedColumns)
    }

    private final class Storage: Codable, Sendable {
        let id: EntityID
        let text: String?
        let done: Bool
        let status: String?
        let created: String?
        let extra: Extra

        init(id: EntityID, text: String?, done: Bool, status: String?, created: String?, extra: Extra) {
            (self.id, self.text, self.done) = (id, text, done)
            (self.status, self.created, self.extra) = (status, created, extra)
        }
    }

    private var storage: Storage

    init(
        id: EntityID,
        text: String? = nil,
        done: Bool,
        status: String? = nil,
        created: String? = nil,
        extra: JSONObject = JSONObject()
    ) {
        self.init(id: id, text: text, done: done, status: status, created: created, .members(extra))
    }

    init(id: EntityID, text: String?, done: Bool, status: String?, created: String?, _ extra: Extra) {
        storage = Storage(id: id, text: text, done: done, status: status, created: created, extra: extra)
    }

    init(from decoder: any Decoder) throws {
        storage = try Storage(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try storage.encode(to: encoder)
    }

    var id: EntityID { storage.id }
    var text: String? { storage.text }
    var done: Bool { storage.done }
    var status: String? { storage.status }
    /// The time of creation, as written; not read as a time.
    var created: String? { storage.created }
    /// The columns that are the remote's other members, if a row states the item.
    var columns: SharedColumns? { if case .columns(let columns) = storage.extra { columns } else { nil } }

    /// The same item with other columns.
    func with(_ columns: SharedColumns) -> ItemFields {
        ItemFields(id: id, text: text, done: done, status: status, created: created, .columns(columns))
    }

    /// The remote's other members. Cost: O(1); of an item that a row states, O(bytes).
    var extra: JSONObject {
        get {
            switch storage.extra {
            case .members(let members): members
            case .columns(let columns):
                JSONObject(
                    distinct: columns.all.map { JSONObject.Member(name: $0.name, value: $0.value.value) }
                )
            }
        }
        set {
            self = ItemFields(id: id, text: text, done: done, status: status, created: created, extra: newValue)
        }
    }

    /// Whether both are copies of one item, and so equal. Equal items need not be.
    func isCopy(of other: ItemFields) -> Bool { storage === other.storage }
}
