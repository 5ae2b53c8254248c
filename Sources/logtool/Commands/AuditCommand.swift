import ArgumentParser
import EventLog
import Projections

/// `logtool audit`: every edit, delete, move and restore, in the order of events. Each line is printed as it is found.
/// Memory grows by the place of each change, not by its texts.
///
/// Cost: one replay of the whole log, or less from a kept state; then all histories of the selected kinds are read. Of messages
/// with a text, or the last changes of messages, only those of the channels that can have them.
struct AuditCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List every edit, delete, move and restore, with what was said before and who did it.",
        usage: "logtool audit LOG [options]",
        discussion: """
            The entries are those of history, of all things at once, in the order of events; --only items,rows,sessions asks \
            for other things than messages. A delete shows the last known text. Who did it is what the remote says, such as a \
            commit's author. --html writes a page with a search that opens from a disk in any browser. --since and --until go by the recorder's clock, remote:TIME by the remote's. In --csv an apostrophe \
            goes before a text that a spreadsheet would take for a formula (= + - @), and before an apostrophe.
            """
    )

    static let examples = [
        Example("logtool audit chat.eventlog --deletes", "what was deleted, by whom, and what it said"),
        Example(
            "logtool audit chat.eventlog --author ada --since 2026-01-19",
            "what became of ada's messages since then"
        ),
        Example("logtool audit chat.eventlog --match reconnect --json", "every change to or from a text"),
        Example("logtool audit chat.eventlog --html audit.html", "a page to search, for somebody without the program"),
        Example(
            "logtool audit chat.eventlog --jsonl --prove | logtool prove --check -",
            "prove the event of each line"
        ),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var archives: ArchiveOptions
    @OptionGroup var selection: AuditOptions
    @OptionGroup var lists: JSONListOptions

    /// Not one of `lists`, which all lists share: only the lines of an audit are flat enough for a table.
    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Option(
        help: ArgumentHelp("Write one page that needs nothing else; - is standard output.", valueName: "file"),
        completion: .file(extensions: ["html"])
    )
    var html: String?

    /// Goes with JSON and the page, which checks it; in text nobody reads proofs.
    @OptionGroup var proving: ProvingOptions

    @Flag(help: "Overwrite the file of --html.")
    var yes = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        // `lists` refuses `--json` with `--jsonl` itself; here each form counts against all others.
        let forms = [lists.json, lists.jsonl, csv, html != nil].count { $0 }
        if forms > 1 { throw ValidationError("--json, --jsonl, --csv and --html exclude each other") }
        if proving.prove, !decoders.decoder.isEmpty { throw ValidationError(ProvingOptions.needsFileInForce) }
        if proving.prove, lists.form == .text, html == nil {
            throw ValidationError("\(ProvingOptions.needsJSON), or --html")
        }
        if yes && html == nil { throw ValidationError("--yes goes with --html") }
    }

    /// Folds the log, then lists the changes in one session.
    ///
    /// - Throws: `Failure` with exit code 1 if the options choose no change; the list is complete even then.
    func run() throws {
        let store = try decoders.used(in: archives.opened(log.path, isQuiet: output.quiet), isQuiet: output.quiet)
        if proving.prove { try JoinedLogs.refuseProof(of: store) }
        let progress = output.progress("replaying")
        let loader = StateLoader(store: store, progress: progress)
        let state = try listed(by: loader)
        let printer = try printer()
        var (dropped, others): (DroppedMessage?, Int) = (nil, 0)
        let summary = try store.read { session in
            let chosen = try self.chosen(of: state, in: session)
            dropped = chosen.dropped
            progress.begin("looking at histories")
            try printer.begin()
            let summary = try list(state, chosen, session, with: printer)
            progress.end()
            try printer.end(summary)
            if summary.total == 0 { others = otherChanges(in: state, chosen) }
            return summary
        }
        // A page contains these notes itself, because it is read apart from the command.
        if !output.quiet, html == nil { for text in summary.missing { StandardError.line("logtool: \(text)") } }
        // Last, so that a program gets a complete document before exit code 1. An audit without selectors may be empty,
        // and `-n 0` wants nothing.
        guard summary.total == 0, !selection.given.isEmpty, selection.selectors.count != 0 else { return }
        throw dropped.map { EntityArgument.failure(for: $0) } ?? nothingFits(others: others)
    }

    /// The state whose histories are listed: that of the channels alone that can have the wanted changes, where the options leave
    /// this open and the log tells, else the whole state. Both list the same.
    private func listed(by loader: StateLoader) throws -> LogState {
        let (query, filter, selectors) = (StateQuery(), selection.filter, selection.selectors)
        // Names of channels and people need the whole state, and so do proofs.
        let needsWhole =
            selection.kinds != [.message] || proving.prove || selection.author != nil || selection.by != nil
            || selectors.entity != nil || selectors.channel != nil
        if needsWhole { return try loader.logState(for: query) }
        if filter.text != nil { return try loader.state(holding: filter, for: query) }
        guard let count = selectors.count, count > 0, selection.match.match == nil else {
            return try loader.logState(for: query)
        }
        let chosen = try loader.store.read { try self.chosen(of: LogState(), in: $0) }
        let last = try loader.stateOfLastEvents(for: query) { state, point in
            var found = 0
            state.forEachChange(
                of: selection.kinds,
                filter: filter,
                where: chosen.includes,
                last: count,
                includes: { $0.entry.sequence > point && chosen.includes($0) },
                { _ in found += 1 }
            )
            return found == count
        }
        return try last ?? loader.logState(for: query)
    }

    /// What the options choose. If one of them fits nothing, a program still gets a complete document.
    private func chosen(of state: LogState, in session: borrowing ReadSession) throws -> AuditSelection {
        do {
            return try AuditSelection(selection, of: state, in: session)
        } catch let misfit as Failure where misfit.exitCode == Outcome.no {
            let output = output.standardOutput
            if lists.form == .document { try output.line("[]") }
            try output.flush()
            throw misfit
        }
    }

    /// Prints the selected changes and counts them.
    private func list(
        _ state: LogState,
        _ chosen: AuditSelection,
        _ session: borrowing ReadSession,
        with printer: some AuditPrinter
    ) throws -> AuditSummary {
        // The log may have grown since the state was made.
        let size = state.sequence.rawValue
        var summary = AuditSummary(size: size, root: try session.root(size: size), isOfAll: selection.given.isEmpty)
        // Of all things, compactions drop only messages.
        if selection.kinds.contains(.message) {
            summary.droppedMessages = state.droppedMessageCount(where: chosen.includes)
        }
        // Redacted events that a printed line names.
        var told: Set<SequenceNumber> = []
        // Where only the last entries are wanted, not all histories are read, so no count of all would be right.
        let countsLate = selection.selectors.count == nil
        let surroundings = proving.prove ? Surroundings(in: state) : nil
        var since = try changesOfDropped(in: state, chosen, session)[...]
        if proving.prove { (summary.unprovedChanges, since) = (since.count, []) }
        var last: [AuditEntry] = []
        func take(_ change: AuditEntry) throws {
            let line = try AuditLine(change, provedWithin: surroundings, in: session)
            try printer.print(line)
            told.formUnion(line.redacted)
            summary.counts[change.class, default: 0] += 1
        }
        try state.forEachChange(
            of: selection.kinds,
            filter: selection.filter,
            where: chosen.includes,
            last: selection.selectors.count,
            earlier: proving.prove ? EntryProof.basisMax : 0,
            passedOver: { if countsLate, chosen.includes(late: $0) { summary.lateVersions += 1 } },
            includes: chosen.includes
        ) { change in
            let before = since.prefix { $0.entry.sequence < change.entry.sequence }
            since.removeFirst(before.count)
            for change in before + [change] { if countsLate { try take(change) } else { last.append(change) } }
        }
        for change in since { if countsLate { try take(change) } else { last.append(change) } }
        for change in last.suffix(selection.selectors.count ?? 0) { try take(change) }
        // Redacted events that no printed line mentions: what they changed cannot be shown.
        summary.unreadable = try Self.redacted(in: session).filter { !told.contains($0) }
        return summary
    }

    /// The selected changes of messages that compactions dropped, by events that came since.
    private func changesOfDropped(
        in state: LogState,
        _ chosen: AuditSelection,
        _ session: borrowing ReadSession
    ) throws -> [AuditEntry] {
        guard selection.kinds.contains(.message) else { return [] }
        return try Compaction.auditOfDropped(where: chosen.includes, in: state, session).filter(chosen.includes)
    }

    /// The redacted events that the acts of rewrites name, in order. An act may name an event that a later compaction
    /// dropped; that one is left out. Acts of other kinds name no redacted events, and payloads that are not JSON are
    /// passed over.
    private static func redacted(in session: borrowing ReadSession) throws -> [SequenceNumber] {
        var redacted: Set<SequenceNumber> = []
        for act in try session.acts() {
            guard let payload = try session.event(at: act)?.payload, let said = try? JSONValue.parse(payload) else {
                continue
            }
            // A forged act may name any number, so each is tested against the head before it is looked up.
            for one in said["redacted"]?.array ?? [] {
                guard let number = one["sequence"]?.string.flatMap({ UInt64($0) }), number > 0,
                    number <= session.head.rawValue, try session.holding(at: SequenceNumber(number)) == .redacted
                else { continue }
                redacted.insert(SequenceNumber(number))
            }
        }
        return redacted.sorted()
    }

    /// The printer of the requested form. A page or file of `--html` is complete only after `end`.
    ///
    /// - Throws: `Failure` with exit code 4 if the file of `--html` exists and `--yes` is not given.
    private func printer() throws -> any AuditPrinter {
        guard let html else {
            let output = output.paged(unless: csv ? .lines : lists.form)
            return csv ? AuditTable(output: output) : AuditTextPrinter(output: output, form: lists.form)
        }
        // The page names its selection, because it is read without the command line.
        let asked = selection.given.isEmpty ? "all changes" : selection.text
        let title = Directory.split(log.path).name
        guard html != "-" else {
            let standard = output.standardOutput
            return AuditPage(title: title, asked: asked, write: { try standard.write($0) }, finish: standard.flush)
        }
        let file = try OutputFile(html, overwrites: yes)
        return AuditPage(title: title, asked: asked, write: file.add, finish: file.finish)
    }

    /// How many changes of other kinds of things the options choose: a log of lists or rows has no messages. The search lends
    /// no change: `includes` accepts none, so nothing is kept of them but the count.
    private func otherChanges(in state: LogState, _ chosen: AuditSelection) -> Int {
        var filter = selection.filter
        filter.needsChange = false
        var count = 0
        state.forEachChange(
            of: AuditOptions.auditable.filter { !selection.kinds.contains($0) },
            filter: filter,
            where: chosen.includes,
            includes: { change in
                if chosen.includes(change) { count += 1 }
                return false
            },
            { _ in }
        )
        return count
    }

    private func nothingFits(others: Int) -> Failure {
        let names = selection.given.joined(separator: " and ")
        let hint =
            others > 0 ? "; other things than those asked for have \(counted(others, "such change")), see --only" : ""
        return Failure("audit \"\(log.path)\": no change fits \(names)\(hint)", exitCode: Outcome.no)
    }
}
