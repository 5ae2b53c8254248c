#if Recorders
public import EventLog
import Logging

/// Records the files of a directory: each state of a file that could be observed, and its removal.
///
/// After a restart it records what differs from the log. The time without a recorder is a gap (I29), which the first
/// look at every file closes.
public struct StatusSource: LiveSource {
    /// How a directory is observed.
    public enum Mode: Sendable {
        /// Looks at every file once.
        case once
        /// Follows the system's reports of changes (inotify); polls every second if there are none.
        case watching
        /// Polls at this interval.
        case polling(milliseconds: Int32)
    }

    /// The recorder's name in the log.
    public let name: SourceName
    /// Without a slash at the end, unless it is the root.
    private let path: String
    private let patterns: [String]
    private let mode: Mode

    /// The longest path of a directory, so that it fits an attribute together with a name.
    private static let pathBytesMax = 2_048

    /// Makes a source.
    ///
    /// - Parameter patterns: shell patterns of the names to record, such as `vibestatus-*.json`.
    /// - Throws: `IngestError` with code `invalidArgument` for a path that is empty or too long, `io` if it does not
    ///   exist.
    public init(directory: String, patterns: [String], name: SourceName, mode: Mode) throws {
        var path = directory
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, path.utf8.count <= Self.pathBytesMax, !path.utf8.contains(0) else {
            throw Self.error(.invalidArgument, directory, "the path is empty or too long")
        }
        guard StatusDirectory.exists(path) else {
            throw Self.error(.io, directory, "the directory is not there")
        }
        self.path = path
        self.patterns = patterns
        self.name = name
        self.mode = mode
    }

    /// Records until it is cancelled; in the mode `once`, until every file was looked at. A directory that is removed
    /// later is waited for.
    public func run(_ recording: Recording) async throws {
        var session = try StatusSession(recording, directory: path)
        let directory = StatusDirectory(
            path: path,
            patterns: patterns,
            remembered: session.remembered,
            recorded: recording.rules.redactedStatus,
            now: recording.clock.now
        )
        try await session.begin()
        let watcher = StatusWatcher(directory, mode: watcherMode, now: recording.clock.now)
        do {
            // Ends when the watcher's thread has ended, or at once when the task is cancelled. Findings that still wait
            // then are left to the next run, whose gap begins before them.
            try await withTaskCancellationHandler {
                while let findings = await watcher.inbox.take() { try await session.take(findings) }
            } onCancel: {
                watcher.stop()
            }
        } catch {
            watcher.stop()
            // Where nothing can be appended any more, this cannot either.
            try? await session.stop(error)
            throw error
        }
        watcher.stop()
        try await session.stop()
        try Task.checkCancellation()
    }

    private var watcherMode: StatusWatcher.Mode {
        switch mode {
        case .once: .once
        case .watching: .watching
        case .polling(let milliseconds): .polling(milliseconds: max(1, milliseconds))
        }
    }

    private static func error(_ code: IngestError.Code, _ path: String, _ reason: String) -> IngestError {
        IngestError(
            code,
            operation: "ingest status",
            object: path,
            reason: reason,
            advice: "name the directory that holds the status files, such as /tmp"
        )
    }
}
#endif
