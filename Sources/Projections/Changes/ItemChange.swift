/// A change of the items of a list.
enum ItemChange {
    /// A snapshot, which replaces the list. If not `isWhole` (a line did not decode), items that the snapshot lacks
    /// stay, behind the others.
    case snapshot(list: EntityID, items: [ItemFields], isWhole: Bool)
    /// One item was stated alone (a row). If not `tellsWhole`, the event said little of a large item.
    case stated(list: EntityID, item: ItemFields, tellsWhole: Bool = true)
    /// Some members of an item were stated; the others stay.
    case patched(ItemPatch)
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

/// Some members of an item, as a remote states them.
struct ItemPatch: Sendable {
    /// The list in which the item is before; `nil` if it is in none.
    let home: EntityID?
    /// The list in which it is afterwards; `EntityID.none` of an item that no list is known of.
    let list: EntityID
    /// The values that are told. A further member that has no value any more is `null` in `extra`.
    let item: ItemFields
    /// The members that are told, beside those of `extra`.
    let told: ItemMembers
    /// Whether it makes an item that its list does not have.
    let makes: Bool
    /// Whether a client takes the patch for the whole item.
    var isWhole = false

    /// The item after the patch; `nil` if the patch makes no item that is not known.
    func applied(to known: ItemFields?) -> ItemFields? {
        guard let known else { return makes ? whole : nil }
        if isWhole { return whole }
        var extra = known.extra
        for member in item.extra.members { extra[member.name] = member.value.isNull ? nil : member.value }
        return ItemFields(
            id: known.id,
            text: told.contains(.text) ? item.text : known.text,
            done: told.contains(.done) ? item.done : known.done,
            status: told.contains(.status) ? item.status : known.status,
            created: told.contains(.created) ? item.created : known.created,
            extra: extra
        )
    }

    /// The item of the told members alone.
    private var whole: ItemFields {
        var whole = item
        whole.extra = JSONObject(members: item.extra.members.filter { !$0.value.isNull })
        return whole
    }
}

/// Some members of an item.
struct ItemMembers: OptionSet, Sendable {
    let rawValue: UInt8

    static let text = ItemMembers(rawValue: 1)
    static let done = ItemMembers(rawValue: 2)
    static let status = ItemMembers(rawValue: 4)
    static let created = ItemMembers(rawValue: 8)
}
