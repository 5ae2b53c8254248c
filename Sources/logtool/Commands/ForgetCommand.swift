import ArgumentParser
import EventLog
import Projections
import Redaction

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `logtool forget`: replaces everything that a person wrote, and the person's names and ids, for ever.
///
/// The library finds, decides, proves and switches (`LogForgetting`, I9); the command asks for `--yes`, prints, and writes the
/// certificate.
struct ForgetCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a person for ever: everything that they wrote, their names and their ids.",
        usage: "logtool forget LOG --author AUTHOR… [options]",
        discussion: """
            Every text of every message by the author goes, edits and deleted messages included; names become forgotten-1, ids a \
            pseudonym of the same form, wherever they name the person, and mentions in what others wrote as well. Everything \
            else stays: order, threads, times, others' messages. Before anything takes effect it is proved that the state is the \
            same but for that. The originals are gone afterwards; root and proofs of other events hold. Then all forms are searched \
            for in events, files and the archives beside the log, and a certificate says what was found. Exit code 1 says that \
            something is left, as listed: an id in a path or a key cannot be replaced. What others wrote about the person \
            stays: see with history --match, and redact. A person who writes again is a new one for the log, and gets \
            another pseudonym when forgotten again. \(ForgettingPrinter.beyond)
            """
    )

    static let examples = [
        Example("logtool forget chat.eventlog --author bob --dry-run", "what would go"),
        Example(
            "logtool forget chat.eventlog --author bob --yes --why 'asked for it' --certificate bob.json",
            "everything that bob wrote, and bob's names"
        ),
        Example("logtool prove chat.eventlog --check bob.json", "the log has the act"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Who is forgotten: an id or a name; may be given often.", valueName: "author")
    )
    var author: [String] = []

    @Option(
        help: ArgumentHelp("Only what this recorder received.", valueName: "name"),
        completion: Completions.sources,
        transform: SourceArgument.parse
    )
    var source: SourceName?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Who asks for it, for the act; the login name by default.", valueName: "name")
    )
    var by: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Why, for the act.", valueName: "text"))
    var why: String?

    @Option(
        help: ArgumentHelp("Write the certificate to a new file, readable by its owner alone.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var certificate: String?

    @OptionGroup var rewrite: RewriteOptions

    @Flag(help: "Forget; nothing brings the texts and names back.")
    var yes = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if author.isEmpty { throw ValidationError("name who is forgotten, with --author") }
        if author.contains("") { throw ValidationError("--author needs a name that is not empty") }
        if let by, by.isEmpty { throw ValidationError("--by needs a name that is not empty") }
    }

    /// - Throws: `Failure` with exit code 4 without `--yes`, and for a certificate's file that is there; with 1 if nobody is called
    ///   so, or something of the person is still in the log; with 2 if several people are called so. `EngineError` with code `no` if
    ///   the rest would not stay the same; the log is unchanged then.
    func run() throws {
        guard yes || rewrite.dryRun else {
            throw Failure(
                "forget \"\(log.path)\": the texts and names are gone for ever afterwards; see with --dry-run what goes, and say "
                    + "--yes",
                exitCode: Outcome.refused
            )
        }
        let file = try certificate.map { try OutputFile($0, overwrites: nil) }
        let progress = output.progress("forgetting")
        let store = try rewrite.open(log, reportingTo: progress)
        if !rewrite.dryRun { try LogForgetting.removeLeftovers(of: store) }
        let forgetting = try forgetting(in: store, progress)
        let result = try rewrite.withScratch(for: log) { scratch in
            try forgetting.run(now: SystemClock.now, isDryRun: rewrite.dryRun, scratch: scratch) { progress.begin($0) }
        }
        progress.end()
        let certificate = try store.read { try ForgettingCertificate(of: result, in: $0) }
        let text = JSONValue.object(certificate.json).text
        if let file {
            try file.add(Array(text.utf8) + [0x0A])
            try file.finish()
        }
        let printer = ForgettingPrinter(output: output.standardOutput, result: result)
        if document.json { try printer.output.line(text) } else { try printer.printText() }
        try printer.output.flush()
        if !result.isComplete, result.scan != nil {
            throw Failure("forget \"\(log.path)\": something of the person is left, as listed", exitCode: Outcome.no)
        }
    }

    /// - Throws: `Failure` with exit code 1 that lists who there is if nobody fits, with 2 and the ids if several people do.
    private func forgetting(in store: EventStore, _ progress: Progress) throws -> LogForgetting {
        try store.read { try KnownNames($0).check(source: source) }
        progress.begin("looking for the person")
        let request = LogForgetting.Request(
            people: author,
            source: source,
            by: by ?? ProcessInfo.processInfo.userName,
            why: why
        )
        do {
            return try LogForgetting(of: store, request)
        } catch let error as LogForgetting.UnknownPerson {
            guard error.ids.isEmpty else {
                let ids = error.ids.prefix(10).joined(separator: ", ")
                throw Failure("find author \"\(error.wanted)\": several people fit: \(ids); name one by the id")
            }
            let shown = error.known.map { $0.value == $0.key ? $0.key : "\($0.value) (\($0.key))" }.sorted()
            let words = Set(error.known.flatMap { [$0.key, $0.value] }).sorted()
            let failure = KnownNames.failure("author", error.wanted, shown, words: words, ifNone: "it tells of nobody")
            guard let act = error.act else { throw failure }
            let pseudonyms = act.pseudonyms.joined(separator: ", ")
            throw Failure(
                failure.description
                    + "; act \(act.sequence) of \(act.recordedAt) has forgotten somebody, now \(pseudonyms): if it was "
                    + "this person, nothing is left to do, and logtool prove \"\(log.path)\" \(act.sequence) proves it",
                exitCode: Outcome.no
            )
        }
    }
}
