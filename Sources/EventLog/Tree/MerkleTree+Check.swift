extension MerkleTree {
    /// Whether the inclusion proof leads from the leaf to the root. False for a proof of the wrong length and a leaf
    /// outside the tree. The algorithm is that of RFC 9162, section 2.1.3.2, whose tree is the same.
    ///
    /// - Parameter leaf: the leaf's index, counted from 0.
    public static func isIncluded(
        leafHash: Hash256,
        at leaf: UInt64,
        size: UInt64,
        proof: [Hash256],
        root: Hash256
    ) -> Bool {
        guard leaf < size else { return false }
        // `place`, `last` and `hash` are `fn`, `sn` and `r` of the RFC.
        var place = leaf
        var last = size - 1
        var hash = leafHash
        for step in proof {
            guard last > 0 else { return false }
            if place & 1 == 1 || place == last {
                hash = parent(step, hash)
                climbLeftEdge(&place, &last)
            } else {
                hash = parent(hash, step)
            }
            place >>= 1
            last >>= 1
        }
        return last == 0 && hash == root
    }

    /// Whether the proof shows that the tree of `first` leaves is a prefix of the tree of `second` leaves (RFC 9162,
    /// section 2.1.4.2).
    public static func isConsistent(
        from first: UInt64,
        root firstRoot: Hash256,
        to second: UInt64,
        root secondRoot: Hash256,
        proof: [Hash256]
    ) -> Bool {
        // The empty tree is a prefix of every tree, so its proof proves nothing; other verifiers refuse it too.
        if first == 0 || first > second { return false }
        if first == second { return proof.isEmpty && firstRoot == secondRoot }
        let isPowerOfTwo = first & (first - 1) == 0
        // Then the smaller tree is a subtree of the greater one, and the proof leaves out its root, which the verifier
        // knows.
        let steps = isPowerOfTwo ? [firstRoot] + proof : proof
        guard let start = steps.first else { return false }
        var place = first - 1
        var last = second - 1
        while place & 1 == 1 {
            place >>= 1
            last >>= 1
        }
        return climb(steps.dropFirst(), start, &place, &last) == Roots(first: firstRoot, second: secondRoot)
    }

    /// The roots that a consistency proof leads to.
    private struct Roots: Equatable {
        var first: Hash256
        var second: Hash256
    }

    /// Follows a consistency proof from its first hash upwards; `nil` if the proof is too long or too short.
    private static func climb(
        _ steps: ArraySlice<Hash256>,
        _ start: Hash256,
        _ place: inout UInt64,
        _ last: inout UInt64
    ) -> Roots? {
        var roots = Roots(first: start, second: start)
        for step in steps {
            guard last > 0 else { return nil }
            if place & 1 == 1 || place == last {
                roots.first = parent(step, roots.first)
                roots.second = parent(step, roots.second)
                climbLeftEdge(&place, &last)
            } else {
                roots.second = parent(roots.second, step)
            }
            place >>= 1
            last >>= 1
        }
        return last == 0 ? roots : nil
    }

    /// Skips the levels where the node is the last one and has no sibling.
    private static func climbLeftEdge(_ place: inout UInt64, _ last: inout UInt64) {
        assert(place <= last, "a node lies at or before the last node of its level")
        while place & 1 == 0 && place != 0 {
            place >>= 1
            last >>= 1
        }
    }
}
