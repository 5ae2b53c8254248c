import ArgumentParser
import EventLog
import Projections

/// `logtool export`: writes a log, or a part of one, as JSON lines.
///
/// Lines are written while the log is read, so memory does not grow with the log. The format is `docs/cli-json.md`;
/// `ImportCommand` reads it back.
struct ExportCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a log, or a part of it, as JSON lines, from which import makes a log again.",
        usage: "logtool export LOG [-o FILE] [options]",
        discussion: """
            The first line is a header with identity, size and root; each other line is an event with everything that \
            its hash covers, or what is left of events that were dropped. With a selector it is a part: hashes of subtrees \
            stand for the events that it lacks, so that its events are still proved under the root of the whole log.
            """
    )

    static let examples = [
        Example("logtool export chat.eventlog -o chat.ndjson", "the whole log in a file"),
        Example(
            "logtool export chat.eventlog --entity message:0903-bob -o part.ndjson",
            "what one message needs, and no other event's text"
        ),
        Example("logtool export chat.eventlog | ssh host logtool import chat.eventlog -", "to another machine"),
    ]

    @OptionGroup var log: LogOptions

    /// Any of them makes a part: import then proves its events, but nothing can be appended to it.
    @OptionGroup var selectors: SelectorOptions

    /// For a text that must not be passed on: of a missing event the part has only hashes.
    @Option(
        help: ArgumentHelp("All but these events: 17,18.", valueName: "sequences"),
        transform: SequenceListArgument.parse
    )
    var without: Set<SequenceNumber> = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file; default: standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String = "-"

    /// Without it, a file that exists is refused with exit code 4.
    @Flag(help: "Overwrite the file.")
    var yes = false

    /// Called so because `output` is the file here.
    @OptionGroup var speech: OutputOptions

    /// Writes the export to a file or standard output. Each event is checked against its leaf hash first (I7).
    ///
    /// - Throws: `EventLogError` with code `damaged` (exit 3) at the first event that does not fit. A file is then not
    ///   made; lines on standard output are already out, and the next import refuses them for lack of the rest.
    func run() throws {
        let store = try log.open(isQuiet: speech.quiet)
        let progress = speech.progress("exporting")
        if output == "-" {
            let standard = speech.standardOutput
            // One session: the export is of one prefix, whatever is appended meanwhile.
            try store.read { try write($0, progress) { try standard.write($0) } }
            progress.end()
            return try standard.flush()
        }
        // The file appears at its path once it is complete.
        let file = try OutputFile(output, overwrites: yes)
        try store.read { try write($0, progress) { try file.add($0) } }
        progress.end()
        try file.finish()
    }

    /// Writes the header, then each piece of the log as a line.
    private func write(
        _ session: borrowing ReadSession,
        _ progress: Progress,
        to output: ([UInt8]) throws -> Void
    ) throws {
        let total = Int(clamping: session.head.rawValue)
        var count = 0
        func write(_ line: [UInt8], of sequence: SequenceNumber?) throws {
            try output(line)
            // Headers, dropped events and hashes of subtrees do not count.
            guard let sequence else { return }
            count += 1
            // Not for each event: the text of a report costs a part of an event's line.
            guard count.isMultiple(of: 256) else { return }
            progress.report("exported \(count) events", done: Int(clamping: sequence.rawValue), total: total)
        }
        // A whole log needs no hashes of subtrees.
        guard try isPart(session) else { return try session.forEachLine { try write($0, of: $1) } }
        let chosen = try PartSelection(selectors, without: without, in: session, progress: progress)
        var writer = ExportWriter()
        try output(writer.line(session.partHeader(), chosen: chosen.text))
        try session.forEachPiece(where: chosen.includes) { piece in
            // Runs of missing events do not count as progress.
            let event = if case .event(let event) = piece { event } else { RecordedEvent?.none }
            try write(writer.line(piece), of: event?.envelope.sequence)
        }
    }

    /// True if the export will lack events, or the log lacks some already. A part exports as a part again, with the
    /// same root.
    private func isPart(_ session: borrowing ReadSession) throws -> Bool {
        try !selectors.given.isEmpty || !without.isEmpty || session.isPart()
    }
}

/// The events that a part of a log gets: those of the selectors without the listed ones, and the acts that hold decoder files.
/// Made for one session.
struct PartSelection {
    private let selection: EventSelection
    /// The sequences that the selectors allow; `nil` if they allow none.
    private let range: ClosedRange<SequenceNumber>?
    private let without: Set<SequenceNumber>
    private let selectors: SelectorOptions

    /// - Throws: `Failure` with exit code 1 if the log has nothing that fits.
    init(
        _ selectors: SelectorOptions,
        without: Set<SequenceNumber>,
        in session: borrowing ReadSession,
        progress: Progress
    ) throws {
        selection = try EventSelection(
            selectors,
            in: session,
            progress: progress.replayReporter(until: session.head)
        )
        range = try selection.range(in: session)
        (self.selectors, self.without) = (selectors, without)
        // A sequence that the log never gave is a typing error. One that was dropped is fine: it is not in the part
        // either.
        if let missing = without.sorted().first(where: { $0 > session.head || $0 == .zero }) {
            throw Failure(
                "export: --without \(missing): the log has sequences 1 to \(session.head)",
                exitCode: Outcome.no
            )
        }
        if range == nil, let failure = selection.nothingFits("export", in: session) { throw failure }
    }

    /// True if an event is in the part. Called for each event in order; reads no payload. The store asks only about
    /// events that it holds.
    func includes(_ event: borrowing EventView) -> Bool {
        let sequence = event.sequence
        // What is left is read by the files in force.
        if event.isAct, event.kind == Decoders.actKind { return !without.contains(sequence) }
        return range?.contains(sequence) == true && !without.contains(sequence) && selection.includes(event)
    }

    /// How the events were chosen, as options; `nil` if the part has all that the log holds. It goes into the part's
    /// header.
    var text: String? {
        var words = selectors.given
        if !without.isEmpty { words.append("--without \(without.sorted().map(\.description).joined(separator: ","))") }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }
}
