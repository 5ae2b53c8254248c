import Dispatch
import EventLog
import Synchronization

/// What the digest of rows at once needs of a leaf.
protocol DigestLeaf: Keyed, Sendable {
    init(_ leaf: StateDigest.Leaf)
    var hash: Hash256 { get }
    /// The digit of the key at a depth, of the digits that the leaf has.
    func nibble(_ depth: Int) -> Int
    /// Whether two leaves whose keys are the same, as far as they have them, are one.
    static var isWhole: Bool { get }
}

extension StateDigest.Leaf: DigestLeaf {
    static var keyBytes: Int { 32 }
    static var isWhole: Bool { true }

    init(_ leaf: StateDigest.Leaf) { self = leaf }

    func keyByte(_ number: Int) -> Int { key.byte(number) }

    func isBefore(_ other: StateDigest.Leaf) -> Bool { key.words < other.key.words }

    func nibble(_ depth: Int) -> Int { key.nibble(depth) }
}

/// A leaf with the first eight bytes of its key, in 40 bytes instead of 64: hashes mostly differ in these.
struct ShortLeaf: DigestLeaf {
    private let keyStart: UInt64
    let hash: Hash256

    static var keyBytes: Int { 8 }
    static var isWhole: Bool { false }

    init(_ leaf: StateDigest.Leaf) { (keyStart, hash) = (leaf.key.words.0, leaf.hash) }

    func keyByte(_ number: Int) -> Int { Int(truncatingIfNeeded: keyStart >> (56 - 8 * UInt64(number))) & 0xFF }

    func isBefore(_ other: ShortLeaf) -> Bool { keyStart < other.keyStart }

    func nibble(_ depth: Int) -> Int { Int(truncatingIfNeeded: keyStart >> (60 - 4 * UInt64(depth))) & 15 }
}

/// Some leaves, grouped by the first byte of their keys (a counting sort), so that each of the 256 subtrees finds its
/// leaves without a search.
struct LeafSlice<Leaf: DigestLeaf>: Sendable {
    let leaves: [Leaf]
    /// For each first byte, the index in `leaves` behind its last leaf.
    private let ends: [Int]

    /// - Parameter given: leaves in any order, each key once.
    init(_ given: [Leaf]) {
        var places = [Int](repeating: 0, count: 256)
        for leaf in given { places[leaf.keyByte(0)] += 1 }
        var sum = 0
        for byte in places.indices {
            sum += places[byte]
            // Counts become starts.
            places[byte] = sum - places[byte]
        }
        // The starts partition `0..<given.count`, and each leaf advances its own one, so each element is initialized
        // once. `Leaf` is trivial: assigning to uninitialized memory is right.
        leaves = [Leaf](unsafeUninitializedCapacity: given.count) { room, count in
            for leaf in given {
                room[places[leaf.keyByte(0)]] = leaf
                places[leaf.keyByte(0)] += 1
            }
            count = given.count
        }
        assert(places[255] == given.count, "the leaves of the last byte end the list")
        // Filling has moved each place to the end of its leaves.
        ends = places
    }

    var count: Int { leaves.count }

    /// The leaves whose first key byte is in a range, which must not be empty.
    fileprivate subscript(bytes: Range<Int>) -> ArraySlice<Leaf> {
        leaves[(bytes.lowerBound == 0 ? 0 : ends[bytes.lowerBound - 1])..<ends[bytes.upperBound - 1]]
    }
}

extension StateDigest {
    /// With fewer rows, one processor is faster than several.
    private static let parallelCountMin = 4096

    /// The digest of a set of rows. Equals `root()` after setting all of them. Each key must occur once in all slices
    /// together.
    ///
    /// Cost: O(n log n), on all processors; builds no trie.
    static func root(of slices: [LeafSlice<Leaf>]) -> Hash256 { subtree(of: slices)?.hash ?? noRows }

    /// The same digest from less memory; `nil` if two keys begin with the same eight bytes, which only somebody who searches
    /// long for such ids makes happen.
    static func root(of slices: [LeafSlice<ShortLeaf>]) -> Hash256? { subtree(of: slices).map { $0.hash ?? noRows } }

    /// The whole trie; `nil` if the leaves do not tell two keys apart.
    private static func subtree<Leaf>(of slices: [LeafSlice<Leaf>]) -> DigestSubtree? {
        if slices.reduce(0, { $0 + $1.count }) < parallelCountMin {
            return DigestSubtree(of: slices, bytes: 0..<256, depth: 0)
        }
        // The first two digits of a key are its first byte: 256 subtrees, then 16 branches above them, then the root.
        let parts = Mutex([DigestSubtree?](repeating: .nothing, count: 256))
        DispatchQueue.concurrentPerform(iterations: 256) { byte in
            let part = DigestSubtree(of: slices, bytes: byte..<byte + 1, depth: 2)
            parts.withLock { $0[byte] = part }
        }
        let found = parts.withLock { $0 }.compactMap { $0 }
        guard found.count == 256 else { return nil }
        let digits = (0..<16).map { DigestSubtree(children: found[16 * $0..<16 * $0 + 16]) }
        return DigestSubtree(children: digits[...])
    }
}

/// The content of a place in the trie, and its hash. A leaf is told from a branch, because a lone leaf moves up into
/// the place of its branch.
private enum DigestSubtree: Sendable {
    case nothing
    case leaf(Hash256)
    case branch(Hash256)

    var hash: Hash256? {
        switch self {
        case .nothing: nil
        case .leaf(let hash), .branch(let hash): hash
        }
    }

    /// The subtree of all leaves whose keys begin with one of these bytes; they share their first `depth` digits. `nil` if
    /// the leaves do not tell two keys apart.
    init?<Leaf: DigestLeaf>(of slices: [LeafSlice<Leaf>], bytes: Range<Int>, depth: Int) {
        var leaves: [Leaf] = []
        leaves.reserveCapacity(slices.reduce(0) { $0 + $1[bytes].count })
        for slice in slices { leaves.append(contentsOf: slice[bytes]) }
        let subtree = leaves.withUnsafeMutableBufferPointer { leaves in
            withUnsafeTemporaryAllocation(of: Leaf.self, capacity: leaves.count) { room in
                KeySort(values: leaves, room: room).sort(0..<leaves.count, byte: bytes.count == 1 ? 1 : 0)
            }
            return DigestSubtree(sorted: UnsafeBufferPointer(leaves), depth: depth)
        }
        guard let subtree else { return nil }
        self = subtree
    }

    /// The subtree of leaves in the order of their keys, which share their first `depth` digits; `nil` as above. Recursion
    /// goes at most 64 digits deep.
    private init?<Leaf: DigestLeaf>(sorted leaves: UnsafeBufferPointer<Leaf>, depth: Int) {
        guard let first = leaves.first, let last = leaves.last else {
            self = .nothing
            return
        }
        if !first.isBefore(last) {
            guard Leaf.isWhole || leaves.count == 1 else { return nil }
            self = .leaf(last.hash)
            return
        }
        assert(depth < 2 * Leaf.keyBytes, "sorted keys that differ have a digit left to differ in")
        var isClear = true
        let hash = BranchText.hash { text in
            var start = 0
            while start < leaves.count {
                let slot = leaves[start].nibble(depth)
                var end = start + 1
                while end < leaves.count, leaves[end].nibble(depth) == slot { end += 1 }
                let part = DigestSubtree(sorted: UnsafeBufferPointer(rebasing: leaves[start..<end]), depth: depth + 1)
                if let hash = part?.hash { text.add(hash, slot) } else { isClear = false }
                start = end
            }
        }
        guard isClear else { return nil }
        self = .branch(hash)
    }

    /// The subtree of sixteen children.
    init(children: ArraySlice<DigestSubtree>) {
        assert(children.count == 16, "a branch has a child or nothing for each digit")
        var branchCount = 0
        var leaf = DigestSubtree.nothing
        var count = 0
        for child in children {
            switch child {
            case .nothing: continue
            case .leaf: leaf = child
            case .branch: branchCount += 1
            }
            count += 1
        }
        // No child, or one leaf, which moves up into the branch's place.
        if branchCount == 0, count < 2 {
            self = leaf
            return
        }
        let hash = BranchText.hash { text in
            for (slot, child) in children.enumerated() {
                if let hash = child.hash { text.add(hash, slot) }
            }
        }
        self = .branch(hash)
    }
}

extension Hash256 {
    /// A byte of the hash, 0 to 255; the first one has the number 0.
    fileprivate func byte(_ number: Int) -> Int {
        let word =
            switch number >> 3 {
            case 0: words.0
            case 1: words.1
            case 2: words.2
            default: words.3
            }
        return Int(truncatingIfNeeded: word >> (56 - 8 * (number & 7))) & 0xFF
    }
}
