import EventLog

extension ItemFields {
    /// The members that a row and a history entry have in common. `position` counts from 0.
    func fields(position: Int?) -> JSONObject {
        var fields = fieldsBesideExtra(position: position)
        let extra = extra
        if !extra.members.isEmpty { fields["extra"] = .object(extra) }
        return fields
    }

    /// The same without `extra`.
    func fieldsBesideExtra(position: Int?) -> JSONObject {
        [
            "position": position.map { .int($0) },
            "text": .text(text),
            "done": .bool(done),
            "status": .text(status),
            "created": .text(created),
        ]
    }

    /// Whether both items are equal, apart from the order of the members in `extra`.
    func isSame(as other: ItemFields) -> Bool {
        if isCopy(of: other) { return true }
        return id == other.id && done == other.done && Sameness.areSame(text, other.text)
            && Sameness.areSame(status, other.status) && Sameness.areSame(created, other.created)
            && hasSameExtra(as: other)
    }

    private func hasSameExtra(as other: ItemFields) -> Bool {
        if let columns, let others = other.columns { return columns.changes(since: others).isEmpty }
        return JSONValue.object(extra).isSameJSON(as: .object(other.extra))
    }

    /// Whether both items agree in everything that remotes sort by, apart from times. If not, the remote's sorting
    /// explains why the item moved.
    func hasSameRank(as other: ItemFields) -> Bool {
        done == other.done && status == other.status && extra["priority"] == other.extra["priority"]
    }

    /// Whether this item precedes another in a list without an order of the remote: by `created`, then id. Items
    /// without a readable `created` come last.
    func precedes(_ other: ItemFields, names: Names) -> Bool {
        let instants = (created.flatMap { RemoteTime.postgres($0) }, other.created.flatMap { RemoteTime.postgres($0) })
        switch instants {
        case (let mine?, let theirs?) where mine != theirs: return mine < theirs
        case (.some, nil): return true
        case (nil, .some): return false
        default: return names.precedes(id, other.id)
        }
    }

    /// The kinds of change from this version to the next, in a fixed order; see `Items`. Empty if nothing changed but
    /// the place.
    ///
    /// - Parameter isBumped: whether the item moved up in its list; that counts only where nothing but times differs.
    func kinds(of next: ItemFields, isBumped: Bool) -> [String] {
        if !isBumped, isSame(as: next) { return [] }
        var kinds = Sameness.areSame(text, next.text) ? [] : ["retitled"]
        kinds += statusKinds(of: next)
        if !Sameness.areSame(created, next.created) { kinds.append("updated") }
        var isTouched = false
        for name in changedNames(of: next) {
            if Self.timeNames.contains(name) { isTouched = true; continue }
            let kind = Self.kindsByName[name] ?? "updated"
            if !kinds.contains(kind) { kinds.append(kind) }
        }
        if kinds.isEmpty && isBumped { return ["bumped"] }
        return kinds.isEmpty && isTouched ? ["touched"] : kinds
    }

    /// The kinds that a change of `done` and `status` gives. An item that becomes done has `done` alone, whatever its
    /// status became.
    private func statusKinds(of next: ItemFields) -> [String] {
        var kinds = done == next.done ? [] : [next.done ? "done" : "reopened"]
        guard status != next.status, !next.done || kinds.isEmpty else { return kinds }
        if status == "blocked" { kinds.append("unblocked") }
        switch next.status {
        case "blocked": kinds.append("blocked")
        case "in_progress": kinds.append("started")
        case "resolved": kinds.append("resolved")
        default: if kinds.isEmpty { kinds.append("status") }
        }
        return kinds
    }

    /// The names of the other members that differ, by their UTF-8 bytes.
    private func changedNames(of next: ItemFields) -> [String] {
        if let columns, let others = next.columns { return others.changes(since: columns).map(\.name) }
        let (old, new) = (extra, next.extra)
        let changed = old.members.filter { !$0.value.isSameJSON(as: new[$0.name]) }.map(\.name)
        return (changed + new.members.filter { old[$0.name] == nil }.map(\.name))
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Members that a remote sets on every write. Alone they are no change of contents.
    private static let timeNames: Set<String> = ["modified", "updated_at"]

    /// The kinds of the members that the apps use; every other member is `updated`.
    private static let kindsByName = [
        "priority": "reprioritised", "description": "described", "body": "described", "notes": "described",
        "triage": "triaged", "tags": "retagged", "assignee": "assigned", "snooze": "snoozed", "deadline": "snoozed",
        "plan-questions": "questioned", "deps": "relinked", "hasUnresolvedDep": "relinked", "parent": "relinked",
    ]
}
