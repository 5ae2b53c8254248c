public import EventLog

extension ChangeBuilder {
    /// States an item that is not known; changes none that its list has.
    public mutating func make(_ item: ItemStatement, in set: ThingSet? = nil) {
        apply(stating(.make, item, set))
    }

    /// States an item whole. An older version than the known one changes nothing.
    public mutating func replace(_ item: ItemStatement, in set: ThingSet? = nil) {
        apply(stating(.replace, item, set))
    }

    private func stating(
        _ operation: DecoderEffect.Operation,
        _ item: ItemStatement,
        _ set: ThingSet?
    ) -> EffectText {
        var effect = EffectText(operation, .item)
        effect.ids = ["list": .text(item.list), "id": .text(item.id)]
        effect.state("text", item.text)
        effect.state("status", item.status)
        effect.state("created", item.created)
        effect.state("version", item.version)
        effect.state("done", json: .bool(item.isDone))
        for member in item.extra.members { effect.state(member.name, json: member.value) }
        effect.set = set
        return effect
    }

    /// States some members of an item; the others stay. An item that is not known is made if the patch tells its list and text. An
    /// older version than the known one changes nothing.
    ///
    /// - Parameters:
    ///   - list: The list in which the item is from now on; `nil` leaves it where it is.
    ///   - extra: As in `ItemStatement`; `null` says that a member has no value any more.
    ///   - cleared: The members `text`, `status` and `created` that have no value any more.
    public mutating func patchItem(
        _ id: String,
        list: String? = nil,
        text: String? = nil,
        isDone: Bool? = nil,
        status: String? = nil,
        created: String? = nil,
        version: Timestamp? = nil,
        extra: JSONObject = JSONObject(),
        cleared: Set<String> = [],
        in set: ThingSet? = nil
    ) {
        var effect = EffectText(.patch, .item)
        effect.ids["id"] = .text(id)
        if let list { effect.ids["list"] = .text(list) }
        effect.state("text", text)
        effect.state("status", status)
        effect.state("created", created)
        effect.state("version", version)
        if let isDone { effect.state("done", json: .bool(isDone)) }
        for member in extra.members { effect.state(member.name, json: member.value) }
        for member in cleared { effect.state(member, json: .null) }
        (effect.needs, effect.set) = ([.text], set)
        apply(effect)
    }

    /// The item is gone; for ever, or until it is stated again.
    public mutating func deleteItem(
        _ id: String,
        list: String? = nil,
        version: Timestamp? = nil,
        isForEver: Bool = true,
        in set: ThingSet? = nil
    ) {
        var effect = EffectText(.delete, .item)
        effect.ids["id"] = .text(id)
        if let list { effect.ids["list"] = .text(list) }
        effect.state("version", version)
        (effect.isForEver, effect.set) = (isForEver, set)
        apply(effect)
    }
}

/// What an event says of an item.
public struct ItemStatement: Sendable {
    /// The ids of the list and of the item, which is one thing in whatever list it is.
    public var list, id: String
    /// The text, the status in the remote's words, and when it was made, as the remote writes it.
    public var text, status, created: String?
    /// Whether it is done.
    public var isDone: Bool
    /// The time that orders the versions of the item.
    public var version: Timestamp?
    /// Further members, of those that decoder files know: `order`, `parent`, `section`, `assignee`, `due`, `labels` and
    /// `doneAt`; others are passed over.
    public var extra: JSONObject

    /// States an item.
    public init(
        list: String,
        id: String,
        text: String? = nil,
        isDone: Bool = false,
        status: String? = nil,
        created: String? = nil,
        version: Timestamp? = nil,
        extra: JSONObject = JSONObject()
    ) {
        (self.list, self.id, self.text, self.isDone) = (list, id, text, isDone)
        (self.status, self.created, self.version, self.extra) = (status, created, version, extra)
    }
}
