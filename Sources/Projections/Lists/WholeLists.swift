package import EventLog

/// What the lists that are written whole contained, so that their changes can be named: for each thing a hash of its rows.
///
/// Memory: a key and a hash for each thing of these lists.
package struct WholeLists: Sendable {
    private struct Thing {
        let key: JSONValue
        var hash: Hash256
    }

    /// The things of one list, in the order of their first rows.
    private struct Things {
        private(set) var all: [Thing] = []
        /// The index of each thing, by its key as text.
        private var places: [String: Int] = [:]

        init(_ list: StateList, of state: borrowing LogState, asOf: Timestamp) {
            let members = list.keyMembers
            state.forEachRow(of: list, asOf: asOf) { row in
                let key = JSONValue.object(
                    JSONObject(distinct: members.map { .init(name: $0, value: row[$0] ?? .null) })
                )
                let text = Array(row.text.utf8)
                if let place = places[key.text] {
                    // The rows before are in the hash already. Rows have one order, so equal rows give an equal hash.
                    all[place].hash = Hasher256.hash(all[place].hash.bytes + text)
                } else {
                    places[key.text] = all.count
                    all.append(Thing(key: key, hash: Hasher256.hash(text)))
                }
            }
        }

        init() {}

        func hash(of key: JSONValue) -> Hash256? { places[key.text].map { all[$0].hash } }
    }

    private var lists: [StateList: Things] = [:]

    /// What a state contains of the lists among these that are written whole.
    package init(_ lists: [StateList], of state: borrowing LogState, asOf: Timestamp) {
        for list in lists where list.isWrittenWhole { self.lists[list] = Things(list, of: state, asOf: asOf) }
    }

    /// Takes what a later state contains of a list.
    ///
    /// - Returns: The keys of the things whose rows came, changed or went, in the list's order, those that went last.
    mutating func update(_ list: StateList, of state: borrowing LogState, asOf: Timestamp) -> [JSONValue] {
        let (before, after) = (lists[list] ?? Things(), Things(list, of: state, asOf: asOf))
        lists[list] = after
        return after.all.filter { before.hash(of: $0.key) != $0.hash }.map(\.key)
            + before.all.filter { after.hash(of: $0.key) == nil }.map(\.key)
    }
}
