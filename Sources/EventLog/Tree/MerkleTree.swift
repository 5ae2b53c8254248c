/// The hash tree of RFC 6962, section 2.1, with SHA-256. Pure functions over leaf hashes that the caller supplies.
public enum MerkleTree {
    /// The root of a tree without leaves: SHA-256 of no bytes.
    public static let emptyRoot = Hasher256.hash([])

    /// The hash of a leaf: SHA-256(00 ‖ leaf).
    public static func leafHash(_ leaf: [UInt8]) -> Hash256 {
        Hasher256.hash([0] + leaf)
    }

    /// The hash of an inner node: SHA-256(01 ‖ left ‖ right).
    public static func parent(_ left: Hash256, _ right: Hash256) -> Hash256 {
        // All 65 bytes are written before they are hashed, and the room is not used after the closure.
        withUnsafeTemporaryAllocation(byteCount: 65, alignment: 8) { room in
            room[0] = 1
            left.withBytes { UnsafeMutableRawBufferPointer(rebasing: room[1..<33]).copyMemory(from: $0) }
            right.withBytes { UnsafeMutableRawBufferPointer(rebasing: room[33...]).copyMemory(from: $0) }
            return Hasher256.hash(UnsafeRawBufferPointer(room))
        }
    }

    /// The root over leaf hashes in order.
    public static func root(of leaves: some Sequence<Hash256>) -> Hash256 {
        var frontier = MerkleFrontier()
        for leaf in leaves { frontier.append(leaf) }
        return frontier.root
    }

    /// The inclusion proof of a leaf in the tree of `size` leaves: the audit path from the leaf upwards (section
    /// 2.1.1).
    ///
    /// - Parameters:
    ///   - leaf: the leaf's index, counted from 0.
    ///   - subtree: returns the root over a range of leaf indices.
    /// - Throws: `EventLogError` with code `invalidArgument` if the tree has no such leaf; what `subtree` throws.
    public static func inclusionProof(
        leaf: UInt64,
        size: UInt64,
        subtree: (Range<UInt64>) throws -> Hash256
    ) throws -> [Hash256] {
        guard leaf < size else { throw outside("prove inclusion of leaf", leaf, size) }
        var proof: [Hash256] = []
        var range = 0..<size
        while range.upperBound - range.lowerBound > 1 {
            assert(range.contains(leaf), "the subtree on the path contains the leaf")
            let middle = range.lowerBound + split(range.upperBound - range.lowerBound)
            let isLeft = leaf < middle
            proof.append(try subtree(isLeft ? middle..<range.upperBound : range.lowerBound..<middle))
            range = isLeft ? range.lowerBound..<middle : middle..<range.upperBound
        }
        // The way led from the root downwards; proofs begin at the leaf.
        return proof.reversed()
    }

    /// The consistency proof that the tree of `first` leaves is a prefix of the tree of `second` leaves (section
    /// 2.1.2).
    ///
    /// - Parameter subtree: returns the root over a range of leaf indices, counted from 0.
    /// - Throws: `EventLogError` with code `invalidArgument` unless 0 < `first` ≤ `second`; what `subtree` throws.
    public static func consistencyProof(
        from first: UInt64,
        to second: UInt64,
        subtree: (Range<UInt64>) throws -> Hash256
    ) throws -> [Hash256] {
        guard first > 0, first <= second else { throw outside("prove consistency of size", first, second) }
        if first == second { return [] }
        var proof: [Hash256] = []
        var range = 0..<second
        var isPrefixWhole = true
        while first != range.upperBound {
            assert(range.lowerBound < first && first < range.upperBound, "the prefix ends within the subtree")
            let middle = range.lowerBound + split(range.upperBound - range.lowerBound)
            if first <= middle {
                proof.append(try subtree(middle..<range.upperBound))
                range = range.lowerBound..<middle
            } else {
                proof.append(try subtree(range.lowerBound..<middle))
                range = middle..<range.upperBound
                isPrefixWhole = false
            }
        }
        // If the way only ever went left, the subtree is the smaller tree itself, and the verifier knows its root.
        if !isPrefixWhole { proof.append(try subtree(range)) }
        return proof.reversed()
    }

    /// The greatest power of two less than `count`, which must exceed 1: where the RFC splits a tree.
    static func split(_ count: UInt64) -> UInt64 {
        assert(count > 1, "a tree of fewer than two leaves has no split")
        return 1 << UInt64(63 - (count - 1).leadingZeroBitCount)
    }

    private static func outside(_ operation: String, _ place: UInt64, _ size: UInt64) -> EventLogError {
        EventLogError(
            .invalidArgument,
            operation: operation,
            object: String(place),
            reason: "the tree has \(size) leaves"
        )
    }
}
