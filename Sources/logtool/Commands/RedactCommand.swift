import ArgumentParser
import EventLog
import Projections
import Redaction

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `logtool redact`: replaces texts for ever, so that everything else folds as before.
///
/// The library decides, proves and switches (`LogRedaction`, I9); the command resolves names, asks for `--yes` and prints.
struct RedactCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Replace texts for ever: of a message, item, session, prompt or row, or wherever a text stands.",
        usage: "logtool redact LOG (ENTITY… | --match TEXT) [options]",
        discussion: """
            In every event that has them, each text becomes (redacted), another one (redacted 2), and so on; everything else \
            stays, byte for byte: who wrote it, when, replies, other messages of the same commit, page or snapshot. Of an entity \
            all versions that the log holds go. Before anything takes effect it is proved that the rest of the state stays the \
            same. The originals are gone afterwards; root and proofs of other events hold, and the act says who did it, and why. \
            The log is then searched, in all forms. \(RedactionPrinter.beyond)
            """
    )

    static let examples = [
        Example("logtool redact chat.eventlog message:general/0903-bob --dry-run", "what would be replaced"),
        Example(
            "logtool redact chat.eventlog message:0903-bob --yes --why 'asked by bob'",
            "all versions of one message"
        ),
        Example(
            "logtool redact app.eventlog row:notes/n1 --column title --column content --yes",
            "two columns of a row"
        ),
        Example("logtool redact chat.eventlog --match-file - --yes", "a text that the shell's history must not keep"),
    ]

    @OptionGroup var log: LogOptions

    @Argument(help: ArgumentHelp("Whose texts go.", valueName: "entity"), transform: EntityArgument.parse)
    var entities: [EntityReference] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A text that goes wherever it stands; may be given often.", valueName: "text")
    )
    var match: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file that holds such a text, without the end of its last line; - is standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    var matchFile: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A column of the rows, or another member of the entities, that goes, too.",
            valueName: "name"
        )
    )
    var column: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Who asks for it, for the act; the login name by default.", valueName: "name")
    )
    var by: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Why, for the act.", valueName: "text"))
    var why: String?

    @OptionGroup var rewrite: RewriteOptions

    @Flag(help: "Replace; nothing brings the texts back.")
    var yes = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let isByText = !match.isEmpty || matchFile != nil
        if entities.isEmpty != isByText {
            throw ValidationError("name entities, or a text by --match or --match-file")
        }
        if isByText, !column.isEmpty { throw ValidationError("--column goes with entities") }
        if match.contains("") { throw ValidationError("--match needs a text that is not empty") }
        if let by, by.isEmpty { throw ValidationError("--by needs a name that is not empty") }
    }

    /// - Throws: `Failure` with exit code 4 without `--yes`; with 1 if the text is still somewhere in the log. `EngineError` with
    ///   code `no` if the log has none of the texts, or the rest would not stay the same; the log is unchanged then.
    func run() throws {
        guard yes || rewrite.dryRun else {
            throw Failure(
                "redact \"\(log.path)\": the texts are gone for ever afterwards; see with --dry-run what goes, and say --yes",
                exitCode: Outcome.refused
            )
        }
        let progress = output.progress("redacting")
        let store = try rewrite.open(log, reportingTo: progress)
        let redaction = try LogRedaction(of: store, request(for: store, progress))
        let result = try rewrite.withScratch(for: log) { scratch in
            try redaction.run(now: SystemClock.now, isDryRun: rewrite.dryRun, scratch: scratch) { progress.begin($0) }
        }
        progress.end()
        let printer = RedactionPrinter(
            output: output.standardOutput,
            result: result,
            archives: ArchiveFile.paths(beside: log.path)
        )
        if document.json { try printer.printDocument() } else { try printer.printText() }
        try printer.output.flush()
        // Another thing may say the same as a named one; what was to go everywhere must be nowhere.
        guard entities.isEmpty, let scan = result.scan, !scan.hits.isEmpty || scan.fileHitCount > 0 else { return }
        throw Failure("redact \"\(log.path)\": the text is still in the log, as listed", exitCode: Outcome.no)
    }

    /// The request, with each entity named in full.
    private func request(for store: EventStore, _ progress: Progress) throws -> LogRedaction.Request {
        var request = LogRedaction.Request(
            columns: column,
            texts: match,
            by: by ?? ProcessInfo.processInfo.userName,
            why: why
        )
        if let matchFile { request.texts.append(try Self.text(of: matchFile)) }
        guard !entities.isEmpty else { return request }
        let state = try StateLoader(store: store, progress: progress, isQuiet: true).logState(for: StateQuery())
        request.entities = try store.read { session in
            try entities.map { entity in
                // An item that only the event of a deletion names is in no state.
                if entity.kind == .item, entity.parts.count == 3, state.find(entity).isEmpty { return entity }
                return try EntityArgument.only(entity, in: state, of: session)
            }
        }
        return request
    }

    private static let textBytesMax = 16 << 20

    /// The text that a file holds.
    ///
    /// - Throws: `EventLogError` for a file that cannot be read or is larger than an event; `Failure` if it is no UTF-8 or holds nothing.
    private static func text(of path: String) throws -> String {
        let bytes = try InputFile.bytes(at: path, bytesMax: textBytesMax)
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("read \"\(path)\": it is no text in UTF-8")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.isEmpty else { throw Failure("read \"\(path)\": it holds no text") }
        return text
    }
}
