import ArgumentParser
import EventLog
import Projections

/// `logtool history`: everything that happened to one thing.
struct HistoryCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show every revision, delete and move of one message, item, session or row.",
        usage: "logtool history LOG ENTITY [options]",
        discussion: """
            An entity is message:SOURCE/CHANNEL/ID, channel:SOURCE/ID, item:SOURCE/LIST/ID, session:SOURCE/FILE, \
            row:SOURCE/TABLE/ID and so on. Parts may be left out from the left, as long as one thing fits.
            """
    )

    static let examples = [
        Example(
            "logtool history chat.eventlog message:vibe/general/0903-bob",
            "who changed it, when, and what it said"
        ),
        Example("logtool history chat.eventlog message:0903-bob", "the same, as long as one message fits"),
        Example(
            "logtool history status.eventlog session:vibestatus-1.json --json",
            "a session's transitions, and how long each status lasted"
        ),
    ]

    @OptionGroup var log: LogOptions

    @Argument(help: ArgumentHelp("What to look at.", valueName: "entity"), transform: EntityArgument.parse)
    var entity: EntityReference

    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let store = try log.open(isQuiet: output.quiet)
        let loader = StateLoader(store: store, progress: output.progress("replaying"))
        let state = try loader.workspace(for: StateQuery())
        let reference = try EntityArgument.only(entity, in: state)
        let entries = try state.history(of: reference)
        try store.read { session in for entry in entries { try session.checkEvent(at: entry.sequence) } }
        let printer = HistoryPrinter(output: output.paged(unless: lists.form), entity: reference, entries: entries)
        if lists.json {
            try printer.printDocument()
        } else if lists.jsonl {
            try printer.printLines()
        } else {
            try printer.printText()
        }
        try printer.output.flush()
    }
}
