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
    private var leaves = Arena<Leaf>()
    private var branches = Arena<Hash256?>()
    /// The children of branch i at 16 i ..< 16 i + 16.
    private var children: [Link] = []
    private var top = Link.none

    /// The digest of no rows.
    init() {}

    /// The digest of rows, each given as its leaf, in any order. A key that comes twice counts once, the last time.
    ///
    /// Cost: one walk over the leaves in the order of their keys, where setting them one by one jumps about for each.
    init(_ given: [Leaf]) {
        leaves = Arena(Leaf.sorted(given))
        top = link(over: 0..<leaves.count, depth: 0)
    }

    /// Sets or, with `nil`, takes away the row under a key.
    mutating func set(key: Hash256, row: Hash256?) {
        if let row {
            top = setting(Leaf(key: key, row: row), below: top, depth: 0)
        } else {
            top = removing(key, below: top, depth: 0)
        }
    }

    /// The hash over all rows.
    mutating func root() -> Hash256 {
        top == .none ? Hasher256.hash([2]) : hash(of: top)
    }

    /// The part of the trie for sorted leaves that share their first `depth` digits.
    private mutating func link(over range: Range<Int>, depth: Int) -> Link {
        guard let first = range.first else { return .none }
        if range.count == 1 { return .leaf(first) }
        let index = addBranch()
        var start = first
        while start < range.upperBound {
            let slot = leaves[start].key.nibble(depth)
            var end = start + 1
            while end < range.upperBound, leaves[end].key.nibble(depth) == slot { end += 1 }
            children[16 * index + slot] = link(over: start..<end, depth: depth + 1)
            start = end
        }
        return .branch(index)
    }

    private mutating func setting(_ leaf: Leaf, below link: Link, depth: Int) -> Link {
        switch link.target {
        case .nothing:
            return .leaf(leaves.insert(leaf))
        case .leaf(let index):
            if leaves[index].key == leaf.key {
                leaves[index] = leaf
                return link
            }
            return setting(leaf, below: split(link, index, depth: depth), depth: depth)
        case .branch(let index):
            let slot = leaf.key.nibble(depth)
            let child = setting(leaf, below: children[16 * index + slot], depth: depth + 1)
            children[16 * index + slot] = child
            branches[index] = nil
            return link
        }
    }

    /// Puts a branch above a leaf that is no longer alone at its place.
    private mutating func split(_ link: Link, _ leaf: Int, depth: Int) -> Link {
        let index = addBranch()
        children[16 * index + leaves[leaf].key.nibble(depth)] = link
        return .branch(index)
    }

    private mutating func addBranch() -> Int {
        let index = branches.insert(nil)
        let end = 16 * index + 16
        if children.count < end { children.append(contentsOf: repeatElement(.none, count: end - children.count)) }
        return index
    }

    private mutating func removing(_ key: Hash256, below link: Link, depth: Int) -> Link {
        switch link.target {
        case .nothing: return link
        case .leaf(let index):
            guard leaves[index].key == key else { return link }
            leaves.remove(index)
            return .none
        case .branch(let index):
            let slot = key.nibble(depth)
            let child = removing(key, below: children[16 * index + slot], depth: depth + 1)
            children[16 * index + slot] = child
            branches[index] = nil
            return collapsed(link, index)
        }
    }

    /// Takes away a branch with nothing but one leaf below it.
    private mutating func collapsed(_ link: Link, _ index: Int) -> Link {
        let places = 16 * index..<16 * index + 16
        let present = places.filter { children[$0] != .none }
        guard present.count == 1, case .leaf = children[present[0]].target else { return link }
        let only = children[present[0]]
        children[present[0]] = .none
        branches.remove(index)
        return only
    }

    private mutating func hash(of link: Link) -> Hash256 {
        switch link.target {
        case .nothing: return Hasher256.hash([2])
        case .leaf(let index): return leaves[index].hash
        case .branch(let index):
            if let known = branches[index] { return known }
            let hash = hash(ofChildrenAt: 16 * index..<16 * index + 16)
            branches[index] = hash
            return hash
        }
    }

    private mutating func hash(ofChildrenAt places: Range<Int>) -> Hash256 {
        var map: UInt16 = 0
        for place in places where children[place] != .none { map |= 0x8000 >> UInt16(place - places.lowerBound) }
        return withUnsafeTemporaryAllocation(byteCount: 3 + 16 * 32, alignment: 1) { room in
            room[0] = 1
            room[1] = UInt8(map >> 8)
            room[2] = UInt8(map & 0xFF)
            var end = 3
            for place in places where children[place] != .none {
                hash(of: children[place]).store(to: room, at: end)
                end += 32
            }
            return Hasher256.hash(UnsafeRawBufferPointer(rebasing: room[..<end]))
        }
    }
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
