import EventLog

/// Computes the digest of a state, and keeps it up to date from the first call after a change on (I12).
///
/// Most states have their digest read once. So the first call hashes all rows without a trie and keeps only the hash;
/// only a second call, after a change, makes a trie.
struct DigestKeeper: Sendable {
    /// How much is known. It only moves down this list; `LogState.retain` begins anew with another keeper.
    private enum Knowledge {
        /// The digest was never read.
        case unasked
        /// The digest was read or taken, and no event came since.
        case known
        /// An event came after the digest was read.
        case outdated
        /// A trie exists, in `trie` or at the caller of `startKeeping`. It lacks the changes noted in `rows`.
        case kept
    }

    private var knowledge = Knowledge.unasked
    /// The digest, while `knowledge` is `known`.
    private var known = StateDigest.noRows
    /// The trie, while `knowledge` is `kept` and no caller of `startKeeping` has it.
    private var trie = StateDigest()
    /// The rows that the trie lacks, and which rows it contains.
    private var rows = DigestRows()
    /// Empty between calls; kept for its memory.
    private var changes: [StateDigest.Change] = []

    /// Whether a trie exists, so that changed rows must be noted.
    var isBuilt: Bool { knowledge == .kept }

    /// Remembers rows that may have changed. `source` is the index of their source in the state, which must not
    /// change from here on.
    @inline(__always)
    mutating func note(_ touched: [EntityKey], source: Int) {
        switch knowledge {
        case .unasked, .outdated: break
        case .known: knowledge = .outdated
        case .kept: rows.note(touched, source: source)
        }
    }

    /// Takes a digest that was kept, unless this keeper has its own.
    mutating func take(_ digest: Hash256) {
        guard knowledge == .unasked else { return }
        (known, knowledge) = (digest, .known)
    }

    /// The digest of the sources. Every change since the last call must have been noted. Not to be called once a caller
    /// has taken the trie of `startKeeping`.
    mutating func digest(of sources: UnsafeMutableBufferPointer<SourceState>) -> Hash256 {
        switch knowledge {
        case .known: return known
        case .unasked:
            let slices = sources.flatMap { source in
                source.digestSlices(ShortLeaf.self) + [LeafSlice(source.issueLeaves().map { ShortLeaf($0) })]
            }
            if let root = StateDigest.root(of: slices) {
                (known, knowledge) = (root, .known)
                return root
            }
            trie = startKeeping(sources)
        case .outdated: trie = startKeeping(sources)
        case .kept: break
        }
        rows.takeChanges(of: sources, into: &changes)
        for change in changes { trie.apply(change) }
        changes.removeAll(keepingCapacity: true)
        return trie.root()
    }

    /// Makes a trie of all rows and begins to note changes. The caller keeps the trie and applies what `takeChanges`
    /// gives. O(rows).
    mutating func startKeeping(_ sources: UnsafeMutableBufferPointer<SourceState>) -> StateDigest {
        knowledge = .kept
        rows = DigestRows()
        var trie = StateDigest()
        for index in sources.indices {
            for slice in sources[index].digestSlices() { slice.leaves.forEach { trie.set($0) } }
            rows.noteAllMessages(of: sources[index], index: index)
        }
        // The slices contain no issues: `takeChanges` adds them, and so learns how many the trie contains.
        rows.takeChanges(of: sources, into: &changes)
        for change in changes { trie.apply(change) }
        changes.removeAll(keepingCapacity: true)
        return trie
    }

    /// Appends the trie's changes since the last call.
    mutating func takeChanges(
        of sources: UnsafeMutableBufferPointer<SourceState>,
        into changes: inout [StateDigest.Change]
    ) {
        rows.takeChanges(of: sources, into: &changes)
    }
}
