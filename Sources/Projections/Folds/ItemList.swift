import EventLog

/// One list of items.
struct ItemList: Codable, Sendable {
    /// The ids in the remote's order. Ids that the last snapshot lacked, because a line did not decode, come last.
    private(set) var order: [EntityID] = []
    private(set) var items: [EntityID: ItemFields] = [:]
    /// The place of each id in `order`.
    private(set) var places: [EntityID: Int] = [:]
    /// The number of ids at the end of `order` that the last snapshot lacked.
    private var carriedCount = 0
    /// The events that changed the list, ascending.
    var changedAt: [UInt64] = []

    private var carried: Set<EntityID> { Set(order.suffix(carriedCount)) }

    /// The items that are new, changed or moved since an earlier list, in order; `nil` if the lists are equal.
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

    /// The list after a snapshot. Items that appear twice count once.
    func replaced(with incoming: [ItemFields], isWhole: Bool) -> ItemList {
        if order.count == incoming.count, zip(order, incoming).allSatisfy({ $0 == $1.id }) {
            return replaced(inPlaceBy: incoming)
        }
        var after = ItemList()
        after.changedAt = changedAt
        for item in incoming where after.items[item.id] == nil {
            after.order.append(item.id)
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

    /// The list after a snapshot of the same items in the same order.
    private func replaced(inPlaceBy incoming: [ItemFields]) -> ItemList {
        var after = self
        after.carriedCount = 0
        for item in incoming where !isSame(items[item.id], item) { after.items[item.id] = item }
        return after
    }

    /// The list after one item was stated alone; its place is by creation, then id.
    func stating(_ item: ItemFields, names: Names) -> ItemList {
        if let known = items[item.id], known.isSame(as: item) { return self }
        var after = removing(item.id)
        let place = after.order.firstIndex { other in
            after.items[other].map { item.precedes($0, names: names) } ?? false
        }
        after.order.insert(item.id, at: place ?? after.order.endIndex)
        after.items[item.id] = item
        after.findPlaces()
        return after
    }

    /// The list without one item.
    func removing(_ id: EntityID) -> ItemList {
        var after = self
        if let index = places[id] {
            if index >= order.count - carriedCount { after.carriedCount -= 1 }
            after.order.remove(at: index)
        }
        after.items[id] = nil
        after.findPlaces()
        return after
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
        for id in after.order.dropLast(after.carriedCount).reversed() {
            guard let place = places[id], let old = items[id], let new = after.items[id], old.hasSameRank(as: new)
            else { continue }
            let group = carriedBefore.contains(id) ? 1 : 0
            if least[group] < place { bumped.insert(id) }
            least[group] = min(least[group], place)
        }
        return bumped
    }

    func snapshot(names: Names) -> JSONValue {
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
