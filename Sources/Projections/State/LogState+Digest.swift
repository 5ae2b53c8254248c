public import EventLog

extension LogState {
    /// The digest of the state (I12): O(all rows) at the first call and at the first one after a change, from then on
    /// O(changed rows) since the last call.
    ///
    /// It covers the state document without effects of sequence numbers or passing time: every `sequence`, `asOf`,
    /// `typing`, `stale`, live or expired, `sessionAggregates`. Issues enter as their (source, reason) pairs with
    /// counts. `docs/semantics.md` describes it for other programs.
    public mutating func digest() -> Hash256 {
        // Mutable access guarantees that neither the trie nor a source is copied; copying a source counts references to
        // all of its parts.
        sources.withUnsafeMutableBufferPointer { digestKeeper.digest(of: $0) }
    }

    /// Takes the digest of this state from where it was kept, so that `digest` hashes no rows before the next change.
    mutating func takeDigest(_ digest: Hash256) {
        digestKeeper.take(digest)
    }

    /// Makes a trie of all rows. The caller keeps it up to date with the changes that `takeDigestChanges` gives, and
    /// must not call `digest` any more. O(rows).
    mutating func startDigest() -> StateDigest {
        sources.withUnsafeMutableBufferPointer { digestKeeper.startKeeping($0) }
    }

    /// Appends the trie's changes since the last call. O(changed rows).
    mutating func takeDigestChanges(into changes: inout [StateDigest.Change]) {
        sources.withUnsafeMutableBufferPointer { digestKeeper.takeChanges(of: $0, into: &changes) }
    }
}

extension Section {
    /// Whether the digest covers the section row by row. Rows that only time makes are left out; issues are counted
    /// instead. Other programs compute the digest too (`docs/semantics.md`), so this list must not change.
    var isInDigest: Bool {
        switch self {
        case .typing, .sessionAggregates, .issues: false
        default: true
        }
    }
}
