import ArgumentParser
import EventLog
import Ingest
import Projections

/// `logtool import`: makes a log of what `export` wrote.
///
/// The header decides what the lines are: a log, a part, or, without a header, events to append. Only the first two
/// keep sequences, salts and root. Lines are read one at a time; events without a header are all in memory before the
/// first is appended.
struct ImportCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a log of what export wrote: the same events, sequences and root.",
        usage: "logtool import LOG FILE [options]",
        discussion: """
            Everything is checked against the root in the file's header before it takes effect. A log that is there \
            must be a prefix of the file, and gets the rest; if it forks off, nothing is changed. A part of a log (export \
            --from, --entity, …) makes a log with gaps that can be read, verified and proved, and not be written to; behind a \
            log that is there it must lack no event that is newer. What compactions left \
            beside the events is checked against the acts that name it. Nothing proves the notes that recorders resume \
            from, so they are left out: a recorder then reads again what its remote still has. Nothing proves the identity in \
            the header either: the root does not cover it. A file without a header, \
            as events --jsonl --payload writes it, is appended event by event. A line has at most 128 MiB, the header \
            1 GiB.
            """
    )

    static let examples = [
        Example("logtool import copy.eventlog chat.ndjson", "a log of a file"),
        Example("logtool export a.eventlog | logtool import b.eventlog -", "bring b up to a"),
    ]

    /// Not `LogOptions`, because the log may not exist yet.
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String

    @Argument(help: ArgumentHelp("What export wrote; - is standard input.", valueName: "file"), completion: .file())
    var file: String

    /// Off unless given: a bookmark is no part of the hash tree, so nothing tells a forged one.
    @Flag(help: "Take the notes that recorders resume from, too; only from a file that you have made yourself.")
    var bookmarks = false

    @OptionGroup(title: "Options of the log") var write: WriteOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Reads the file line by line. An export takes effect as a whole, after everything was checked against the
    /// header's root (I9). Events without a header are appended once all lines are read.
    ///
    /// - Throws: `Failure` that names the line (exit 2) for a malformed one, and `EventLogError` with code
    ///   `invalidArgument` (exit 2) if the pieces do not fit the header or an existing log forks off. The log is
    ///   unchanged then.
    func run() throws {
        let lines = try LineReader(file)
        let progress = output.progress("importing")
        guard let first = try lines.next() else { throw Failure("import \"\(file)\": it is empty") }
        // Without a header there is no root to check against: the events are appended like those of a source.
        if ExportReader.isEvent(first) {
            var events = ExportedEvents(operation: "import", object: file)
            try events.add(lines, first: first)
            let summary = try events.record {
                try EventStore.openOrCreate(at: log, options: write.storeOptions(isQuiet: output.quiet))
            }
            return try print(summary, progress)
        }
        var reader = ExportReader()
        var header = try read(lines) { try reader.header(first) }
        // Nothing proves bookmarks. A forged one would make a recorder skip what it has not read.
        if !bookmarks { header.bookmarks = [:] }
        let result = try EventStore.importLog(
            at: log,
            header: header,
            options: write.storeOptions(isQuiet: output.quiet)
        ) { log in
            // The first line was the header.
            while let line = try lines.next() {
                try log.add(read(lines) { try reader.piece(line) })
                // Not for each line: the text of a report costs a part of a line.
                guard lines.number.isMultiple(of: 256) else { continue }
                progress.report("read \(lines.number) lines", done: lines.number)
            }
        }
        // A part is easily taken for the whole log.
        if result.missing > 0, !output.quiet {
            StandardError.line("logtool: \(result.missing) of \(header.size) events are missing: the file is a part")
        }
        // A log that was there had this identity already.
        if result.duplicates == 0, result.appended > 0, !output.quiet {
            let identity = header.identity.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let whose = "of the file's header, which nothing proves"
            StandardError.line("logtool: the log has the identity \(identity) \(whose)")
        }
        if !result.provesRemains, !output.quiet { StandardError.line("logtool: unproved: \(VerifyCommand.unproved)") }
        try print(Self.summary(result, size: header.size), progress)
    }

    /// Ends the progress line, then prints the result.
    private func print(_ summary: IngestSummary, _ progress: Progress) throws {
        progress.end()
        try IngestSummaryPrinter(output: output.standardOutput, summary: summary).print(asJSON: document.json)
    }

    /// Reads one line and names it in errors of JSON, of an event's form, and of the log's limits.
    private func read<Result>(_ lines: LineReader, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let fault as ExportFault {
            throw self.fault(lines, fault.description)
        } catch let error as EventLogError {
            throw fault(lines, error.reason)
        }
    }

    /// The error for the line that was read last.
    private func fault(_ lines: LineReader, _ reason: String) -> Failure {
        Failure("import \"\(file)\", line \(lines.number): \(reason)")
    }

    /// The result as that of an ingest. What the log held already counts as duplicates. An import appends through the
    /// file's last event, so `last` is the header's size.
    private static func summary(_ result: ImportResult, size: UInt64) -> IngestSummary {
        var summary = IngestSummary()
        summary.appended = Int(clamping: result.appended)
        summary.duplicates = Int(clamping: result.duplicates)
        summary.first = result.first
        summary.last = result.first.map { _ in SequenceNumber(size) }
        return summary
    }
}
