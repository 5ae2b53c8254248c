#if Recorders
import Dispatch
public import EventLog
import Logging

/// Records the new commits of one branch of a git repository by polling, while others push or fetch into it.
///
/// It needs no gaps (I29): commits name their parents, so the next poll finds what was pushed between two. Only a tip
/// that was replaced by force before a poll saw it is missed.
public struct FollowedGitSource: LiveSource {
    private let git: GitSource
    private let interval: Duration

    /// The recorder's name in the log.
    public var name: SourceName { git.name }

    /// Makes a source.
    ///
    /// - Parameter interval: the pause between two polls.
    public init(_ git: GitSource, interval: Duration = .seconds(10)) {
        self.git = git
        self.interval = interval
    }

    /// Checks that the repository and the branch exist and can be read.
    ///
    /// - Throws: `IngestError` with code `gitMissing`, `notARepository`, `leadsOutside`, `noSuchBranch`,
    ///   `brokenRepository` or `io`.
    public func check() async throws {
        _ = try await GitPull.start(git, after: .empty)
    }

    /// Records until it is cancelled. While the branch or repository cannot be read, it tries again at each poll. An
    /// error of the log ends it.
    public func run(_ recording: Recording) async throws {
        var git = git
        git.clock = recording.clock.now
        var tip = recording.history.bookmark
        var isAway = false
        while true {
            do {
                tip = try await Self.look(git, recording, after: tip) ?? tip
                if isAway { recording.log.notice("the branch can be read again") }
                isAway = false
            } catch let error as IngestError {
                // Cancelling kills git, whose failed read arrives here as an `IngestError`.
                try Task.checkCancellation()
                // The repository may be in the middle of being replaced, so this is logged once and tried again.
                if !isAway { recording.log.warning("cannot be read", metadata: ["error": "\(error)"]) }
                isAway = true
            }
            try await recording.clock.sleep(interval)
        }
    }

    /// Records the new commits; returns the bookmark that is valid then, or `nil` if there were none. Opens the
    /// repository anew, because it may have been replaced since the last poll.
    private static func look(
        _ git: GitSource,
        _ recording: Recording,
        after tip: [UInt8]?
    ) async throws -> [UInt8]? {
        let past = recording.history
        let history = RecordedHistory(
            bookmark: tip,
            holdsKey: { try past.holds($0) },
            latestKey: { try past.latestKey() }
        )
        let pull = try await GitPull.start(git, after: history)
        var reached: [UInt8]?
        while true {
            try Task.checkCancellation()
            let items = try await pull.next()
            guard !items.isEmpty else { break }
            for case .draft(_, let bookmark?) in items { reached = bookmark }
            try await recording.append(items)
        }
        // The next poll looks up this one's keys in the log, so they must be stored.
        try await recording.flush()
        return reached
    }
}

/// Reads commits on a dispatch queue, because reading from git blocks. Used by one task.
///
/// `@unchecked Sendable` is right because `drafts`, the only mutable state, is touched on the serial `queue` alone,
/// after `init` has set it. Cancelling touches `children` alone, which has a lock.
private final class GitPull: @unchecked Sendable {
    /// The most commits handed over at once.
    private static let itemsMax = 128
    private let queue = DispatchQueue(label: "git")
    private let children: GitChildren
    /// Touched on `queue` only.
    private var drafts: GitDrafts

    private init(_ drafts: GitDrafts, _ children: GitChildren) {
        self.drafts = drafts
        self.children = children
    }

    static func start(_ source: GitSource, after history: RecordedHistory) async throws -> GitPull {
        let children = GitChildren()
        return try await ending(children) { continuation in
            // A queue of its own: finding the repository and starting git blocks, too, before there is an instance.
            DispatchQueue(label: "git").async {
                continuation.resume(
                    with: Result { GitPull(try source.drafts(after: history, children: children), children) }
                )
            }
        }
    }

    /// Waits for git. If the task is cancelled, ends git, so that the blocked read sees the end of its output.
    private static func ending<Value: Sendable>(
        _ children: GitChildren,
        _ body: (CheckedContinuation<Value, any Error>) -> Void
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation(body)
        } onCancel: {
            children.end()
        }
    }

    /// The next commits, parents first; empty at the tip.
    func next() async throws -> [SourceItem] {
        try await Self.ending(children) { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    /// Reads up to `itemsMax` commits; blocks. Called on `queue`.
    private func read() throws -> [SourceItem] {
        var items: [SourceItem] = []
        while items.count < Self.itemsMax, let item = try drafts.next() { items.append(item) }
        return items
    }
}
#endif
