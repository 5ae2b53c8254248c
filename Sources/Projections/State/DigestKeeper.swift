import EventLog

/// Knows the digest of a workspace, and from the second time on that somebody asks for it keeps it up to date.
///
/// Most states are asked once: their rows are hashed at once, and nothing is kept of it but the hash.
struct DigestKeeper: Sendable {
    private enum Standing {
        /// Nobody has asked.
        case unasked
        /// Somebody has asked, and nothing has happened since.
        case known
        /// Something has.
        case outdated
        /// There is a trie, here or with somebody else, which lacks what is pending.
        case kept
    }

    private var standing = Standing.unasked
    private var known = StateDigest.noRows
    private var trie = StateDigest()
    private var rows = DigestRows()
    private var changes: [StateDigest.Change] = []

    /// Whether it needs to be told which rows change.
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

    /// The digest of the sources, which nobody has changed without telling.
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

    /// Begins to note changes, for whoever has this trie of all rows and applies to it what `takeChanges` gives.
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

    /// Adds what has changed in the trie since this was last asked.
    mutating func takeChanges(
        of sources: UnsafeMutableBufferPointer<SourceState>,
        into changes: inout [StateDigest.Change]
    ) {
        rows.takeChanges(of: sources, into: &changes)
    }
}
