import ArgumentParser
import CacheTables
import EventLog
import Projections

/// `logtool sql`: one statement over the tables of a log.
///
/// It parses and prints; `QueryCache` keeps the tables and runs the statement.
struct SQLCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Answer a question in SQL over the tables of a log.",
        usage: "logtool sql LOG STATEMENT|- [options]",
        discussion: """
            The tables are those of a cache that rebuild --with events makes (docs/cache.md); logtool rebuild --print-schema --with \
            events prints them. They are kept with the log's derived data, and only new events are folded when they are used again.
            """
    )

    static let examples = [
        Example(
            "logtool sql chat.eventlog 'SELECT author, count(*) FROM messages GROUP BY author'",
            "who wrote how many messages"
        ),
        Example(
            "logtool sql chat.eventlog \"SELECT kind, count(*), sum(bytes) FROM events GROUP BY kind\"",
            "what the log consists of"
        ),
        Example(
            "logtool sql chat.eventlog \"SELECT sequence FROM events WHERE payload ->> '$.t' = 'MESSAGE_DELETE'\" --csv",
            "by what a payload holds, as CSV"
        ),
        Example(
            "logtool sql chat.eventlog \"SELECT r.id, r.number, r.content FROM message_revisions_search s "
                + "JOIN message_revisions r ON r.row = s.rowid WHERE message_revisions_search MATCH 'deploy'\"",
            "every version of a message that had a word"
        ),
        Example("logtool sql chat.eventlog - < question.sql --json", "a statement from a file, as JSON"),
    ]

    @OptionGroup var log: LogOptions

    @Argument(
        help: ArgumentHelp("One statement, such as a SELECT; - reads it from standard input.", valueName: "statement")
    )
    var statement: String

    @Flag(help: "Print comma-separated values (RFC 4180).")
    var csv = false

    @Option(
        help: ArgumentHelp("How long the statement may take: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var timeout: Duration = .seconds(60)

    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if csv, lists.form != .text { throw ValidationError("--csv goes without --json and --jsonl") }
    }

    func run() throws {
        let sql = try text()
        let store = try log.open(isQuiet: output.quiet)
        var cache = try QueryCache(of: store, keeping: StateQuery().replayOptions.keeping)
        let progress = RebuildProgress(output)
        cache.report = progress.show
        cache.waiting = { progress.begin("waiting for another process that makes the tables") }
        if !output.quiet { cache.noted = { StandardError.line("logtool: \($0)") } }
        let output = output.paged(unless: csv ? .lines : lists.form)
        try cache.query(sql, within: timeout) { rows in
            progress.end()
            try QueryPrinter(output: output, form: csv ? .csv : .list(lists.form)).print(rows)
        }
    }

    /// The statement, from standard input for `-`.
    private func text() throws -> String {
        if statement != "-" { return statement }
        let bytes = try InputFile.bytes(at: "-", bytesMax: 1 << 20)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("read the statement: standard input is no UTF-8")
        }
        return text
    }
}
