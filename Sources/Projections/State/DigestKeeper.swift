import EventLog

/// Computes the digest of a workspace, and keeps it up to date from the first call after a change on.
///
/// The digest of most states is read once. So the first call hashes all rows without a trie and keeps only the hash.
struct DigestKeeper: Sendable {
    private enum Standing {
        /// The digest was never read.
        case unasked
        /// The digest was read, and no event came since.
        case known
        /// An event came after the digest was read.
        case outdated
        /// A trie exists, in `trie` or at the caller of `startKeeping`. It lacks the changes noted in `rows`.
        case kept
    }

    private var standing = Standing.unasked
    private var known = StateDigest.noRows
    private var trie = StateDigest()
    private var rows = DigestRows()
    private var changes: [StateDigest.Change] = []

    /// Whether a trie exists, so that changed rows must be noted.
    var isBuilt: Bool { standing == .kept }

    /// Remembers rows that may have changed.
    @inline(__always)
    mutating func note(_ touched: [EntityKey], source: Int) {
        switch standing {
        case .unasked, .outdated: break
        case .known: standing = .outdated
        case .kept: rows.note(touched, source: source)
        }
    }

    /// The digest of the sources. Every change since the last call must have been noted.
    mutating func digest(of sources: UnsafeMutableBufferPointer<SourceState>) -> Hash256 {
        switch standing {
        case .known: return known
        case .unasked:
            known = StateDigest.root(of: sources.flatMap { $0.digestSlices() + [LeafSlice($0.issueLeaves())] })
            standing = .known
            return known
        case .outdated: trie = startKeeping(sources)
        case .kept: break
        }
        rows.takeChanges(of: sources, into: &changes)
        for change in changes { trie.apply(change) }
        changes.removeAll(keepingCapacity: true)
        return trie.root()
    }

    /// Makes a trie of all rows and begins to note changes. The caller keeps the trie and applies what `takeChanges` gives.
    mutating func startKeeping(_ sources: UnsafeMutableBufferPointer<SourceState>) -> StateDigest {
        standing = .kept
        rows = DigestRows()
        var trie = StateDigest()
        for index in sources.indices {
            for slice in sources[index].digestSlices() { slice.leaves.forEach { trie.set($0) } }
            rows.noteAllMessages(of: sources[index], index: index)
        }
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
