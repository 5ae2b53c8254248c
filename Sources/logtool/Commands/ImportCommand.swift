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
            the header either: the root does not cover it. An archive of compact goes back into its log, newest first; where no log is, \
            it makes a part of one. A file without a header, \
            as events --jsonl --payload writes it, is appended event by event. A line has at most 128 MiB, the header \
            1 GiB.
            """
    )

    static let examples = [
        Example("logtool import copy.eventlog chat.ndjson", "a log of a file"),
        Example("logtool export a.eventlog | logtool import b.eventlog -", "bring b up to a"),
        Example(
            "logtool import chat.eventlog chat.eventlog.archive-1200-5a0c3f9e.zst",
            "bring back what a compaction dropped"
        ),
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
        let input = ExportInput(file, lines, for: "import")
        var header = try input.header(first)
        // Without its log, an archive is a part of it.
        if header.what == .archive {
            if try isLog() { return try restore(Archive(name: file, header: header, next: input.next), progress) }
            header = header.asPart
        }
        // Nothing proves bookmarks. A forged one would make a recorder skip what it has not read.
        if !bookmarks { header.bookmarks = [:] }
        let result = try EventStore.importLog(
            at: log,
            header: header,
            options: write.storeOptions(isQuiet: output.quiet)
        ) { log in
            // The first line was the header.
            while let piece = try input.next() {
                try log.add(piece)
                // Not for each line: the text of a report costs a part of a line.
                guard input.number.isMultiple(of: 256) else { continue }
                progress.report("read \(input.number) lines", done: input.number)
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

    private func isLog() throws -> Bool {
        do {
            _ = try EventStore.open(at: log, options: write.storeOptions(isQuiet: true))
            return true
        } catch let error as EventLogError where error.code == .noLog {
            return false
        }
    }

    /// Brings back what the log's newest compaction dropped. A log that holds it all already stays as it is.
    private func restore(_ archive: Archive, _ progress: Progress) throws {
        let store = try EventStore.open(at: log, options: .reporting(to: progress))
        let isNewer = try store.read { $0.decidedAt.rawValue < archive.header.size }
        // A second reading of the file, because the first one would leave nothing to restore.
        if isNewer, file != "-", try store.holdsAll(of: Archive(at: file, for: "import")) {
            try store.removeLeftoversIfAny()
            return try print(nil, progress)
        }
        try print(Compaction.restore([archive], into: store, now: SystemClock.now), progress)
    }

    /// Ends the progress line, then prints what came back; `nil` where the log held it all.
    private func print(_ result: RestorationResult?, _ progress: Progress) throws {
        progress.end()
        let output = output.standardOutput
        let undone = (result?.undone ?? []).map(\.description)
        if document.json {
            let members: JSONObject = [
                "restored": .int(result?.restored ?? 0),
                "compactions": .array(undone.map { .string($0) }),
                "act": result.map { .string($0.act.description) } ?? .null,
            ]
            try output.line(JSONValue.object(members).lines)
        } else if let result {
            let events = counted(Int(clamping: result.restored), "event")
            let compaction = undone.joined(separator: ", ")
            try output.line("brought back \(events) that the compaction at \(compaction) dropped, act \(result.act)")
        } else {
            try output.line("the log holds each event of the archive already")
        }
        try output.flush()
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
