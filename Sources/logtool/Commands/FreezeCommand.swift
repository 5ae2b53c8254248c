import ArgumentParser
import Clients
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

/// `logtool freeze`: a regression fixture from a log.
///
/// The fixture's format is that of `Fixtures/events` and of the library `EventLogTesting`, so the same folder serves
/// `logtool check` and a test in Swift.
struct FreezeCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "freeze",
        abstract: "Make a regression fixture of a log: its events and the state that they must give.",
        usage: "logtool freeze LOG -o DIR [--name N] [--at P] [--profile P] [options]",
        discussion: """
            Writes events.ndjson, expected.json (with --profile also expected.PROFILE.json) and about.md. Correct expected.json by \
            hand where the state is wrong today: logtool check then fails until it is right.
            """
    )

    static let examples = [
        Example("logtool freeze bug.eventlog -o Tests/Fixtures/message-shown-twice", "the whole log"),
        Example("logtool freeze bug.eventlog -o Tests/Fixtures --name late-edit --at 87", "up to event 87"),
        Example(
            "logtool freeze bug.eventlog -o Fixtures/late-edit --profile vibechannel-ios",
            "with what a client shows"
        ),
        Example("logtool freeze bug.eventlog -o Fixtures/late-edit --swift", "and print a test in Swift"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var decoders: DecoderOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The folder to make; with --name the one to make it in.", valueName: "dir"),
        completion: .directory
    )
    var directory: String

    @Option(help: ArgumentHelp("The fixture's name.", valueName: "name"))
    var name: String?

    /// The last event of the fixture. A point before the last compaction is refused, because its state can no longer be
    /// folded.
    @OptionGroup var point: PointOptions

    @Option(
        help: ArgumentHelp("A client whose state is kept beside the canonical one.", valueName: "profile"),
        transform: ProfileArgument.parse
    )
    var profile = Profile.canonical

    @Flag(help: "Print a test in Swift that checks the fixture.")
    var swift = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// The name becomes one folder: a slash would name another place, and `check` passes over names that begin with a
    /// dot.
    func validate() throws {
        if let name, name.isEmpty || name.contains("/") || name.hasPrefix(".") {
            throw ValidationError("\"\(name)\" is no name of a folder")
        }
    }

    /// - Throws: `Failure` with exit code 4 if the folder exists already: a fixture may have been corrected by hand.
    ///   `FixtureError` (exit 2) if the exported events alone do not give the log's state.
    func run() throws {
        var folder = URL(filePath: directory)
        if let name { folder = folder.appending(path: name) }
        // Before the log is opened and folded, which may take long.
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw Failure(
                "freeze \"\(folder.path)\": something is there already; choose another folder, or remove it",
                exitCode: Outcome.refused
            )
        }
        let store = try decoders.used(in: log.open(isQuiet: output.quiet), isQuiet: output.quiet)
        // Fixed before the events are written, so that a growing log does not add to the fixture.
        let last = try store.read { try point.at?.resolve(in: $0) ?? $0.head }
        let fixture = try Fixture.freeze(store, through: last, profile: profile, to: folder, about: about(last))
        let output = output.standardOutput
        if document.json {
            let profiles: [JSONValue] = fixture.profiles.map { .string($0.rawValue) }
            let document: JSONValue = .object([
                "directory": .string(folder.path), "sequence": .string(last.description), "profiles": .array(profiles),
                // The scaffold is a member, because text beside a JSON document would break it.
                "test": swift ? .string(scaffold(folder)) : nil,
            ])
            try output.line(document.text)
        } else {
            try output.line("froze events 1 to \(last) in \(DisplayText.escaped(folder.relativePath))")
            try output.line("next: logtool check \(DisplayText.escaped(folder.relativePath))")
            // Behind the result, to be copied into a test file.
            if swift { try output.line("\n" + scaffold(folder)) }
        }
        try output.flush()
    }

    /// The first paragraph of `about.md`, which a person is to complete.
    private func about(_ last: SequenceNumber) -> String {
        let reading = profile == .canonical ? "" : ", and as \(profile.rawValue) reads them"
        return
            "The events 1 to \(last) of a log, and the state that they give\(reading). Say here what happened and what was wrong."
    }

    /// A test in Swift that checks the fixture. Its name is the folder's in camel case; one that begins with a digit
    /// gets a prefix, because Swift's names cannot. The test finds the fixture by its own file's path: both belong into
    /// one folder.
    private func scaffold(_ folder: URL) -> String {
        let words = folder.lastPathComponent.split { !$0.isLetter && !$0.isNumber }
        let function = words.enumerated().map {
            $0 == 0 ? $1.lowercased() : $1.prefix(1).uppercased() + $1.dropFirst().lowercased()
        }.joined()
        return """
            import EventLogTesting
            import Foundation
            import Testing

            @Test func \(function.first?.isLetter == true ? function : "fixture" + function)() async throws {
                let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "\(folder.lastPathComponent)")
                try await Fixture(at: folder).check()
            }
            """
    }
}
