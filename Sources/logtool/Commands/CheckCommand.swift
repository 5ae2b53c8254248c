import ArgumentParser
import EventLog
import EventLogTesting
import Projections

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

/// `logtool check`: replays fixtures and compares.
///
/// Asynchronous, because fixtures are checked in parallel (`CheckResult`). Each is independent: one that cannot be used
/// stops no other.
struct CheckCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Replay regression fixtures and compare each state with the expected one.",
        usage: "logtool check DIR… [--tap] [--junit FILE] [--update] [options]",
        discussion: """
            A folder is a fixture, or holds fixtures. Exit code 1 where a state differs: the first member that does, and the event \
            responsible for it, are printed.
            """
    )

    static let examples = [
        Example("logtool check Fixtures/events", "every fixture in a folder"),
        Example("logtool check Fixtures/late-edit --junit report.xml", "one, with a report for a CI server"),
        Example("logtool check Fixtures/events --update", "take the states of today as the expected ones"),
    ]

    @Argument(help: ArgumentHelp("Fixtures, or folders of fixtures.", valueName: "dir"), completion: .directory)
    var directories: [String]

    /// Excludes `--json`, but not `--junit`: the report is a file beside whatever is printed.
    @Flag(help: "Print in the Test Anything Protocol.")
    var tap = false

    @Option(help: ArgumentHelp("Write a JUnit report.", valueName: "file"), completion: .file())
    var junit: String?

    /// Writes only states that differ. The run then ends with 0 unless a fixture cannot be used.
    @Flag(help: "Write the states of today as the expected ones, and say what changes. Refused where CI is set.")
    var update = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if directories.isEmpty { throw ValidationError("name at least one fixture") }
        if tap && document.json { throw ValidationError("--tap and --json exclude each other") }
    }

    /// Checks all fixtures, then prints and writes the reports. The exit code is thrown last: 2 if a fixture cannot be
    /// used, else 1 if a state differs.
    func run() async throws {
        // CI systems set CI. A run there that updated fixtures would pass whatever the state is.
        if update, !(Terminal.environment("CI") ?? "").isEmpty {
            throw Failure("check --update: CI is set, and a CI run must not change what it checks")
        }
        // Before any check: a misspelt folder must not pass as a folder without failures.
        let folders = try fixtureFolders()
        // Wall-clock time of all fixtures together; each result has its own.
        let begin = ContinuousClock.now
        let results = await CheckResult.check(folders, updates: update)
        let report = CheckReport(results: results, seconds: begin.duration(to: .now), updates: update)
        let output = output.standardOutput
        if document.json {
            try output.line(report.json.text)
        } else {
            try output.line(tap ? report.tap : report.text)
        }
        try output.flush()
        // Written whole and renamed, so that a CI server never reads half a report.
        if let junit { try write(report.junit, to: junit) }
        // A fixture that cannot be read is trouble (2), not a difference (1).
        if results.contains(where: \.isUnusable) { throw Outcome.trouble }
        if !update, results.contains(where: { !$0.mismatches.isEmpty }) { throw Outcome.no }
    }

    /// Writes the report. A link at the path is refused: who made the fixtures may have planted it.
    private func write(_ report: String, to path: String) throws {
        do {
            try Partial.write(Array(report.utf8), toFileAt: path)
        } catch let error as EventLogError {
            throw Failure("write \"\(path)\": \(error.reason); name another file with --junit")
        }
    }

    /// The named folders, or the fixtures directly in them, sorted by the bytes of their names. Folders within those
    /// are not searched. Names that begin with a dot are passed over: freezing makes its unfinished folders under such
    /// names.
    ///
    /// - Throws: `Failure` with exit code 2 for a folder that is no fixture and contains none.
    private func fixtureFolders() throws -> [URL] {
        var folders: [URL] = []
        for directory in directories {
            let url = URL(filePath: directory)
            if Self.isFixture(url) {
                folders.append(url)
                continue
            }
            let names = try? FileManager.default.contentsOfDirectory(atPath: url.path)
            let inner = (names ?? []).filter { !$0.hasPrefix(".") }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                .map { url.appending(path: $0) }.filter(Self.isFixture)
            guard !inner.isEmpty else {
                throw Failure("check \"\(directory)\": there is no fixture; logtool freeze makes one")
            }
            folders += inner
        }
        return folders
    }

    /// A fixture has events, or a capture of which events are made.
    private static func isFixture(_ url: URL) -> Bool {
        ["events.ndjson", "capture.ndjson"].contains {
            FileManager.default.fileExists(atPath: url.appending(path: $0).path)
        }
    }
}
