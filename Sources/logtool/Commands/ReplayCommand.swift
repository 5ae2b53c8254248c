import ArgumentParser
import Clients
import EventLog
import Projections

/// `logtool replay`: folds the log and shows the state, its digest, or each event with what it changed.
///
/// All forms print one state, so they agree: the document, its lines, the trees for people and the digest. Kept states
/// make later replays cheap (I19); `--checked` and `--no-snapshots` fold from the first event.
struct ReplayCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show the state that the events give: now, or at any point.",
        usage: "logtool replay LOG[@POINT][#PROFILE] [options]",
        discussion: """
            A point is a sequence (4711), head, head~10, a time or remote:TIME. A time is when the recorder received \
            something; a git ingest receives all commits in one moment, and remote:TIME goes by their own times. Times are \
            2026-01-19T08:30:00Z, '2026-01-19 08:30' or 2026-01-19, in UTC where no zone is given.
            """
    )

    static let examples = [
        Example("logtool replay chat.eventlog", "channels, threads, items and sessions as they are now"),
        Example("logtool replay chat.eventlog --at '2026-01-19 08:30' --only messages", "the messages at a time"),
        Example("logtool replay chat.eventlog@remote:2026-01-19", "the state by the remote's own times"),
        Example("logtool replay chat.eventlog --tail 20 --full --ids", "the last messages, whole, with their ids"),
        Example("logtool replay chat.eventlog --channel general --at head~100", "one channel, as it was"),
        Example("logtool replay chat.eventlog --json > state.json", "the state document"),
        Example("logtool replay chat.eventlog --digest --each", "one digest for each event"),
        Example("logtool replay chat.eventlog --without 17", "what if event 17 had never arrived"),
        Example("logtool replay chat.eventlog --checked", "the state, of events that are as they were appended"),
        Example("logtool replay year", "the logs of a folder as one; jan.eventlog+feb.eventlog: these two"),
        Example("logtool replay chat.eventlog --step -n 5", "what each of the last events changed"),
        Example("logtool replay chat.eventlog --step --changed --channel general", "the changes of a channel"),
    ]

    @Argument(
        help: ArgumentHelp("The log's directory; a point and a profile may follow, as in diff.", valueName: "log"),
        completion: .directory,
        transform: LogReference.parse
    )
    var log: LogReference

    @OptionGroup var point: PointOptions
    @OptionGroup var state: StateOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var archives: ArchiveOptions

    /// `--source` and `--channel` go with every form but the digest of a channel; the others select steps.
    @OptionGroup(title: "Selectors; most go with stepping")
    var selectors: SelectorOptions

    @Flag(help: "Print the state's digest in hex.")
    var digest = false

    /// The form that other programs compare: sequence in decimal, one tab, 64 hex digits.
    @Flag(help: "With --digest: one line for each event, sequence, tab, digest.")
    var each = false

    /// Costs two folds: a second state follows one event behind (`Replay.steps`).
    @Flag(help: "Print each event with what it changed.")
    var step = false

    @Flag(help: "With --step: leave out the events that changed nothing.")
    var changed = false

    @OptionGroup(title: "What people see") var view: ViewOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    /// Refuses options that the chosen form would ignore.
    func validate() throws {
        if each && !digest { throw ValidationError("--each goes with --digest") }
        if step && digest { throw ValidationError("--step and --digest exclude each other") }
        if point.at != nil && log.point != nil { throw ValidationError("--at and LOG@POINT exclude each other") }
        // Giving the same profile twice is no contradiction.
        if let profile = log.profile, state.reading.profile != .canonical, state.reading.profile != profile {
            throw ValidationError("--profile and LOG#PROFILE exclude each other")
        }
        if step && (point.at ?? log.point) != nil {
            throw ValidationError("--step takes --from and --to instead of a point")
        }
        // Options for people have no meaning for programs, and silently ignoring them would mislead.
        if let option = view.given, step || digest || lists.form != .text {
            throw ValidationError("\(option) is for the state as text; the document holds everything")
        }
        if changed && !step { throw ValidationError("--changed goes with --step") }
        if !step {
            try selectors.refuse(["--entity", "--kind", "--from", "--to", "-n"], because: "it goes with --step")
        }
        if selectors.channel != nil && digest { throw ValidationError("--channel and --digest exclude each other") }
        if digest && (lists.json || lists.jsonl) { throw ValidationError("--digest prints hex, no JSON") }
    }

    /// Prints state, digests or steps. With `--checked`, the note of what was checked comes last, because it covers all
    /// of the output.
    ///
    /// - Throws: `ProjectionError` (exit 1) for a point beyond the head, or before the last compaction without
    ///   `--retained`; `EventLogError` with code `damaged` (exit 3) if `--checked` finds an altered event.
    func run() throws {
        let loader = StateLoader(
            store: try decoders.used(
                in: archives.opened(log.path, isQuiet: output.quiet, tellsOfPart: false),
                isQuiet: output.quiet
            ),
            progress: output.progress("replaying"),
            isQuiet: output.quiet
        )
        // Without `--checked` nothing has to be fixed: each method of the loader reads in one session.
        let last = try state.checked ? loader.store.read { try lastPoint(in: $0) } : nil
        let query = query(through: last)
        // Digests are for programs, although they are text.
        let output = output.paged(unless: digest ? .lines : lists.form)
        switch (step, digest, each) {
        case (true, _, _): try printSteps(of: loader, query, to: output)
        case (_, true, true): try printDigests(of: loader, query, to: output)
        case (_, true, false):
            var state = try loader.logState(for: query)
            try output.line(state.digest().hex)
            loader.keepDigest(of: &state, for: query)
            LastingState.keep(state)
        default: try printState(of: loader, query, to: output)
        }
        try output.flush()
        if let last, !self.output.quiet { try sayWhatWasChecked(loader.store, through: last) }
    }

    /// Says what `--checked` has checked. It goes to standard error, so that standard output is the same as without
    /// checking.
    private func sayWhatWasChecked(_ store: EventStore, through last: SequenceNumber) throws {
        let root = try store.read { try $0.root(size: last.rawValue) }
        StandardError.line("logtool: checked: every event that was folded, up to sequence \(last), root \(root)")
    }

    /// The last event that will be folded.
    private func lastPoint(in session: borrowing ReadSession) throws -> SequenceNumber {
        try (step ? selectors.range.to : point.at ?? log.point)?.resolve(in: session) ?? session.head
    }

    /// Fixes the point that is checked, so that it is also the point that is folded if the log grows meanwhile. With a
    /// source, the query's point stays open: it means the head of that source.
    private func query(through last: SequenceNumber?) -> StateQuery {
        let source = selectors.source
        let given = point.at ?? log.point
        var query = state.query(at: given ?? (source == nil ? last.map { .sequence($0) } : nil), source: source)
        if let profile = log.profile { query.profile = profile }
        return query
    }

    /// Prints the state in the form of the options.
    private func printState(of loader: StateLoader, _ query: StateQuery, to output: StandardOutput) throws {
        let options = query.documentOptions
        // One channel is folded from its own events alone (I21).
        if let channel = selectors.channel {
            var state = try loader.channel(channel, for: query)
            return try print(&state, options, to: output)
        }
        var state = try loader.logState(for: query)
        try print(&state, options, to: output)
        loader.keepDigest(of: &state, for: query)
        LastingState.keep(state)
    }

    /// Memory: the state, and for people one channel's messages at a time. Only the sections beside messages are built
    /// as values.
    private func print(_ state: inout some DocumentState, _ options: DocumentOptions, to output: StandardOutput) throws
    {
        switch lists.form {
        case .document: try state.writeLines(options) { try output.write($0) }
        case .lines: try printLines(of: &state, options, to: output)
        case .text:
            let channels = state.channels(options)
            if output.style.width != nil {
                // The table of channels is for people: without a width, standard output is no terminal.
                try ChannelTable(output: output, log: log.path, channels: channels)?.print()
            }
            var others = options
            others.sections = Set(Section.allCases.filter { options.sections?.contains($0) ?? true })
            // Channels lend their messages; a document of all would take as much memory as the log's texts.
            others.sections?.subtract([.messages, .deletedMessages])
            try StatePrinter(
                output: output,
                document: state.document(others),
                channels: channels,
                tellsOfChannels: options.includes(.channels),
                view: view
            ).print()
        }
    }

    /// Prints all members but arrays on one line, then a line for each row with its `section`.
    private func printLines(
        of state: inout some DocumentState,
        _ options: DocumentOptions,
        to output: StandardOutput
    ) throws {
        try output.line(JSONValue.object(state.documentHeader(options)).text)
        let asOf = state.asOf(options)
        for section in type(of: state).sections(options) {
            try state.forEachRow(in: section, asOf: asOf) { try printLine(of: $0, in: section.rawValue, to: output) }
        }
    }

    private func printLine(of row: JSONValue, in section: String, to output: StandardOutput) throws {
        var line: JSONObject = ["section": .string(section)]
        for field in row.object?.members ?? [] { line[field.name] = field.value }
        try output.line(JSONValue.object(line).text)
    }

    /// Prints a digest after each event. Each costs what the event changed, not the size of the state (I12).
    private func printDigests(of loader: StateLoader, _ query: StateQuery, to output: StandardOutput) throws {
        try loader.forEachDigest(for: query) { event, digest in
            try output.line("\(event.sequence)\t\(digest)")
        }
    }

    /// Prints the selected events with what each changed, in one session.
    ///
    /// - Throws: `Failure` with exit code 1 if selectors were given and no step fits.
    private func printSteps(of loader: StateLoader, _ query: StateQuery, to output: StandardOutput) throws {
        let printer = StepPrinter(output: output, form: lists.form)
        try printer.begin()
        try loader.store.read { session in
            try query.checkNames(in: session)
            let progress = loader.progress?.replayReporter(until: session.head)
            // Selection by thing or channel replays the log before the steps themselves do.
            let selection = try EventSelection(selectors, in: session, progress: progress)
            if let sequences = try selection.range(in: session) {
                // Leaves first, once: then each event is compared with its own leaf hash.
                if state.checked { _ = try session.checkTree(through: sequences.upperBound) }
                try printSteps(of: session, in: sequences, query, selection, with: printer, progress)
            }
            if printer.isEmpty, let failure = selection.nothingFits("replay --step", in: session) { throw failure }
        }
        try printer.end()
    }

    private func printSteps(
        of session: borrowing ReadSession,
        in sequences: ClosedRange<SequenceNumber>,
        _ query: StateQuery,
        _ selection: EventSelection,
        with printer: StepPrinter,
        _ progress: ((SequenceNumber) -> Void)?
    ) throws {
        try Replay.steps(of: session, in: sequences, options: query.replayOptions, progress: progress) {
            event,
            differences in
            guard selection.includes(event), !changed || !differences.isEmpty else { return true }
            // Before the event's changes and title are shown (I7). A checked replay has done so itself.
            if !state.checked { try session.checkEvent(at: event.sequence) }
            // The step gives the envelope alone, so the payload is read once more, for printed steps only.
            let title = try session.event(at: event.sequence).flatMap { event in
                event.payload.withUnsafeBytes { FrameTitle.title(of: event.envelope.kind, payload: $0) }
            }
            try printer.print(event, title: title, differences)
            return true
        }
    }
}
