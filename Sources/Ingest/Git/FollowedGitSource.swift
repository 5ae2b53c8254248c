#if Recorders
public import EventLog
import Foundation
import Logging

/// Records the commits of one branch of a git repository as somebody else pushes or fetches into it: looks again and
/// again, each time at what is new.
public struct FollowedGitSource: LiveSource {
    private let git: GitSource
    private let interval: Duration

    /// The recorder's name in the log.
    public var name: SourceName { git.name }

    /// Makes a source.
    ///
    /// - Parameter interval: the pause between two looks.
    public init(_ git: GitSource, interval: Duration = .seconds(10)) {
        self.git = git
        self.interval = interval
    }

    /// Whether there is the repository and the branch.
    ///
    /// - Throws: `IngestError` with code `gitMissing`, `notARepository`, `noSuchBranch` or `brokenRepository`.
    public func check() async throws {
        _ = try await GitPull.start(git, after: .empty)
    }

    /// Records until it is cancelled. A branch or repository that is away is looked for again.
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
                // It may be replaced at this moment; what was recorded of it stays.
                if !isAway { recording.log.warning("cannot be read", metadata: ["error": "\(error)"]) }
                isAway = true
            }
            try await recording.clock.sleep(interval)
        }
    }

    /// Records what is new; the bookmark that is valid then.
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
        // The next look asks the log for what this one found.
        try await recording.flush()
        return reached
    }
}

/// Reads commits on a thread that may block: git answers when it likes. Used by one task.
private final class GitPull: @unchecked Sendable {
    private static let itemsMax = 128
    private let queue = DispatchQueue(label: "git")
    // Touched on `queue` only.
    private var drafts: GitDrafts

    private init(_ drafts: GitDrafts) {
        self.drafts = drafts
    }

    static func start(_ source: GitSource, after history: RecordedHistory) async throws -> GitPull {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "git").async {
                continuation.resume(with: Result { GitPull(try source.drafts(after: history)) })
            }
        }
    }

    /// The next commits, parents first; none at the tip.
    func next() async throws -> [SourceItem] {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.read() }) }
        }
    }

    private func read() throws -> [SourceItem] {
        var items: [SourceItem] = []
        while items.count < Self.itemsMax, let item = try drafts.next() { items.append(item) }
        return items
    }
}
#endif
