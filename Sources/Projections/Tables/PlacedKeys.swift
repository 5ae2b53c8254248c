/// A key of `PlacedKeys`.
protocol PlacedKey: BitwiseCopyable, Equatable, Sendable {
    /// The hash of all of the key under the key of the process (I26).
    func hash(_ key: TableKey) -> UInt64
}

/// Keys of one size, each once, in the order of their arrival. A key's place counts from 0 and stays. A key takes its own
/// bytes and 5.5 to 8 more.
struct PlacedKeys<Key: PlacedKey>: Sendable {
    private(set) var keys = Pages<Key>()
    private var table = PlaceTable()

    init() {}

    /// Takes keys by their places.
    ///
    /// - Parameter isHidden: whether `addHidden` added the key at a place.
    init(_ keys: Pages<Key>, isHidden: (Int) -> Bool = { _ in false }) {
        for place in 0..<keys.count { _ = isHidden(place) ? addHidden(keys[place]) : add(keys[place]) }
    }

    var count: Int { keys.count }

    subscript(place: UInt32) -> Key { keys[Int(place)] }

    /// The place of a key; `nil` if it was never added.
    func find(_ key: Key) -> UInt32? { find(key, key.hash(table.key)) }

    private func find(_ key: Key, _ hash: UInt64) -> UInt32? {
        table.find(hash) { keys[$0] == key }.map { UInt32(truncatingIfNeeded: $0) }
    }

    /// The place of a key, added if it is new.
    mutating func place(of key: Key) -> UInt32 {
        let hash = key.hash(table.key)
        return find(key, hash) ?? add(key, hash)
    }

    /// Adds a key that is not found, as something else finds its place.
    mutating func addHidden(_ key: Key) -> UInt32 {
        keys.append(key)
        return UInt32(truncatingIfNeeded: count - 1)
    }

    private mutating func add(_ key: Key) -> UInt32 { add(key, key.hash(table.key)) }

    private mutating func add(_ key: Key, _ hash: UInt64) -> UInt32 {
        if table.isFull(for: count) {
            let known = self
            table.grow(for: count) { known.keys[$0].hash(known.table.key) }
        }
        table.add(hash, place: count)
        return addHidden(key)
    }
}
