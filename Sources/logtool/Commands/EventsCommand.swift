import ArgumentParser
import EventLog
import Projections
import Shipping

/// `logtool events`: lists what arrived.
///
/// Lists envelopes. It folds only to find the events of a thing or channel (`EventSelection`), or a remote time. An
/// event's bytes are checked against its leaf hash only where they are printed whole (`--payload`): a check costs two
/// hashes of the payload for each event.
struct EventsCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the events of a log: what arrived, when and from where.",
        usage: """
            logtool events LOG [options]
            logtool events LOG --follow --from nats://HOST[:PORT][/STREAM] [options]
            """,
        discussion: """
            With --follow, --from may name a NATS server that ship publishes to: the log, a copy, is brought up to the stream first and \
            again whenever something comes, as pull does it, and each event is listed once it is proved.
            """
    )

    static let examples = [
        Example("logtool events chat.eventlog -n 20", "the last twenty events"),
        Example("logtool events chat.eventlog --source guild --kind gateway.frame/1", "the frames of one recorder"),
        Example("logtool events chat.eventlog --from 17 --to 17 --payload", "one event with its bytes"),
        Example("logtool events chat.eventlog --entity message:0903-bob", "the events behind one message"),
        Example("logtool events chat.eventlog --match 'reconnect' --payload", "the events whose bytes hold a text"),
        Example("logtool events year --from 17 --to 17", "an event of several logs, and which one it comes from"),
        Example("logtool events chat.eventlog --follow --jsonl", "every event as it arrives, one object per line"),
        Example("logtool events copy.eventlog --follow --from nats://hub.example.org", "the same of a log elsewhere"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var archives: ArchiveOptions
    @OptionGroup var selectors: SelectorOptions

    @OptionGroup var match: MatchOptions

    @Flag(help: "Show the bytes too.")
    var payload = false

    /// Looks at the log five times a second. It has no end of its own: SIGINT ends the process with 130.
    @Flag(help: "Go on with new events until interrupted.")
    var follow = false

    @OptionGroup(title: "Options of a stream") var tree: TreeOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    /// Refuses what cannot work with `--follow`: a document that never closes, a last event, and references, whose
    /// events only a replay finds.
    func validate() throws {
        if selectors.start?.address == nil, tree.server.isGiven || !tree.verifier.isEmpty {
            throw ValidationError("what a server is told goes with --follow --from nats://…")
        }
        if selectors.start?.address != nil, !follow {
            throw ValidationError("--from nats://… goes with --follow; or pull the log first")
        }
        if follow && lists.json { throw ValidationError("--follow never ends its list; use --jsonl") }
        if follow { try selectors.refuse(["--entity", "--channel", "--to"], because: "--follow lists what arrives") }
    }

    /// Lists the selected events, and with `--follow` those that come later, until interrupted.
    func run() async throws {
        if let address = selectors.start?.address { return try await list(streamAt: address) }
        try await list()
    }

    /// - Parameter copy: brings the log up to what it is a copy of, and waits a moment where there is nothing.
    private func list(_ copy: (() throws -> Void)? = nil) async throws {
        let store = try decoders.used(in: archives.opened(log.path, isQuiet: output.quiet), isQuiet: true)
        // A reference or `-n` may cost a replay or a read of the whole log before the first line.
        let progress = output.progress("looking for events")
        let joined = JoinedLogs.joined(store)
        if follow, joined != nil { throw Failure("events --follow: it follows one log; name one") }
        let printer = EventPrinter(
            output: output.paged(unless: lists.form),
            form: lists.form,
            showsPayload: payload,
            joined: joined
        )
        try printer.begin()
        var head = try list(store, with: printer, progress)
        progress.end()
        while follow {
            try printer.output.flush()
            // A session for each look: one kept open would go on showing the same prefix (I6).
            if let copy { try copy() } else { try await Task.sleep(for: .milliseconds(200)) }
            head = try listNew(store, after: head, with: printer)
        }
        try printer.end()
    }

    /// Brings the log up to a stream, and lists it and what comes then.
    private func list(streamAt address: String) async throws {
        let options = EventStore.Options.withProgress(isQuiet: output.quiet)
        let path = log.path
        let courier = try StreamCopy.courier(at: address, tree.server, into: path, options, operation: "events --from")
        let pull = CourierPull(from: courier, into: path, options: options)
        var request = LogPull.Request()
        request.verifiers = try tree.verifiers()
        let notice = StreamCopy.Notice()
        var isThere = false
        while !isThere {
            try notice.reporting {
                _ = try pull.run(request)
                isThere = true
            }
        }
        var command = self
        command.selectors.start = nil
        try await command.list {
            try notice.reporting {
                try pull.awaitNews(within: .seconds(1))
                _ = try pull.run(request)
            }
        }
    }

    /// Lists what the log holds now and returns its head. A complete list is printed even if it is empty, so that a
    /// program can read it before the failure.
    ///
    /// - Throws: `Failure` with exit code 1 if selectors were given and no event fits.
    private func list(_ store: EventStore, with printer: EventPrinter, _ progress: Progress) throws -> SequenceNumber {
        do {
            return try store.read { session in
                try list(session, with: printer, progress)
                return session.head
            }
        } catch let failure as Failure where failure.exitCode == Outcome.no {
            try printer.end()
            throw failure
        }
    }

    private func list(
        _ session: borrowing ReadSession,
        with printer: EventPrinter,
        _ progress: Progress
    ) throws {
        let reporter = progress.replayReporter(until: session.head)
        let selection = try EventSelection(selectors, in: session, namesMayCome: follow, progress: reporter)
        let found = EventMatch(match.text)
        if let sequences = try selection.range(in: session, where: found.isMatch) {
            try print(sequences, of: session, selection, with: printer)
        }
        // With `--follow`, nothing yet is no failure.
        guard printer.isEmpty, !follow else { return }
        if let text = match.match {
            throw Failure("find \"\(text)\": no event that is asked for holds it", exitCode: Outcome.no)
        }
        if let failure = selection.nothingFits("events", in: session) { throw failure }
    }

    /// Lists what came after `head` and returns the new head. `--from` and `-n` are for what the log held at the start;
    /// all later events that fit are listed.
    private func listNew(
        _ store: EventStore,
        after head: SequenceNumber,
        with printer: EventPrinter
    ) throws -> SequenceNumber {
        try store.read { session in
            guard session.head > head else { return head }
            // A source's first event may come while this waits, so an unknown name is no failure.
            let selection = try EventSelection(selectors, in: session, namesMayCome: true)
            try print(head.next...session.head, of: session, selection, with: printer)
            return session.head
        }
    }

    /// Prints the selected events of a range.
    private func print(
        _ sequences: ClosedRange<SequenceNumber>,
        of session: borrowing ReadSession,
        _ selection: EventSelection,
        with printer: EventPrinter
    ) throws {
        let found = EventMatch(match.text)
        try selection.forEachEvent(in: sequences, of: session) { event in
            guard selection.includes(event), found.isMatch(event) else { return true }
            // Only bytes that match their leaf hash are shown (I7).
            if payload { try session.check(event) }
            let envelope = event.envelope
            try event.withPayload { try printer.print(envelope, payload: $0) }
            return true
        }
    }
}
