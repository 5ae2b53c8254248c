import EventLog
import JSON

/// An item and its place in its list, counted from 0.
struct PlacedItem {
    let item: ItemFields
    let place: Int

    /// The members that a row and a history entry have in common.
    var fields: JSONObject { item.fields(position: place) }
}

/// One list of items.
///
/// `order` and `items` always have the same ids, each once, and so has `places` of a list that is not sorted.
struct ItemList: Codable, Sendable {
    /// The ids in the remote's order. Ids that the last snapshot lacked, because a line did not decode, come last.
    private(set) var order: [EntityID] = []
    private(set) var items: [EntityID: ItemFields] = [:]
    /// The place of each id in `order`. Empty while `isSorted`: an item before all others would move them all, and a search
    /// finds each.
    private var places: [EntityID: Int] = [:]
    /// The number of ids at the end of `order` that the last snapshot lacked. A whole snapshot resets it to 0.
    private var carriedCount = 0
    /// Whether the order is that of `ItemFields.precedes`: no snapshot gave another. Only then a binary search finds
    /// places.
    private var isSorted = true
    /// The items of the last snapshot in its order, which are those of `items`; `nil` if anything else came since. Not saved: it
    /// spares looking up the items that the next snapshot did not change.
    private var last: [ItemFields]?
    /// The events that changed the list, ascending, repeated where one event made several changes.
    var changedAt: [UInt64] = []

    private enum CodingKeys: CodingKey { case order, items, places, carriedCount, isSorted, changedAt }

    /// The item with an id, if the list has it.
    subscript(id: EntityID, names: Names) -> PlacedItem? {
        guard let item = items[id], let place = place(ofKnown: item, names: names) else { return nil }
        return PlacedItem(item: item, place: place)
    }

    private func place(ofKnown item: ItemFields, names: Names) -> Int? {
        if !isSorted { return places[item.id] }
        let place = self.place(of: item, names: names) - 1
        return order.indices.contains(place) && order[place] == item.id ? place : nil
    }

    /// The list as one that a snapshot may order in another way.
    var numbered: ItemList {
        if !isSorted { return self }
        var list = self
        list.findPlaces()
        return list
    }

    private var carried: Set<EntityID> { Set(order.suffix(carriedCount)) }

    /// The items that are new, changed or moved since an earlier list, in order; `nil` if the lists are equal. Items
    /// that are gone are not in it.
    func changes(since before: ItemList) -> [EntityID]? {
        let isOrdered = order == before.order
        let changed = order.filter { id in
            (!isOrdered && places[id] != before.places[id]) || !isSame(items[id], before.items[id])
        }
        return changed.isEmpty && isOrdered && carriedCount == before.carriedCount ? nil : changed
    }

    private func isSame(_ left: ItemFields?, _ right: ItemFields?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.isSame(as: right)
    }

    /// The list after a snapshot. Items that appear twice count once, at their first place. If not `isWhole`, items
    /// that the snapshot lacks follow in their old order. Cost: O(items).
    func replaced(with incoming: [ItemFields], isWhole: Bool) -> ItemList {
        if order.count == incoming.count, zip(order, incoming).allSatisfy({ $0 == $1.id }) {
            return replaced(inPlaceBy: incoming)
        }
        var after = ItemList()
        after.isSorted = false
        after.changedAt = changedAt
        for item in incoming where after.items[item.id] == nil {
            after.order.append(item.id)
            // An equal item stays as it was, so the order of its `extra` members is that of its first version, whether
            // the order of the list changed or not.
            after.items[item.id] = items[item.id].flatMap { $0.isSame(as: item) ? $0 : nil } ?? item
        }
        for id in order where !isWhole && after.items[id] == nil {
            after.order.append(id)
            after.items[id] = items[id]
            after.carriedCount += 1
        }
        after.findPlaces()
        return after
    }

    /// Takes a snapshot that has the ids of the one before in the same order; `nil`, without a change, for any other. Returns what
    /// is new of the items that changed, in order, and what they were.
    mutating func replaceAlike(with incoming: [ItemFields]) -> [(before: PlacedItem, after: PlacedItem)]? {
        guard let last, last.count == incoming.count, carriedCount == 0 else { return nil }
        var changed: [Int] = []
        for place in incoming.indices where !incoming[place].isCopy(of: last[place]) {
            if incoming[place].id != last[place].id { return nil }
            changed.append(place)
        }
        var changes: [(before: PlacedItem, after: PlacedItem)] = []
        for place in changed {
            guard let known = items[incoming[place].id], !known.isSame(as: incoming[place]) else { continue }
            items[known.id] = incoming[place]
            changes.append((PlacedItem(item: known, place: place), PlacedItem(item: incoming[place], place: place)))
        }
        self.last = incoming
        return changes
    }

    /// Notes the snapshot that the list was made of, for `replaceAlike`.
    mutating func noteSnapshot(_ incoming: [ItemFields]) {
        last = !isSorted && order.count == incoming.count ? incoming : nil
    }

    /// The list after a snapshot of the same items in the same order.
    private func replaced(inPlaceBy incoming: [ItemFields]) -> ItemList {
        var after = self
        after.last = nil
        after.isSorted = false
        after.carriedCount = 0
        // Places stay: no table is built again, which is the usual case for a list pushed anew.
        for item in incoming where !isSame(items[item.id], item) { after.items[item.id] = item }
        return after
    }

    /// States one item alone; its place is by creation, then id. Returns the items that are new, changed or moved, in
    /// order; none if the item is known as it is.
    ///
    /// Cost: O(items returned), and O(log items) comparisons for a new item or another creation.
    mutating func state(_ item: ItemFields, names: Names) -> ArraySlice<EntityID> {
        last = nil
        guard let known = items[item.id], let place = place(ofKnown: known, names: names) else {
            return insert(item, at: self.place(of: item, names: names))
        }
        if known.isSame(as: item) { return [] }
        // Neither id nor creation changed, so the place is the same.
        if isSorted, Sameness.areSame(known.created, item.created) {
            items[item.id] = item
            return order[place...place]
        }
        takeOut(item.id, at: place)
        let next = self.place(of: item, names: names)
        order.insert(item.id, at: next)
        items[item.id] = item
        return renumber(min(place, next)...max(place, next))
    }

    /// Removes one item. Returns the items that moved, in order; empty for an unknown id. Cost: O(items behind it).
    mutating func remove(_ id: EntityID, names: Names) -> ArraySlice<EntityID> {
        last = nil
        guard let item = items[id], let place = place(ofKnown: item, names: names) else { return [] }
        takeOut(id, at: place)
        return renumber(place...)
    }

    private mutating func insert(_ item: ItemFields, at place: Int) -> ArraySlice<EntityID> {
        order.insert(item.id, at: place)
        items[item.id] = item
        return renumber(place...)
    }

    /// Removes an id from all tables. The places behind it are wrong until `renumber`.
    private mutating func takeOut(_ id: EntityID, at place: Int) {
        if place >= order.count - carriedCount { carriedCount -= 1 }
        order.remove(at: place)
        items[id] = nil
        places[id] = nil
    }

    /// Notes the places of the ids in a range of `order`, and returns them.
    private mutating func renumber(_ range: some RangeExpression<Int>) -> ArraySlice<EntityID> {
        let ids = order[range]
        if isSorted { return ids }
        Steps.count(ids.count)
        for place in ids.indices { places[ids[place]] = place }
        return ids
    }

    /// The place of a new item: before the first one that it precedes. In a list that a snapshot ordered this is a
    /// search through all items.
    private func place(of item: ItemFields, names: Names) -> Int {
        let precedes = { (other: EntityID) in items[other].map { item.precedes($0, names: names) } ?? false }
        return isSorted
            ? order.partitioningIndex(where: precedes) : order.firstIndex(where: precedes) ?? order.endIndex
    }

    private mutating func findPlaces() {
        places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($0.element, $0.offset) })
    }

    /// The items that now precede an item that preceded them before. Counts only items whose done, status and priority are
    /// unchanged, as others move for that reason, and only pairs that one earlier snapshot ordered.
    func bumped(in after: ItemList) -> Set<EntityID> {
        if order == after.order { return [] }
        let carriedBefore = carried
        var least = [Int.max, Int.max]
        var bumped: Set<EntityID> = []
        // From the end: an item has moved up if an item that is behind it now had a smaller place before. Carried items
        // take no part, because the snapshot does not order them.
        for id in after.order.dropLast(after.carriedCount).reversed() {
            guard let place = places[id], let old = items[id], let new = after.items[id], old.hasSameRank(as: new)
            else { continue }
            // Items that were carried before were ordered by an older snapshot; they compare with each other only.
            let group = carriedBefore.contains(id) ? 1 : 0
            if least[group] < place { bumped.insert(id) }
            least[group] = min(least[group], place)
        }
        return bumped
    }

    func normalForm(names: Names) -> JSONValue {
        .object([
            "items": .array(
                order.enumerated().map { position, id in
                    var fields = items[id]?.fields(position: position) ?? JSONObject()
                    fields["id"] = .string(names.text(id))
                    return .object(fields)
                }
            ),
            "carried": .int(carriedCount),
            "changedAt": .array(changedAt.map { .int($0) }),
        ])
    }
}
