import ArgumentParser
import Clients
import EventLog
import Projections

/// `logtool history`: everything that happened to one thing.
///
/// Two commands in one: the history of one thing, and a search for things by text (`--match`). A message that the index
/// of channels knows costs the events of its channel, a search a look through all payloads and the events of the channels in which
/// the text is, where the payloads tell which; another thing, another profile and a search in more than channels cost a replay.
struct HistoryCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show every revision, delete and move of one message, item, session or row.",
        usage: "logtool history LOG (ENTITY | --match TEXT) [options]",
        discussion: """
            With --match the things that hold or held a text are listed, with the events that brought it; ENTITY then \
            narrows the search. An entity is message:SOURCE/CHANNEL/ID, channel:SOURCE/ID, item:SOURCE/LIST/ID, session:SOURCE/FILE, \
            row:SOURCE/TABLE/ID and so on. Parts may be left out from the left, as long as one thing fits.
            """
    )

    static let examples = [
        Example(
            "logtool history chat.eventlog message:vibe/general/0903-bob",
            "who changed it, when, and what it said"
        ),
        Example("logtool history chat.eventlog message:0903-bob", "the same, as long as one message fits"),
        Example("logtool history chat.eventlog --match 'reconnect'", "which messages say or said that"),
        Example(
            "logtool history chat.eventlog message:0903-bob --from 2026-01-19 -n 5",
            "its five newest entries since then"
        ),
        Example("logtool history chat.eventlog message:1002 --profile retrocast-web", "what a client made of it"),
        Example(
            "logtool history status.eventlog session:vibestatus-1.json --json",
            "a session's transitions, and how long each status lasted"
        ),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var archives: ArchiveOptions

    @Argument(help: ArgumentHelp("What to look at.", valueName: "entity"), transform: EntityArgument.parse)
    var entity: EntityReference?

    @OptionGroup var match: MatchOptions
    @OptionGroup var reading: ProfileOptions
    /// They select among the entries. With `--match` they also narrow which things are searched.
    @OptionGroup var selectors: SelectorOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var proving: ProvingOptions
    @OptionGroup var output: OutputOptions

    /// Needs a name or a text; `audit` lists the changes of all things.
    func validate() throws {
        if proving.prove, !decoders.decoder.isEmpty { throw ValidationError(ProvingOptions.needsFileInForce) }
        if proving.prove, lists.form == .text { throw ValidationError(ProvingOptions.needsJSON) }
        if entity == nil && match.match == nil {
            throw ValidationError("name an entity, or look for one by --match TEXT")
        }
        try selectors.refuse(["--entity"], because: "the entity is named without it")
    }

    /// - Throws: `Failure` with exit code 1 if nothing or no entry fits, with 2 if several things fit.
    func run() throws {
        let store = try decoders.used(in: archives.opened(log.path, isQuiet: output.quiet), isQuiet: output.quiet)
        if proving.prove { try JoinedLogs.refuseProof(of: store) }
        let loader = StateLoader(store: store, progress: output.progress("replaying"))
        if let text = match.text {
            var filter = HistoryFilter()
            filter.text = text.search
            let query = StateQuery(profile: reading.profile)
            // The name of a channel needs the whole state, and so do proofs.
            let needsWhole = selectors.channel != nil || proving.prove
            let state =
                needsWhole ? try loader.logState(for: query) : try loader.state(holding: filter, for: query)
            let selectors = try selectors.resolved(in: state)
            let selection = try store.read { try HistorySelection(selectors, in: $0) }
            let output = output.paged(unless: lists.form)
            if proving.prove {
                // One session, so that all proofs are under one root, also if the log grows while the output waits for
                // its reader.
                try store.read { session in
                    try printMatches(of: text, filter, selection, in: state, to: output) { try $0(session) }
                }
            } else {
                // No session stays open while the output waits for its reader.
                try printMatches(of: text, filter, selection, in: state, to: output) { try store.read($0) }
            }
            try output.flush()
        } else if let entity {
            // The history is that of the loader's session. The log may have grown since, which changes no entry.
            let (reference, all, isDropped) = try loader.history(
                of: entity,
                profile: reading.profile,
                ofEvents: proving.prove
            )
            if isDropped, proving.prove {
                throw Failure(
                    "prove the history of \"\(reference)\": a compaction dropped it, and no event proves what those since have changed; prove "
                        + "the events themselves with logtool prove",
                    exitCode: Outcome.no
                )
            }
            // Only the name of a channel needs the whole state.
            let selectors =
                selectors.channel == nil
                ? selectors
                : try selectors.resolved(in: loader.logState(for: StateQuery(profile: reading.profile)))
            // One session, so that the proofs are under one root.
            let (entries, proofs) = try store.read { session in
                let entries = try chosen(of: reference, all, by: selectors, session)
                return (
                    entries, try self.proofs(of: entries, among: all, of: reference, Surroundings(in: nil), in: session)
                )
            }
            let output = output.paged(unless: lists.form)
            try print(HistoryPrinter(output: output, entity: reference, entries: entries, proofs: proofs))
            try output.flush()
        }
    }

    /// The requested entries of one thing, each checked against its event's leaf hash (I7).
    ///
    /// - Throws: `Failure` with exit code 1 if selectors are given and no entry fits; `EventLogError` with code
    ///   `damaged` (exit 3) for the first altered event.
    private func chosen(
        of reference: EntityReference,
        _ all: [HistoryEntry],
        by selectors: SelectorOptions,
        _ session: borrowing ReadSession
    ) throws -> [HistoryEntry] {
        let selection = try HistorySelection(selectors, in: session)
        let entries = selection.includes(reference) ? try selection.chosen(all, in: session) : []
        if entries.isEmpty, !selectors.given.isEmpty, selectors.count != 0 {
            throw selection.nothingFits(reference, of: all.count)
        }
        try check(entries, of: all, reference, in: session)
        return entries
    }

    /// Checks the events of some entries of a history against their leaf hashes (I7). An end shows the last known text,
    /// so the event that gave it is checked, too.
    private func check(
        _ entries: [HistoryEntry],
        of all: [HistoryEntry],
        _ entity: EntityReference,
        in session: borrowing ReadSession
    ) throws {
        let sequences = Set(entries.map(\.sequence))
        var knownSince: SequenceNumber?
        for entry in all {
            if sequences.contains(entry.sequence) {
                if entry.isEnd(of: entity.kind), let knownSince { try session.checkEvent(at: knownSince) }
                try session.checkEvent(at: entry.sequence)
            }
            if entry.givesFields { knownSince = entry.sequence }
        }
    }

    /// The members that prove each entry under the session's root; empty if none were requested. Cost: as `EntryProof`
    /// for each entry.
    ///
    /// - Parameter all: the whole history, which the entries are some of, in its order.
    private func proofs(
        of entries: [HistoryEntry],
        among all: [HistoryEntry],
        of thing: EntityReference,
        _ surroundings: Surroundings,
        in session: borrowing ReadSession
    ) throws -> [JSONObject] {
        guard proving.prove else { return [] }
        var proofs: [JSONObject] = []
        var place = 0
        for (entry, shown) in zip(entries, HistoryPrinter.objects(of: thing, entries)) {
            place = all[place...].firstIndex(of: entry) ?? place
            let proof = try EntryProof(
                of: shown,
                of: thing,
                at: entry.sequence,
                after: all[..<place].suffix(EntryProof.basisMax).map(\.sequence),
                within: surroundings,
                in: session
            )
            proofs.append(try proof.members())
        }
        return proofs
    }

    private func print(_ printer: HistoryPrinter) throws {
        switch lists.form {
        case .document: try printer.printDocument()
        case .lines: try printer.printLines()
        case .text: try printer.printText()
        }
    }

    /// Prints each thing whose history contains the text, with the entries that do, in the order of the first of them.
    ///
    /// - Parameter read: Lends a session on the log, once for each thing that was found.
    /// - Throws: `Failure` with exit code 1 if there is none. A JSON document is complete even then.
    private func printMatches(
        of text: TextMatch,
        _ filter: HistoryFilter,
        _ selection: HistorySelection,
        in state: LogState,
        to output: StandardOutput,
        read: ((borrowing ReadSession) throws -> Void) throws -> Void
    ) throws {
        let printer = MatchPrinter(output: output, match: text)
        var all: [MatchPrinter.Found] = []
        let surroundings = Surroundings(in: state)
        try state.forEachHistory(of: entity, filter: filter) { reference, history in
            // The search is for the text in all entries; the range then narrows down what is shown of a thing.
            guard selection.includes(reference), var found = printer.found(reference, history) else { return }
            try read { session in
                found.entries = try selection.chosen(found.entries, in: session)
                try check(found.entries, of: history, found.entity, in: session)
                found.proofs = try proofs(of: found.entries, among: history, of: reference, surroundings, in: session)
            }
            if !found.entries.isEmpty { all.append(found) }
        }
        // Histories come by kind and name, and of two that one event changed this keeps that order.
        let places = all.indices.sorted { (all[$0].entries[0].sequence, $0) < (all[$1].entries[0].sequence, $1) }
        switch lists.form {
        case .text: for place in places { try printer.printText(all[place]) }
        case .document: try output.line(JSONValue.array(places.map { printer.document(all[$0]) }).lines)
        case .lines: for place in places { try output.line(printer.document(all[place]).text) }
        }
        guard all.isEmpty else { return }
        try output.flush()
        let names = selectors.given.isEmpty ? "" : " with \(selectors.given.joined(separator: " and "))"
        let place = entity.map { "of what \"\($0)\" can mean" } ?? "in the log"
        // A compaction keeps the newest messages only, so a text may have gone with the others.
        var isCompacted = false
        try read { isCompacted = $0.decidedAt > .zero }
        let dropped = isCompacted ? "; what compactions dropped cannot be searched" : ""
        throw Failure(
            "find \"\(text.text)\": nothing \(place) holds or held it\(names)\(dropped)",
            exitCode: Outcome.no
        )
    }
}
