import EventLog

/// One hash of a set of rows that is kept up to date in O(changed) and does not depend on the way there (C10).
///
/// Rows hang in a radix trie of sixteen branches a level by the SHA-256 of their key. Leaf = SHA-256(0x00 ‖ key ‖ row),
/// branch = SHA-256(0x01 ‖ 16-bit map of the children, big-endian ‖ their hashes in order), no rows = SHA-256(0x02). A
/// branch stands exactly where two keys or more share a prefix, so equal sets make equal tries; two different sets with
/// one root would be a collision of SHA-256. (A Merkle radix trie, as in Ethereum's yellow paper, appendix D; the
/// first byte separates the cases as in RFC 6962, section 2.1.)
///
/// A value; copying is O(1) until one of the copies changes, which then costs O(n) once. A change costs O(log n), `root`
/// re-hashes only the paths to what changed since it was last asked for.
struct StateDigest: Sendable {
    /// The digest of no rows.
    private static let noRows = Hasher256.hash([2])

    /// The key of leaf i.
    private var keys = Arena<Hash256>()
    /// For branch i the children whose hashes are no longer true, as bits.
    private var stale = Arena<UInt16>()
    /// The children of branch i at 16 i ..< 16 i + 16, and their hashes beside one another: all of them are read whenever
    /// one has changed.
    private var children: [Link] = []
    private var hashes: [Hash256] = []
    private var top = Child.nothing

    /// A place in a trie and the hash of what is there; `nil` where that is to be computed.
    private struct Child {
        var link: Link
        var hash: Hash256?

        static let nothing = Child(link: .none, hash: noRows)
    }

    /// The digest of no rows.
    init() {}

    /// The digest of rows, each given as its leaf, in any order. A key that comes twice counts once, the last time.
    ///
    /// Cost: one walk over the leaves in the order of their keys, where setting them one by one jumps about for each.
    init(_ given: [Leaf]) {
        let leaves = Leaf.sorted(given)
        keys = Arena(leaves.map(\.key))
        top = child(over: leaves[...], depth: 0)
    }

    /// Sets or, with `nil`, takes away the row under a key.
    mutating func set(key: Hash256, row: Hash256?) {
        if let row {
            top = setting(Leaf(key: key, row: row), below: top, depth: 0)
        } else if let changed = removing(key, below: top, depth: 0) {
            top = changed
        }
    }

    /// The hash over all rows.
    mutating func root() -> Hash256 {
        if let known = top.hash { return known }
        guard case .branch(let index) = top.link.target else { return Self.noRows }
        let hash = hash(ofBranch: index)
        top.hash = hash
        return hash
    }

    /// The part of the trie for sorted leaves that share their first `depth` digits.
    private mutating func child(over leaves: ArraySlice<Leaf>, depth: Int) -> Child {
        guard let first = leaves.first else { return .nothing }
        if leaves.count == 1 { return Child(link: .leaf(leaves.startIndex), hash: first.hash) }
        let index = addBranch()
        var rest = leaves
        while let slot = rest.first?.key.nibble(depth) {
            let end = rest.firstIndex { $0.key.nibble(depth) != slot } ?? rest.endIndex
            put(child(over: rest[..<end], depth: depth + 1), slot, ofBranch: index)
            rest = rest[end...]
        }
        return Child(link: .branch(index), hash: nil)
    }

    private mutating func setting(_ leaf: Leaf, below child: Child, depth: Int) -> Child {
        switch child.link.target {
        case .nothing:
            return Child(link: .leaf(keys.insert(leaf.key)), hash: leaf.hash)
        case .leaf(let index):
            if keys[index] == leaf.key { return Child(link: child.link, hash: leaf.hash) }
            // A branch goes above a leaf that is no longer alone at its place.
            let branch = addBranch()
            put(child, keys[index].nibble(depth), ofBranch: branch)
            return setting(leaf, below: Child(link: .branch(branch), hash: nil), depth: depth)
        case .branch(let index):
            let slot = leaf.key.nibble(depth)
            put(setting(leaf, below: self.child(slot, ofBranch: index), depth: depth + 1), slot, ofBranch: index)
            return Child(link: child.link, hash: nil)
        }
    }

    /// What is there once a key is gone; `nil` where the key was not there.
    private mutating func removing(_ key: Hash256, below child: Child, depth: Int) -> Child? {
        switch child.link.target {
        case .nothing: return nil
        case .leaf(let index):
            guard keys[index] == key else { return nil }
            keys.remove(index)
            return .nothing
        case .branch(let index):
            let slot = key.nibble(depth)
            guard let changed = removing(key, below: self.child(slot, ofBranch: index), depth: depth + 1) else {
                return nil
            }
            put(changed, slot, ofBranch: index)
            return onlyLeaf(ofBranch: index) ?? Child(link: child.link, hash: nil)
        }
    }

    /// Takes away a branch with nothing but one leaf below it, and gives that leaf.
    private mutating func onlyLeaf(ofBranch index: Int) -> Child? {
        var only: Int?
        for slot in 0..<16 where children[16 * index + slot] != .none {
            if only != nil { return nil }
            only = slot
        }
        guard let only, case .leaf = children[16 * index + only].target else { return nil }
        let leaf = child(only, ofBranch: index)
        children[16 * index + only] = .none
        stale.remove(index)
        return leaf
    }
}

// MARK: - Branches

extension StateDigest {
    private mutating func addBranch() -> Int {
        let index = stale.insert(0)
        let missing = 16 * index + 16 - children.count
        if missing > 0 {
            children.append(contentsOf: repeatElement(.none, count: missing))
            hashes.append(contentsOf: repeatElement(Self.noRows, count: missing))
        }
        return index
    }

    private func child(_ slot: Int, ofBranch index: Int) -> Child {
        let isStale = stale[index] & Self.bit(slot) != 0
        return Child(link: children[16 * index + slot], hash: isStale ? nil : hashes[16 * index + slot])
    }

    private mutating func put(_ child: Child, _ slot: Int, ofBranch index: Int) {
        children[16 * index + slot] = child.link
        if let hash = child.hash {
            hashes[16 * index + slot] = hash
            stale[index] &= ~Self.bit(slot)
        } else {
            stale[index] |= Self.bit(slot)
        }
    }

    private mutating func hash(ofBranch index: Int) -> Hash256 {
        for slot in 0..<16 where stale[index] & Self.bit(slot) != 0 {
            guard case .branch(let child) = children[16 * index + slot].target else { continue }
            hashes[16 * index + slot] = hash(ofBranch: child)
        }
        stale[index] = 0
        return withUnsafeTemporaryAllocation(byteCount: 3 + 16 * 32, alignment: 1) { room in
            var map: UInt16 = 0
            var end = 3
            for slot in 0..<16 where children[16 * index + slot] != .none {
                map |= Self.bit(slot)
                hashes[16 * index + slot].store(to: room, at: end)
                end += 32
            }
            room[0] = 1
            room[1] = UInt8(map >> 8)
            room[2] = UInt8(map & 0xFF)
            return Hasher256.hash(UnsafeRawBufferPointer(rebasing: room[..<end]))
        }
    }

    /// The bit of a child in the map of a branch: the first one is the highest.
    private static func bit(_ slot: Int) -> UInt16 { 0x8000 >> UInt16(slot) }
}

extension Hash256 {
    /// Whether it stands before another, by their bytes.
    fileprivate func precedes(_ other: Hash256) -> Bool { words < other.words }

    fileprivate func store(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
        room.storeBytes(of: words.0.bigEndian, toByteOffset: offset, as: UInt64.self)
        room.storeBytes(of: words.1.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
        room.storeBytes(of: words.2.bigEndian, toByteOffset: offset + 16, as: UInt64.self)
        room.storeBytes(of: words.3.bigEndian, toByteOffset: offset + 24, as: UInt64.self)
    }
}

/// Where a place of the trie leads.
private struct Link: Equatable, Sendable {
    enum Target {
        case nothing
        case leaf(Int)
        case branch(Int)
    }

    /// 0: nothing; odd: leaf; even: branch; the index in the upper bits.
    private let code: UInt32

    static let none = Link(code: 0)

    static func leaf(_ index: Int) -> Link {
        Link(code: UInt32(index + 1) << 1 | 1)
    }

    static func branch(_ index: Int) -> Link {
        Link(code: UInt32(index + 1) << 1)
    }

    var target: Target {
        if code == 0 { return .nothing }
        let index = Int(code >> 1) - 1
        return code & 1 == 1 ? .leaf(index) : .branch(index)
    }
}

extension StateDigest {
    /// A row's key, and the hash over both.
    struct Leaf: Sendable, BitwiseCopyable {
        let key: Hash256
        let hash: Hash256

        init(key: Hash256, row: Hash256) {
            self.key = key
            hash = withUnsafeTemporaryAllocation(byteCount: 65, alignment: 1) { room in
                room[0] = 0
                key.store(to: room, at: 1)
                row.store(to: room, at: 33)
                return Hasher256.hash(UnsafeRawBufferPointer(room))
            }
        }

        /// The leaves by key, each key once, as it was given last: spread by the first sixteen bits, then sorted in
        /// each part.
        fileprivate static func sorted(_ leaves: [Leaf]) -> [Leaf] {
            var ends = [Int](repeating: 0, count: 1 << 16)
            for leaf in leaves { ends[leaf.part] += 1 }
            var sum = 0
            for part in ends.indices {
                sum += ends[part]
                ends[part] = sum
            }
            var places = [Int](repeating: 0, count: leaves.count)
            var starts = ends
            for index in leaves.indices.reversed() {
                starts[leaves[index].part] -= 1
                places[starts[leaves[index].part]] = index
            }
            var sorted: [Leaf] = []
            sorted.reserveCapacity(leaves.count)
            for part in starts.indices where starts[part] < ends[part] {
                let run = places[starts[part]..<ends[part]].sorted {
                    leaves[$0].key == leaves[$1].key ? $0 < $1 : leaves[$0].key.precedes(leaves[$1].key)
                }
                for leaf in run.lazy.map({ leaves[$0] }) {
                    if sorted.last?.key == leaf.key { sorted.removeLast() }
                    sorted.append(leaf)
                }
            }
            return sorted
        }

        /// The first sixteen bits of the key.
        private var part: Int { Int(key.words.0 >> 48) }
    }
}

/// Slots that are used again after they were freed.
private struct Arena<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var free: [Int] = []

    init(_ elements: [Element] = []) {
        self.elements = elements
    }

    var count: Int { elements.count }

    subscript(index: Int) -> Element {
        get { elements[index] }
        _modify { yield &elements[index] }
    }

    mutating func insert(_ element: Element) -> Int {
        if let index = free.popLast() {
            elements[index] = element
            return index
        }
        elements.append(element)
        return elements.count - 1
    }

    mutating func remove(_ index: Int) {
        free.append(index)
    }
}
