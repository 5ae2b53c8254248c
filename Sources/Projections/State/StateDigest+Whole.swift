import Dispatch
import EventLog
import Synchronization

/// Some leaves, grouped by the first byte of their keys (a counting sort), so that each of the 256 subtrees finds its
/// leaves without a search.
struct LeafSlice: Sendable {
    let leaves: [StateDigest.Leaf]
    /// For each first byte, the index in `leaves` behind its last leaf.
    private let ends: [Int]

    /// - Parameter given: leaves in any order, each key once.
    init(_ given: [StateDigest.Leaf]) {
        var places = [Int](repeating: 0, count: 256)
        for leaf in given { places[leaf.firstByte] += 1 }
        var sum = 0
        for byte in places.indices {
            sum += places[byte]
            // Counts become starts.
            places[byte] = sum - places[byte]
        }
        // The starts partition `0..<given.count`, and each leaf advances its own one, so each element is initialized
        // once. `Leaf` is trivial: assigning to uninitialized memory is right.
        leaves = [StateDigest.Leaf](unsafeUninitializedCapacity: given.count) { room, count in
            for leaf in given {
                room[places[leaf.firstByte]] = leaf
                places[leaf.firstByte] += 1
            }
            count = given.count
        }
        assert(places[255] == given.count, "the leaves of the last byte end the list")
        // Filling has moved each place to the end of its leaves.
        ends = places
    }

    var count: Int { leaves.count }

    /// The leaves whose first key byte is in a range, which must not be empty.
    fileprivate subscript(bytes: Range<Int>) -> ArraySlice<StateDigest.Leaf> {
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
    static func root(of slices: [LeafSlice]) -> Hash256 {
        if slices.reduce(0, { $0 + $1.count }) < parallelCountMin {
            return DigestSubtree(of: slices, bytes: 0..<256, depth: 0).hash ?? noRows
        }
        // The first two digits of a key are its first byte: 256 subtrees, then 16 branches above them, then the root.
        let parts = Mutex([DigestSubtree](repeating: .nothing, count: 256))
        DispatchQueue.concurrentPerform(iterations: 256) { byte in
            let part = DigestSubtree(of: slices, bytes: byte..<byte + 1, depth: 2)
            parts.withLock { $0[byte] = part }
        }
        let found = parts.withLock { $0 }
        let digits = (0..<16).map { DigestSubtree(children: found[16 * $0..<16 * $0 + 16]) }
        return DigestSubtree(children: digits[...]).hash ?? noRows
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

    /// The subtree of all leaves whose keys begin with one of these bytes; they share their first `depth` digits.
    init(of slices: [LeafSlice], bytes: Range<Int>, depth: Int) {
        var leaves: [StateDigest.Leaf] = []
        leaves.reserveCapacity(slices.reduce(0) { $0 + $1[bytes].count })
        for slice in slices { leaves.append(contentsOf: slice[bytes]) }
        self = leaves.withUnsafeMutableBufferPointer { leaves in
            withUnsafeTemporaryAllocation(of: StateDigest.Leaf.self, capacity: leaves.count) { room in
                KeySort(values: leaves, room: room).sort(0..<leaves.count, byte: bytes.count == 1 ? 1 : 0)
            }
            return DigestSubtree(sorted: UnsafeBufferPointer(leaves), depth: depth)
        }
    }

    /// The subtree of leaves in the order of their keys, which share their first `depth` digits. Recursion goes at most
    /// 64 digits deep.
    private init(sorted leaves: UnsafeBufferPointer<StateDigest.Leaf>, depth: Int) {
        guard let first = leaves.first, let last = leaves.last else {
            self = .nothing
            return
        }
        if first.key == last.key {
            self = .leaf(last.hash)
            return
        }
        assert(depth < 64 && first.key.words < last.key.words, "sorted keys that differ have a digit left to differ in")
        let hash = BranchText.hash { text in
            var start = 0
            while start < leaves.count {
                let slot = leaves[start].key.nibble(depth)
                var end = start + 1
                while end < leaves.count, leaves[end].key.nibble(depth) == slot { end += 1 }
                let part = UnsafeBufferPointer(rebasing: leaves[start..<end])
                if let hash = DigestSubtree(sorted: part, depth: depth + 1).hash { text.add(hash, slot) }
                start = end
            }
        }
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

extension StateDigest.Leaf: Keyed {
    static var keyBytes: Int { 32 }

    fileprivate var firstByte: Int { keyByte(0) }

    func keyByte(_ number: Int) -> Int { key.byte(number) }

    func isBefore(_ other: StateDigest.Leaf) -> Bool { key.words < other.key.words }
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
