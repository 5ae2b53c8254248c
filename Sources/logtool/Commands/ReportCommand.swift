import ArgumentParser
import Clients
import EventLog
import Projections
import Reduction
import Viewer

/// `logtool report`: writes one HTML file that shows part of a log and holds it, so that `import` makes a log of it again.
struct ReportCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write part of a log as one page that shows it step by step, and that import makes a log of again.",
        usage: "logtool report LOG -o FILE.html [options]",
        discussion: """
            The page opens from a disk in any browser and loads nothing. It shows what people saw behind each event, what the event \
            changed, and its payload, with a time axis, a search and the history of each thing. The log is in the page: logtool import \
            makes it again, with the same root, and each event is proved under it. Unless --as-recorded is given, the log is \
            anonymized first, as logtool anonymize does, and what stays readable is listed. With --from the state before \
            is in the page as well; with --source, --channel, --entity or --kind the page shows what the chosen events change.
            """
    )

    static let examples = [
        Example("logtool report bug.eventlog -o bug.html", "a bug report without names, words and days"),
        Example(
            "logtool report chat.eventlog -o chat.html --as-recorded --from head~50",
            "the last 50 events as they are"
        ),
        Example(
            "logtool report bug.eventlog -o bug.html --against '#retrocast-web'",
            "what was meant, and beside it what a client shows"
        ),
        Example(
            "logtool report bug.eventlog -o bug.html --as-recorded --without 17",
            "what was, and what would have been without event 17"
        ),
        Example("logtool import repro.eventlog bug.html", "the log of a report"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file to write.", valueName: "file"),
        completion: .file(extensions: ["html"])
    )
    var target: String

    @Flag(help: "Leave every text as it was recorded.")
    var asRecorded = false

    @OptionGroup var reading: ProfileOptions
    @OptionGroup var other: AgainstOptions
    @OptionGroup var selectors: SelectorOptions
    @OptionGroup var archives: ArchiveOptions
    @OptionGroup var decoders: DecoderOptions

    /// Without it, a file that exists is refused with exit code 4.
    @Flag(help: "Overwrite the file.")
    var yes = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !asRecorded, !decoders.decoder.isEmpty {
            throw ValidationError("--decoder goes with --as-recorded: put the file in force to anonymize by it")
        }
        try other.refuse(selectors)
        if !asRecorded, other.isLog {
            throw ValidationError("--against LOG goes with --as-recorded: names would differ in two anonymized logs")
        }
    }

    /// Chooses the events, anonymizes, writes the page and prints what is in it.
    ///
    /// - Throws: `Failure` with exit code 1 if nothing fits the selectors, 4 if the file exists; `EngineError` with code `no` if
    ///   nothing can be replaced.
    func run() throws {
        let store = try decoders.used(
            in: archives.reading(log.open(isQuiet: output.quiet)),
            isQuiet: output.quiet
        )
        let file = try OutputFile(target, overwrites: yes)
        let progress = output.progress("choosing events")
        let isRestored = !archives.withArchive.isEmpty
        let chosen = try store.read { try ReportChoice(selectors, in: $0, isRestored: isRestored, progress) }
        var (shown, choice, kept, without) = (store, chosen, Anonymizer.Result?.none, other.without)
        if !asRecorded {
            let anonymized = try LogAnonymizing(of: store).run { progress.begin($0) }
            let path = try ScratchFolders.make() + "/log"
            try anonymized.write(to: path)
            shown = try EventStore.open(at: path)
            choice = try chosen.moved(from: store, to: shown)
            without = try ReportChoice.moved(without, from: store, to: shown)
            kept = anonymized.result
        }
        let beside = try other.other(beside: reading.profile, without: without, of: shown, isQuiet: output.quiet)
        progress.begin("writing the page")
        var bytes = 0
        let title = asRecorded ? Directory.split(log.path).name : "A log without its words"
        try shown.read { session in
            try choice.write(session, title: title, reading: reading.profile, against: beside) {
                bytes += $0.count
                try file.add($0)
            }
        }
        progress.end()
        try file.finish()
        try print(choice, kept, bytes: bytes)
    }

    private func print(_ choice: ReportChoice, _ kept: Anonymizer.Result?, bytes: Int) throws {
        let output = output.standardOutput
        if document.json {
            let members: JSONObject = [
                "path": .string(target), "bytes": .int(bytes), "events": .int(choice.count),
                "kept": kept.map { KeptPrinter.document($0) } ?? .null,
            ]
            try output.line(JSONValue.object(members).text)
        } else {
            let file = DisplayText.escaped(target)
            let size = ByteCountText.text(UInt64(bytes))
            try output.line("\(counted(choice.count, "event")) in \(file) (\(size)); open it in a browser")
            if let kept {
                for line in KeptPrinter.lines(kept) { try output.line(DisplayText.escaped(line)) }
            } else {
                try output.line("every text is in it as it was recorded")
            }
            try output.line("as a log again: logtool import NEW \(file)")
        }
        try output.flush()
    }
}
