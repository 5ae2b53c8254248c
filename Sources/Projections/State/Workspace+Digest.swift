public import EventLog

extension Workspace {
    /// The digest of the state (I12): O(all rows) at the first call and at the first one after a change, from then on
    /// O(changed rows) since the last call.
    ///
    /// It covers the state document without what only sequence numbers or passing time make of a state: every
    /// `sequence`, `asOf`, `typing`, `stale`, live or expired, `sessionAggregates`. Issues enter as their (source,
    /// reason) pairs with counts. `docs/semantics.md` describes it for other programs.
    public mutating func digest() -> Hash256 {
        // As if to be changed: only so is it sure that no source is copied, which counts references to all of its parts,
        // nor the trie.
        sources.withUnsafeMutableBufferPointer { digestKeeper.digest(of: $0) }
    }

    /// A trie of all rows, which is true for as long as it is told what `takeDigestChanges` gives. Then `digest` must not
    /// be asked any more.
    mutating func startDigest() -> StateDigest {
        sources.withUnsafeMutableBufferPointer { digestKeeper.startKeeping($0) }
    }

    /// Adds what has changed in the trie since this was last asked.
    mutating func takeDigestChanges(into changes: inout [StateDigest.Change]) {
        sources.withUnsafeMutableBufferPointer { digestKeeper.takeChanges(of: $0, into: &changes) }
    }
}

extension Section {
    /// Whether the digest covers the section row by row. What only time makes is left out; issues are counted instead.
    var isInDigest: Bool {
        switch self {
        case .typing, .sessionAggregates, .issues: false
        default: true
        }
    }

    /// The members of the section's rows that only sequence numbers or passing time make.
    var membersOutsideDigest: [String] {
        switch self {
        case .deletedMessages: ["sequence"]
        case .sessions: ["stale", "state"]
        default: []
        }
    }
}
