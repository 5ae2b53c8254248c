import EventLog

/// One hash of a set of rows. It is kept up to date in O(changed) and does not depend on the order of changes (I12).
///
/// The rows are leaves of a radix trie with sixteen children a branch, by the SHA-256 of their key. Leaf = SHA-256(0x00
/// ‖ key ‖ row), branch = SHA-256(0x01 ‖ 16-bit map of the children, big-endian ‖ their hashes in order), no rows =
/// SHA-256(0x02). A branch exists exactly where two keys or more share a prefix, so equal sets make equal tries; two
/// different sets with one root would be a collision of SHA-256. (A Merkle radix trie, as in Ethereum's yellow paper,
/// appendix D; the first byte separates the cases as in RFC 6962, section 2.1.)
///
/// A value: copying is O(1), and the first change of a copy costs O(n). A change costs O(log n). `root` re-hashes only
/// the paths to changes since its last call. `root(of:)` hashes rows that will not change, without a trie.
struct StateDigest: Sendable {
    /// The digest of no rows.
    static let noRows = Hasher256.hash([2])
    /// The root's place: the first one of branch 0, which is only a container for the root and is never hashed.
    private static let top = 0

    /// The key of leaf i.
    private var keys = Arena<Hash256>()
    /// For branch i, the children whose hashes are outdated, as bits (`BranchText.bit`). If a child is outdated, so is
    /// every branch above it.
    private var stale = Arena<UInt16>()
    /// The content of each place, and its hash. Branch i has the places 16 i ..< 16 i + 16. The hashes have an array of
    /// their own, because all hashes of a branch are read whenever one has changed. The hash of an empty place means
    /// nothing.
    private var links: [Link] = []
    private var hashes: [Hash256] = []

    /// The digest of no rows.
    init() {
        _ = addBranch()
    }

    /// Sets or, with `nil`, removes the row of a key.
    mutating func set(key: Hash256, row: Hash256?) {
        if let row { set(Leaf(key: key, row: row)) } else { remove(key) }
    }

    /// Sets the row of the leaf's key, without hashing a branch.
    mutating func set(_ leaf: Leaf) {
        var place = Self.top
        var depth = 0
        while true {
            switch links[place].target {
            case .nothing:
                return put(.leaf(keys.insert(leaf.key)), leaf.hash, at: place)
            case .leaf(let index):
                if keys[index] == leaf.key { return put(links[place], leaf.hash, at: place) }
                // A branch goes above a leaf that is no longer alone at its place. The loop then goes on into it, and
                // further down as long as the keys share digits.
                let branch = addBranch()
                put(links[place], hashes[place], at: Self.place(keys[index].nibble(depth), ofBranch: branch))
                links[place] = .branch(branch)
            case .branch(let index):
                assert(depth < 64, "two keys differ in one of their 64 digits")
                markStale(place)
                place = Self.place(leaf.key.nibble(depth), ofBranch: index)
                depth += 1
            }
        }
    }

    /// The hash over all rows. O(branches above changes) since the last call; O(1) without a change.
    mutating func root() -> Hash256 {
        switch links[Self.top].target {
        case .nothing: return Self.noRows
        case .leaf: break
        case .branch(let index):
            if stale[0] != 0 { put(links[Self.top], hash(ofBranch: index), at: Self.top) }
        }
        return hashes[Self.top]
    }

    /// Removes the row of a key, if it exists, and the branches that it leaves with a single leaf: equal sets must have
    /// equal tries.
    mutating func remove(_ key: Hash256) {
        // The places from the root down. The digit of a step is the number of places passed.
        var path = [Self.top]
        var place = Self.top
        while case .branch(let index) = links[place].target {
            place = Self.place(key.nibble(path.count - 1), ofBranch: index)
            path.append(place)
        }
        guard case .leaf(let leaf) = links[place].target, keys[leaf] == key else { return }
        keys.remove(leaf)
        put(.none, Self.noRows, at: path.removeLast())
        // From the bottom up: lifting a leaf may leave the branch above with only that leaf.
        for place in path.reversed() where !lift(to: place) { markStale(place) }
    }

    /// Replaces a branch by its only child, if that is a leaf. Returns false, without a change, otherwise; a branch
    /// with one branch below stays, because its keys share more digits.
    private mutating func lift(to place: Int) -> Bool {
        guard case .branch(let branch) = links[place].target else { return false }
        let places = Self.place(0, ofBranch: branch)..<Self.place(0, ofBranch: branch + 1)
        var only: Int?
        for place in places where links[place] != .none {
            if only != nil { return false }
            only = place
        }
        guard let only, case .leaf = links[only].target else { return false }
        put(links[only], hashes[only], at: place)
        links[only] = .none
        stale.remove(branch)
        return true
    }
}

// MARK: - Branches

extension StateDigest {
    private static func place(_ slot: Int, ofBranch index: Int) -> Int { 16 &* index &+ slot }

    /// A branch without children. A reused one has empty places: `lift` has emptied the last.
    private mutating func addBranch() -> Int {
        let index = stale.insert(0)
        let missing = Self.place(16, ofBranch: index) - links.count
        if missing > 0 {
            links.append(contentsOf: repeatElement(.none, count: missing))
            hashes.append(contentsOf: repeatElement(Self.noRows, count: missing))
        }
        assert(links.count == hashes.count, "every place has a link and a hash")
        return index
    }

    /// Fills a place with content whose hash is known.
    @inline(__always)
    private mutating func put(_ link: Link, _ hash: Hash256, at place: Int) {
        links[place] = link
        hashes[place] = hash
        stale[place >> 4] &= ~BranchText.bit(place & 15)
    }

    /// Notes that the hash of the branch at a place is outdated.
    @inline(__always)
    private mutating func markStale(_ place: Int) {
        stale[place >> 4] |= BranchText.bit(place & 15)
    }

    /// The hash of a branch; first brings its outdated children up to date. Recursion goes at most 64 digits deep.
    private mutating func hash(ofBranch index: Int) -> Hash256 {
        let first = Self.place(0, ofBranch: index)
        for slot in 0..<16 where stale[index] & BranchText.bit(slot) != 0 {
            guard case .branch(let child) = links[first + slot].target else { continue }
            hashes[first + slot] = hash(ofBranch: child)
        }
        stale[index] = 0
        return BranchText.hash { text in
            for slot in 0..<16 where links[first + slot] != .none { text.add(hashes[first + slot], slot) }
        }
    }
}

/// The content of a place in the trie.
private struct Link: Equatable, Sendable {
    enum Target {
        case nothing
        case leaf(Int)
        case branch(Int)
    }

    /// 0: nothing; odd: leaf; even: branch; the index + 1 in the upper 31 bits. So a trie has at most 2^31 - 1 leaves.
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

/// An array whose freed places are reused, the last freed first. It does not notice the use of a freed place.
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
