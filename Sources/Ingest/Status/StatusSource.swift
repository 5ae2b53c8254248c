#if Recorders
public import EventLog
import Logging

/// Records the files of a directory: each state of each file that could be seen, and when it went.
///
/// A restart records what is different from what the log holds. What happened while nobody looked is a gap, which the
/// first look at every file closes.
public struct StatusSource: LiveSource {
    /// How a directory is observed.
    public enum Mode: Sendable {
        /// One look at every file.
        case once
        /// As the system tells of changes (inotify); by looking each second where it does not.
        case watching
        /// By looking so often.
        case polling(milliseconds: Int32)
    }

    /// The recorder's name in the log.
    public let name: SourceName
    private let path: String
    private let patterns: [String]
    private let mode: Mode

    /// The longest path of a directory, so that it fits an attribute together with a name.
    private static let pathBytesMax = 2_048

    /// Makes a source.
    ///
    /// - Parameter patterns: which names are meant, as in a shell: `vibestatus-*.json`.
    /// - Throws: `IngestError` with code `invalidArgument` or `io` where the directory cannot be observed.
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

    /// Records until it is cancelled, or until every file was looked at once.
    public func run(_ recording: Recording) async throws {
        var session = try StatusSession(recording, directory: path)
        let directory = StatusDirectory(
            path: path,
            patterns: patterns,
            remembered: session.remembered,
            now: recording.clock.now
        )
        try await session.begin()
        let watcher = StatusWatcher(directory, mode: watcherMode, now: recording.clock.now)
        do {
            try await withTaskCancellationHandler {
                while let findings = await watcher.inbox.take() { try await session.take(findings) }
            } onCancel: {
                watcher.stop()
            }
        } catch {
            watcher.stop()
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
