public import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records the commits of one branch of a git repository, read with the `git` program.
///
/// Every commit reachable from the branch's tip becomes a `git.commit/1`, parents first, keyed by its id. If the new
/// tip does not follow from the new commits alone (a force push, a branch made again, a tip set back), a
/// `git.rewrite/1` follows them.
public struct GitSource: EventSource, Sendable {
    /// The recorder's name in the log.
    public let name: SourceName
    private let path: String
    /// `nil` for the branch or commit that is checked out.
    private let branch: String?
    private let environment: [String: String]
    private let allowsAlternates: Bool
    /// The time of receipt; `FollowedGitSource` replaces it with the recorder's clock.
    var clock: @Sendable () -> Timestamp

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - repository: the top directory of a work tree, or a bare repository.
    ///   - branch: a branch's name; `nil` for the one that is checked out.
    ///   - environment: the environment whose `PATH` contains `git`; `nil` for this process's own. `git` gets only the
    ///     variables by which programs find their libraries, and `TMPDIR`.
    ///   - allowsAlternates: whether the repository's `.git` file, alternates and links may lead to other folders.
    ///   - clock: gives the time of receipt of each event.
    public init(
        repository: String,
        branch: String? = nil,
        name: SourceName,
        environment: [String: String]? = nil,
        allowsAlternates: Bool = false,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.path = repository
        self.branch = branch
        self.name = name
        self.environment = environment ?? ProcessInfo.processInfo.environment
        self.allowsAlternates = allowsAlternates
        self.clock = clock
    }

    /// Finds the repository and the branch, and begins to list what is new.
    ///
    /// - Throws: `IngestError` with code `gitMissing`, `notARepository`, `leadsOutside`, `noSuchBranch` or
    ///   `brokenRepository`.
    public func drafts(after history: RecordedHistory) throws -> GitDrafts {
        try drafts(after: history, children: GitChildren())
    }

    /// The same; another thread may end the programs in `children`.
    func drafts(after history: RecordedHistory, children: GitChildren) throws -> GitDrafts {
        let repository = try GitRepository(
            at: path,
            environment: environment,
            allowsAlternates: allowsAlternates,
            children: children
        )
        let tip = try repository.tip(ofBranch: branch)
        let old = try Self.recordedTip(history)
        return try GitDrafts(
            repository,
            from: old,
            to: tip,
            history: history,
            source: name,
            clock: clock
        )
    }

    /// The tip up to which the log was recorded: that of the bookmark, else that of the source's last event.
    static func recordedTip(_ history: RecordedHistory) throws -> String? {
        if let bookmark = history.bookmark {
            // The recorder of GitHub's API adds a line of its own behind the id.
            let id = String(decoding: bookmark.prefix { $0 != 0x0A }, as: UTF8.self)
            if GitRepository.isObjectID(id) { return id }
        }
        // Keys are `COMMIT`, `rewrite/OLD/NEW/N`, and either with `~HASH` behind it where the log held another payload.
        guard let key = try history.latestKey()?.rawValue else { return nil }
        let parts = key.split(separator: "/")
        let id = parts.count == 4 && parts[0] == "rewrite" ? String(parts[2]) : String(key.prefix { $0 != "~" })
        return GitRepository.isObjectID(id) ? id : nil
    }
}

/// The drafts of one run over a branch: from the tip that the log holds to the tip at the start of the run.
///
/// A bookmark comes with the last draft alone. A run that ends before it leaves the old bookmark, and the next run
/// lists the same commits again; the log skips those that it holds (I4).
public struct GitDrafts: DraftSequence {
    private enum Stage {
        case commits, rewrite, done
    }

    private let repository: GitRepository
    /// `nil` if the tip has not moved.
    private let reader: GitCommitReader?
    /// The tip up to which the log was recorded; `nil` if nothing was.
    private let old: String?
    private let tip: String
    private let history: RecordedHistory
    private let source: SourceName
    var clock: @Sendable () -> Timestamp
    private var stage: Stage
    /// True if appending the commits alone leaves the log at the tip, so that no rewrite is needed.
    private let endsAtTip: Bool

    init(
        _ repository: GitRepository,
        from old: String?,
        to tip: String,
        history: RecordedHistory,
        source: SourceName,
        clock: @escaping @Sendable () -> Timestamp
    ) throws {
        self.repository = repository
        self.old = old
        self.tip = tip
        self.history = history
        self.source = source
        self.clock = clock
        guard old != tip else {
            (reader, stage, endsAtTip) = (nil, .done, true)
            return
        }
        // After a force push and a collection of garbage the old tip may be gone; then all commits are listed.
        let oldIsThere = try old.map(repository.hasCommit) ?? false
        reader = try GitCommitReader(repository, to: tip, excluding: oldIsThere ? old : nil)
        stage = .commits
        guard let old else {
            endsAtTip = true
            return
        }
        let isForward = try oldIsThere && repository.isAncestor(old, of: tip)
        // A tip that was recorded before is not appended again (I4), so the log would stay at the old one.
        endsAtTip = try isForward && !history.holds(EventKey(tip))
    }

    /// The next commit; after the last one the rewrite, if there is one.
    public mutating func next() throws -> SourceItem? {
        switch stage {
        case .done: return nil
        case .rewrite:
            assert(old != nil, "only a branch that was recorded before can be rewritten")
            stage = .done
            return try old.map { try rewrite(from: $0) }
        case .commits:
            assert(reader != nil, "a reader lists the commits")
            guard let document = try reader?.next() else {
                // The rewrite follows the commits that lead to the new tip (docs/events.md).
                stage = endsAtTip ? .done : .rewrite
                return try next()
            }
            let isLast = endsAtTip && document.commit == tip
            return .draft(
                try draft(.gitCommit, key: document.commit, payload: document.payload),
                bookmark: isLast ? Array(tip.utf8) : nil
            )
        }
    }

    /// The rewrite event. A branch may move between the same tips more than once, so the key has a number: the first
    /// that no key of the log holds.
    private func rewrite(from old: String) throws -> SourceItem {
        let payload = try GitRewriteReader(repository: repository).document(from: old, to: tip)
        var number = 1
        while try history.holds(EventKey("rewrite/\(old)/\(tip)/\(number)")) { number += 1 }
        let draft = try draft(.gitRewrite, key: "rewrite/\(old)/\(tip)/\(number)", payload: payload)
        return .draft(draft, bookmark: Array(tip.utf8))
    }

    private func draft(_ kind: EventKind, key: String, payload: [UInt8]) throws -> DraftEvent {
        try FrameDraft(recordedAt: clock(), source: source, kind: kind, key: key).draft(payload: payload)
    }
}
