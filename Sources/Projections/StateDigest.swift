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

    /// Sets or, with `nil`, takes away the row under a key.
    mutating func set(key: Hash256, row: Hash256?) {
        if let row {
            top = setting(key, row, below: top, depth: 0)
        } else {
            top = removing(key, below: top, depth: 0)
        }
    }

    /// The hash over all rows.
    mutating func root() -> Hash256 {
        top == .none ? Hasher256.hash([2]) : hash(of: top)
    }

    private mutating func setting(_ key: Hash256, _ row: Hash256, below link: Link, depth: Int) -> Link {
        switch link.target {
        case .nothing:
            return .leaf(leaves.insert(Leaf(key: key, row: row)))
        case .leaf(let index):
            if leaves[index].key == key {
                leaves[index].replaceRow(row)
                return link
            }
            return setting(key, row, below: split(link, index, depth: depth), depth: depth)
        case .branch(let index):
            let slot = key.nibble(depth)
            let child = setting(key, row, below: children[16 * index + slot], depth: depth + 1)
            children[16 * index + slot] = child
            branches[index] = nil
            return link
        }
    }

    /// Puts a branch above a leaf that is no longer alone at its place.
    private mutating func split(_ link: Link, _ leaf: Int, depth: Int) -> Link {
        let index = branches.insert(nil)
        let end = 16 * index + 16
        if children.count < end { children.append(contentsOf: repeatElement(.none, count: end - children.count)) }
        children[16 * index + leaves[leaf].key.nibble(depth)] = link
        return .branch(index)
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
        case .leaf(let index): return leaves[index].hash()
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
        // The children first: their hashing may need the same room.
        for place in places where children[place] != .none { _ = hash(of: children[place]) }
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
    fileprivate func store(to room: UnsafeMutableRawBufferPointer, at offset: Int) {
        withBytes { UnsafeMutableRawBufferPointer(rebasing: room[offset..<offset + 32]).copyMemory(from: $0) }
    }
}

extension Hasher256 {
    fileprivate static func hash(_ bytes: UnsafeRawBufferPointer) -> Hash256 {
        var hasher = Hasher256()
        hasher.update(bytes)
        return hasher.finalize()
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

private struct Leaf: Sendable {
    let key: Hash256
    private var row: Hash256
    private var known: Hash256?

    init(key: Hash256, row: Hash256) {
        self.key = key
        self.row = row
    }

    mutating func replaceRow(_ row: Hash256) {
        self.row = row
        known = nil
    }

    mutating func hash() -> Hash256 {
        if let known { return known }
        let hash = withUnsafeTemporaryAllocation(byteCount: 65, alignment: 1) { room in
            room[0] = 0
            key.store(to: room, at: 1)
            row.store(to: room, at: 33)
            return Hasher256.hash(UnsafeRawBufferPointer(room))
        }
        known = hash
        return hash
    }
}

/// Slots that are used again after they were freed.
private struct Arena<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var free: [Int] = []

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
