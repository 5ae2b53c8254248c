import ArgumentParser
import EventLog
import Projections

/// `logtool events`: lists what arrived.
struct EventsCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "List the events of a log: what arrived, when and from where.",
        usage: "logtool events LOG [options]"
    )

    static let examples = [
        Example("logtool events chat.eventlog --from head~20", "the last events"),
        Example("logtool events chat.eventlog --source guild --kind gateway.frame/1", "the frames of one recorder"),
        Example("logtool events chat.eventlog --from 17 --to 17 --payload", "one event with its bytes"),
        Example("logtool events chat.eventlog --entity message:0903-bob", "the events behind one message"),
        Example("logtool events chat.eventlog --follow --jsonl", "every event as it arrives, one object a line"),
    ]

    @OptionGroup var log: LogOptions
    @OptionGroup var range: RangeOptions

    @Option(help: ArgumentHelp("Only events of this recorder.", valueName: "name"))
    var source: String?

    @Option(
        help: ArgumentHelp("Only events of this kind, such as gateway.frame/1 or gateway.frame.", valueName: "kind")
    )
    var kind: String?

    @Option(
        help: ArgumentHelp("Only events that may have changed this thing.", valueName: "entity"),
        transform: EntityArgument.parse
    )
    var entity: EntityReference?

    @Flag(help: "Show the bytes too.")
    var payload = false

    @Flag(help: "Go on with new events until interrupted.")
    var follow = false

    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if follow && lists.json { throw ValidationError("--follow never ends its list; use --jsonl") }
        if follow && entity != nil { throw ValidationError("--follow and --entity exclude each other") }
        if follow && range.to != nil { throw ValidationError("--follow and --to exclude each other") }
    }

    func run() async throws {
        let store = try log.open()
        let printer = EventPrinter(output: output.standardOutput, form: lists.form, showsPayload: payload)
        try printer.begin()
        var head = try list(store, with: printer)
        while follow {
            try printer.output.flush()
            try await Task.sleep(for: .milliseconds(200))
            head = try listNew(store, after: head, with: printer)
        }
        try printer.end()
    }

    private func list(_ store: EventStore, with printer: EventPrinter) throws -> SequenceNumber {
        try store.read { session in
            var wanted: Set<SequenceNumber>?
            if let entity { wanted = try Self.sequences(changing: entity, in: session) }
            if let sequences = try range.range(in: session) {
                try print(sequences, of: session, only: wanted, with: printer)
            }
            return session.head
        }
    }

    private func listNew(
        _ store: EventStore,
        after head: SequenceNumber,
        with printer: EventPrinter
    ) throws -> SequenceNumber {
        try store.read { session in
            if session.head > head { try print(head.next...session.head, of: session, with: printer) }
            return session.head
        }
    }

    private func print(
        _ sequences: ClosedRange<SequenceNumber>,
        of session: borrowing ReadSession,
        only wanted: Set<SequenceNumber>? = nil,
        with printer: EventPrinter
    ) throws {
        try session.forEachEvent(in: sequences) { event in
            let envelope = event.envelope
            guard matches(envelope), wanted?.contains(envelope.sequence) ?? true else { return true }
            try event.withPayload { try printer.print(envelope, payload: $0) }
            return true
        }
    }

    /// The events that touched a thing, found by replaying all of them.
    private static func sequences(
        changing entity: EntityReference,
        in session: borrowing ReadSession
    ) throws -> Set<SequenceNumber> {
        var options = ReplayOptions()
        options.retained = true
        var touched: [EntityReference: Set<SequenceNumber>] = [:]
        let state = try Replay.workspace(of: session, options: options) { envelope, state in
            for reference in state.touched(by: envelope) where reference.kind == entity.kind {
                touched[reference, default: []].insert(envelope.sequence)
            }
            return true
        }
        return touched[try EntityArgument.only(entity, in: state)] ?? []
    }

    private func matches(_ envelope: Envelope) -> Bool {
        if let source, envelope.source.rawValue != source { return false }
        guard let kind else { return true }
        return envelope.kind.rawValue == kind || envelope.kind.rawValue.hasPrefix(kind + "/")
    }
}
