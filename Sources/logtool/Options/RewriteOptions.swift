import ArgumentParser
import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// How a command rewrites a log into a new generation, or only says what that would do.
///
/// There is no choice of durability, as `WriteOptions` has it: a switch to a new generation is always synced (I9).
struct RewriteOptions: ParsableArguments {
    /// Costs as much time as the real run, and for a while as much disk: the figures come from a rewrite that is thrown
    /// away.
    @Flag(help: "Change nothing; print the same figures.")
    var dryRun = false

    @Option(
        help: ArgumentHelp("How long to wait for another writer: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var wait: Duration = .seconds(10)

    /// Opens the log.
    ///
    /// - Throws: `EventLogError`.
    func open(_ log: LogOptions, reportingTo progress: Progress) throws -> EventStore {
        var options = EventStore.Options.reporting(to: progress)
        options.wait = wait
        return try EventStore.open(at: log.path, options: options)
    }

    /// Calls `body` with a folder for the rewrite of a dry run, where the log may not be written; with `nil` for the log's own
    /// folder. That one where possible: a copy as large as the log may not fit into `TMPDIR`.
    ///
    /// A joined log that is kept beside the log is removed afterwards: it may have what the rewrite took away.
    func withScratch<Result>(for log: LogOptions, _ body: (String?) throws -> Result) throws -> Result {
        defer { if !dryRun { JoinedLogs.removeKept(besideLogAt: log.path) } }
        guard dryRun, access(log.path, W_OK) != 0 else { return try body(nil) }
        let folder = try ScratchFolder(in: FileManager.default.temporaryDirectory.path)
        return try body(folder.path)
    }
}
