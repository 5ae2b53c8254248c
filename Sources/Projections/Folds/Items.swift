import EventLog

/// The items of every list, in the order of the remote, and their histories.
///
/// Changes are derived from consecutive snapshots by id. `kinds` names what changed:
/// - the text: `retitled`;
/// - whether it is done: `done`, `reopened`;
/// - the status, with `done` unchanged: `blocked`, `unblocked`, `started`, `resolved`, else `status`;
/// - other members: `reprioritised`, `described`, `triaged`, `retagged`, `assigned`, `snoozed`, `questioned`, `relinked`,
///   else `updated`;
/// - at most the time of change, and the item moved up (`ItemList.bumped`): `bumped`;
/// - the time of change alone: `touched`.
///
/// A list of items that are stated one by one (rows) is ordered by their `created`, then id.
struct Items: Fold {
    /// By the list's name. A list that became empty stays, with the events that changed it.
    private var lists: [EntityID: ItemList] = [:]
    private var histories = EntityHistories<ItemHistoryEntry>()

    init() {}

    mutating func apply(_ change: Change, in context: inout FoldContext) {
        guard case .item(let change) = change else { return }
        switch change {
        case .snapshot(let list, let items, let isWhole):
            replace(list, with: items, isWhole: isWhole, in: &context)
        case .stated(let list, let item, let tellsWhole):
            state(item, in: list, tellsWhole: tellsWhole, context: &context)
        case .patched(let patch): self.patch(patch, context: &context)
        case .removed(let list, let id, let tellsWhole):
            remove(id, from: list, tellsWhole: tellsWhole, context: &context)
        }
    }

    /// The items list by list, in the order of the lists' names, each list in the remote's order.
    func keys(in section: Section, names: Names) -> [EntityKey] {
        guard section == .items else { return [] }
        return lists.keys.sorted(by: names.precedes).flatMap { list in
            (lists[list]?.order ?? []).map { EntityKey(.items, list, $0) }
        }
    }

    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        histories.keys(in: section, names: names)
    }

    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard key.section == .items, var row = lists[key.first]?[key.second, context.names]?.fields else { return nil }
        row["list"] = .string(context.names.text(key.first))
        row["id"] = .string(context.names.text(key.second))
        return .object(row)
    }

    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        key.section == .items ? histories[key] : nil
    }

    /// The place of an item in its list; `nil` if the list does not have it.
    func place(of key: EntityKey, names: Names) -> Int? { lists[key.first]?[key.second, names]?.place }

    /// The members of an item before and after the last event, without those that the event left as they were and without its
    /// place; `nil` for an item that is told whole.
    ///
    /// - Returns: `nil` for a side on which the item is not in the list.
    func changedItem(for key: EntityKey, at sequence: SequenceNumber, context: RowContext) -> RowPart? {
        let history = histories.kept(of: key)
        let own = history.reversed().prefix { $0.sequence == sequence }.count
        // Without an entry it only has another place.
        guard own < history.count, history.suffix(own).allSatisfy(\.isPartial), let last = history.last else {
            return nil
        }
        let earlier = history[history.count - own - 1]
        let part = last.item.part(since: earlier.item)
        func row(_ members: JSONObject) -> JSONObject {
            var row: JSONObject = [
                "list": .string(context.names.text(key.first)), "id": .string(context.names.text(key.second)),
            ]
            for member in members.members where !member.value.isNull && member.name != "position" {
                row[member.name] = member.value
            }
            // `null` stands for a column that is gone.
            if let extra = row["extra"]?.object {
                row["extra"] = .object(JSONObject(distinct: extra.members.filter { !$0.value.isNull }))
            }
            return row
        }
        let isInList = (before: earlier.word != .removed, after: last.word != .removed)
        return (isInList.before ? row(part.before) : nil, isInList.after ? row(part.after) : nil)
    }

    /// Makes only the entries in `places`, unlike the default.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        key.section == .items ? histories.entries(of: key, in: places) : []
    }

    /// Drops nothing: of item lists, a compaction drops only snapshots that changed nothing.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {}

    func collectNeeded(into sequences: inout SequenceSet) {
        for list in lists.values { sequences.formUnion(list.changedAt) }
        histories.collectNeeded(into: &sequences)
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for list in lists.keys.sorted(by: names.precedes) {
            take(.object(["list": .string(names.text(list)), "state": lists[list]?.normalForm(names: names)]))
        }
        histories.normalForm(names: names, into: take)
    }

    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue { .null }

    mutating func load(facts: JSONValue, names: inout Names) throws {}
}

extension Items {
    private mutating func replace(
        _ id: EntityID,
        with incoming: [ItemFields],
        isWhole: Bool,
        in context: inout FoldContext
    ) {
        if isWhole, let changes = lists[id]?.replaceAlike(with: incoming) {
            if changes.isEmpty { return }
            for (old, new) in changes {
                note(EntityKey(.items, id, new.item.id), before: old, after: new, context: context)
            }
            return settle(id, touched: changes.map(\.after.item.id), context: &context)
        }
        defer { if isWhole { lists[id]?.noteSnapshot(incoming) } }
        let before = (lists[id] ?? ItemList()).numbered
        let after = before.replaced(with: incoming, isWhole: isWhole)
        guard let changed = after.changes(since: before) else { return }
        // An item may be bumped without another place, so all items are examined if any is bumped.
        let bumped = before.bumped(in: after)
        let gone = before.order.filter { after.items[$0] == nil }
        // Removals last, in their old order.
        for item in (bumped.isEmpty ? changed : after.order) + gone {
            note(
                EntityKey(.items, id, item),
                before: before[item, context.names],
                after: after[item, context.names],
                isBumped: bumped.contains(item),
                context: context
            )
        }
        lists[id] = after
        settle(id, touched: changed + gone, context: &context)
    }

    private mutating func state(
        _ item: ItemFields,
        in list: EntityID,
        tellsWhole: Bool,
        context: inout FoldContext
    ) {
        // The list changes where it is stored, without a copy.
        let before = lists[list]?[item.id, context.names]
        let touched = lists[list, default: ItemList()].state(item, names: context.names)
        guard !touched.isEmpty else { return }
        let after = lists[list]?[item.id, context.names]
        note(EntityKey(.items, list, item.id), before: before, after: after, tellsWhole: tellsWhole, context: context)
        settle(list, touched: touched, context: &context)
    }

    /// Sets the members that a patch tells, and puts the item into the list that the patch names.
    private mutating func patch(_ patch: ItemPatch, context: inout FoldContext) {
        let id = patch.item.id
        let known = patch.home.flatMap { lists[$0]?[id, context.names]?.item }
        guard let item = patch.applied(to: known) else { return }
        if known != nil, let home = patch.home, home != patch.list {
            remove(id, from: home, tellsWhole: true, context: &context)
        }
        state(item, in: patch.list, tellsWhole: true, context: &context)
    }

    private mutating func remove(
        _ id: EntityID,
        from list: EntityID,
        tellsWhole: Bool,
        context: inout FoldContext
    ) {
        guard let before = lists[list]?[id, context.names] else { return }
        let moved = lists[list]?.remove(id, names: context.names) ?? []
        note(EntityKey(.items, list, id), before: before, after: nil, tellsWhole: tellsWhole, context: context)
        settle(list, touched: moved, context: &context)
        context.touch(EntityKey(.items, list, id))
    }

    /// Appends to an item's history what the event changed; nothing for a move alone.
    private mutating func note(
        _ key: EntityKey,
        before: PlacedItem?,
        after: PlacedItem?,
        isBumped: Bool = false,
        tellsWhole: Bool = true,
        context: FoldContext
    ) {
        var word = ItemHistoryEntry.Word.changed
        var kinds: [String] = []
        if let before, let after {
            kinds = before.item.kinds(of: after.item, isBumped: isBumped)
            if kinds.isEmpty { return }
        } else {
            word = after == nil ? .removed : .added
        }
        guard let item = after ?? before else { return }
        var entry = ItemHistoryEntry(at: context.event, word, kinds: kinds, item)
        entry.isPartial = !tellsWhole && histories.kept(of: key).last?.item.item.columns != nil
        histories.add(entry, to: key)
    }

    /// Notes that the event changed a list, and touches the rows that differ. An event that changes the list twice is
    /// noted twice.
    private mutating func settle(_ id: EntityID, touched: some Sequence<EntityID>, context: inout FoldContext) {
        if context.notesTouched { for item in touched { context.touch(EntityKey(.items, id, item)) } }
        lists[id]?.changedAt.append(context.event.sequence.rawValue)
    }
}
