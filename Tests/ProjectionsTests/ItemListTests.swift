import EventLog
import JSON
import TestSupport
import Testing

@testable import Projections

/// A list of items that are stated one by one, beside one that is sorted again after each change.
@Suite struct ItemListTests {
    private static let creations: [String?] = [
        nil, "no time", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.5Z",
        "2025-12-31T23:59:59Z",
    ]

    private struct Sorted {
        var items: [ItemFields] = []

        /// The items of the later list that are new, changed or moved.
        mutating func state(_ item: ItemFields, names: Names) -> [EntityID] {
            change {
                $0.removeAll { $0.id == item.id }
                $0.append(item)
                $0.sort { $0.precedes($1, names: names) }
            }
        }

        mutating func remove(_ id: EntityID) -> [EntityID] {
            change { $0.removeAll { $0.id == id } }
        }

        private mutating func change(_ body: (inout [ItemFields]) -> Void) -> [EntityID] {
            let before = items
            body(&items)
            return items.indices.filter { place in
                place >= before.count || before[place].id != items[place].id || !before[place].isSame(as: items[place])
            }.map { items[$0].id }
        }
    }

    @Test func itemsStandByCreationAndThoseThatDifferAreReturned() {
        var random = SeededGenerator(seed: 5)
        var names = Names()
        let ids = (0..<12).map { names.id("t\($0)") }
        for _ in 0..<200 {
            var (list, sorted) = (ItemList(), Sorted())
            for _ in 0..<40 {
                let id = ids[Int.random(in: 0..<ids.count, using: &random)]
                if Int.random(in: 0..<4, using: &random) == 0 {
                    #expect(Array(list.remove(id, names: names)) == sorted.remove(id))
                } else {
                    let item = ItemFields(
                        id: id,
                        text: ["a", "b"][Int.random(in: 0..<2, using: &random)],
                        done: false,
                        created: Self.creations[Int.random(in: 0..<Self.creations.count, using: &random)]
                    )
                    #expect(Array(list.state(item, names: names)) == sorted.state(item, names: names))
                }
                #expect(list.order == sorted.items.map(\.id))
                for (place, item) in sorted.items.enumerated() {
                    #expect(list[item.id, names]?.place == place)
                    #expect(list[item.id, names]?.item.isSame(as: item) == true)
                }
                #expect(ids.filter { list[$0, names] != nil }.count == sorted.items.count)
            }
        }
    }

    /// What is returned is what is looked at: another title costs the same in a long list as in a short one.
    @Test(arguments: [10, 10_000])
    func anotherTitleTouchesOneItem(count: Int) throws {
        var names = Names()
        var list = ItemList()
        let ids = (0..<count).map { names.id("t\($0)") }
        for id in ids { _ = list.state(ItemFields(id: id, text: "a", done: false), names: names) }
        let middle = ids[count / 2]
        #expect(Array(list.state(ItemFields(id: middle, text: "b", done: false), names: names)) == [middle])
        #expect(list.state(ItemFields(id: middle, text: "b", done: false), names: names).isEmpty)
    }
}
