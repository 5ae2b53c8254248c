import ArgumentParser
import EventLog
import Ingest
import Projections

/// `logtool ingest LOG SOURCE …`: records what a source gives, once or until it is interrupted.
///
/// Every run is idempotent (I4, I15): a key identifies each change, and a bookmark, which is only a hint, saves reading
/// all of the remote again. Sources that end are recorded here, live ones by `LiveIngest`.
struct IngestCommand: AsyncParsableCommand, ExplainedCommand {
    /// The kinds of sources; the raw value is the second argument. `git` is live with `--follow` alone, `capture` and
    /// `har` never.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case git, capture, har, observed, gateway, realtime, github, sse, ws, http, status, cloudkit
    }

    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "Record what a source gives; a later run takes only what is new.",
        usage: """
            logtool ingest LOG git REPO [--branch B] [--allow-alternates] [--follow] [options]
            logtool ingest LOG capture FILE [--kind \(CaptureKind.allCases.map(\.rawValue).joined(separator: "|"))] [--decoder FILE|--app NAME] [options]
            logtool ingest LOG har FILE [--kind \(HARKind.allCases.map(\.rawValue).joined(separator: "|"))] [--site HOST] [--decoder FILE|--app NAME] [options]
            logtool ingest LOG observed FILE [--keep-going] [options]
            logtool ingest LOG github OWNER/NAME [--branch B] [--api URL] [--token-env VAR] [--follow] [options]
            logtool ingest LOG sse URL [--follow] [--decoder FILE|--app NAME] [options]
            logtool ingest LOG ws URL [--send TEXT …] [--subprotocol NAME] [--follow] [--decoder FILE|--app NAME] [options]
            logtool ingest LOG http URL [--every DURATION] [--decoder FILE|--app NAME] [options]
            logtool ingest LOG status DIR [--pattern GLOB] [--poll DURATION] [--follow] [options]
            logtool ingest LOG cloudkit CONTAINER --token-file FILE --api-token-env VAR [--follow] [options]
            logtool ingest LOG gateway URL [--token-env VAR|--token-file FILE] [--follow] [options]
            logtool ingest LOG realtime URL --table T … [--api-key-env VAR] [--token-env VAR] [--app NAME] [--follow] [options]
            """,
        discussion: """
            Makes the log where none is. Every change is stored once, however often it is ingested. Tokens and what \
            docs/events.md lists are replaced by [redacted]; --redact adds names and places of your own.
            """
    )

    static let examples = [
        Example("logtool ingest chat.eventlog git ~/chat --branch main --as vibe", "every commit of a branch"),
        Example("logtool ingest bug.eventlog capture frames.ndjson --kind gateway", "a recorded capture"),
        Example("logtool ingest bug.eventlog har bug.har", "what a browser's developer tools or a proxy saved"),
        Example("logtool ingest bug.eventlog observed screen.ndjson", "what the client itself showed"),
        Example(
            "logtool ingest chat.eventlog gateway wss://chat.example.org/gateway --token-env CHAT_TOKEN --follow",
            "a gateway, until interrupted"
        ),
        Example("logtool ingest chat.eventlog github ada/chat --token-env GH_TOKEN --follow", "commits over the API"),
        Example("logtool ingest list.eventlog sse https://host/subscribe/%23work --follow", "Server-Sent Events"),
        Example(
            "logtool ingest bug.eventlog ws wss://host/live --send '{\"join\":\"r1\"}' --follow --decoder chat.decoder.yaml",
            "the WebSocket of any app"
        ),
        Example("logtool ingest bug.eventlog http https://host/api/posts --every 10s", "what an address answers"),
        Example("logtool ingest vibe.eventlog status /tmp --follow", "status files"),
        Example("logtool ingest bug.eventlog capture frames.ndjson --redact email --redact /d/address", "less of it"),
        Example("zcat frames.gz | logtool ingest bug.eventlog capture - --kind sse", "the same from standard input"),
    ]

    /// Not `LogOptions`: a missing log is made.
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String

    @Argument(help: ArgumentHelp("What to record.", valueName: "source"))
    var kind: Kind

    @Argument(
        help: ArgumentHelp("The repository, URL, directory or file; - is standard input.", valueName: "address"),
        completion: .file()
    )
    var address: String

    /// A later run must use the same name: keys identify changes within their source. So the default depends on kind
    /// and address alone (`SourceNaming`).
    @Option(name: .customLong("as"), help: ArgumentHelp("The source's name in the log.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Replace also what has this name, or lies at this JSON Pointer (/d/email); may be given often.",
            valueName: "name|pointer"
        )
    )
    var redact: [String] = []

    /// The parser knows no options of one kind only. Each group belongs to some kinds, and `validate` refuses it for
    /// the others.
    @OptionGroup(title: "Options of git") var git: GitSourceOptions
    @OptionGroup(title: "Options of capture and har") var capture: CaptureSourceOptions
    @OptionGroup(title: "Options of gateway") var gateway: GatewaySourceOptions
    @OptionGroup(title: "Options of realtime") var realtime: RealtimeSourceOptions
    @OptionGroup(title: "Options of gateway and realtime") var rest: RESTSourceOptions
    @OptionGroup(title: "Options of ws and http") var anyApp: AnyAppSourceOptions
    @OptionGroup(title: "Options of github, status and cloudkit") var polled: PolledSourceOptions
    @OptionGroup(title: "Options of live sources") var live: LiveSourceOptions
    @OptionGroup(title: "Options of the log") var write: WriteOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Refuses options of another kind: they would be ignored without a word. Reads no file and contacts no remote.
    func validate() throws {
        if let fault = git.fault(for: kind) { throw ValidationError(fault) }
        if let fault = polled.fault(forKind: kind.rawValue) { throw ValidationError(fault) }
        if let fault = capture.fault(for: kind) { throw ValidationError(fault) }
        if let fault = anyApp.fault(forKind: kind.rawValue) { throw ValidationError(fault) }
        if kind != .gateway && gateway.isGiven {
            throw ValidationError("--intents and --refresh-… go with gateway only")
        }
        if ![.gateway, .realtime].contains(kind) && rest.isGiven {
            throw ValidationError("--rest and --no-rest go with gateway and realtime only")
        }
        if kind != .realtime && realtime.isGiven {
            throw ValidationError("--table and --api-key-env go with realtime only")
        }
        if kind == .realtime && realtime.table.isEmpty { throw ValidationError("realtime needs at least one --table") }
        // A file needs no access, and git takes none by these options.
        if [.capture, .har, .observed].contains(kind) && live.isGiven || kind == .git && live.access.isGiven {
            throw ValidationError("--follow, --token-… and --ca-file go with live sources only")
        }
        if kind == .git && polled.interval != nil && !live.follow {
            throw ValidationError("--interval goes with --follow")
        }
        do {
            _ = try RedactionRules(redact)
        } catch {
            throw ValidationError("\(error)")
        }
        // Acts alone have this source (I1).
        if name == SourceName.logtool.rawValue { throw ValidationError("the source name \"logtool\" is reserved") }
    }

    /// Records the source. Live sources, and git with `--follow`, run until they end or a signal comes.
    ///
    /// - Throws: `IngestError` (exit 2) if the source cannot be read; `EventLogError` with code `locked` (exit 11) if
    ///   the source has a recorder or the log another writer for longer than `--wait`. Batches appended before stay in
    ///   the log.
    func run() async throws {
        // Without `--follow`, live sources record once what the remote has now.
        let decoder = try decoderFile()
        let head = decoder == nil ? try AppArgument.headBefore(sourceName(), in: log) : nil
        if live.follow || ![.git, .capture, .har, .observed].contains(kind) {
            return try await recordLive(decoder, head)
        }
        let progress = output.progress("reading")
        let summary: IngestSummary
        switch kind {
        case .git:
            let source = GitSource(
                repository: address,
                branch: git.branch,
                name: try sourceName(),
                allowsAlternates: git.allowAlternates,
                clock: { SystemClock.now }
            )
            summary = try record(source, progress: progress)
        // `events --jsonl --payload` writes such a file: it has whole events, not frames of one protocol.
        case .capture where capture.kind == nil && ExportedEvents.begin(file: address):
            // Without `--as` the events keep their sources.
            let name = try name.map { try SourceName($0) }
            let rules = try RedactionRules(redact)
            var events = ExportedEvents(
                operation: "ingest capture",
                object: address,
                source: name,
                change: { try rules.redacted($0) }
            )
            try events.add(LineReader(address))
            summary = try events.record {
                try EventStore.openOrCreate(at: log, options: write.storeOptions(isQuiet: output.quiet))
            }
        case .capture, .observed:
            let source = CaptureSource(
                path: address,
                kind: kind == .observed ? .observed : capture.kind?.capture,
                name: try sourceName(),
                keepGoing: capture.keepGoing,
                doubt: notice("warning: ")
            )
            summary = try record(source, progress: progress)
            try settle(decoder, source.name, behind: head)
        case .har:
            let source = HARSource(
                path: address,
                kind: capture.kind?.har,
                site: capture.site,
                name: try sourceName(),
                keepGoing: capture.keepGoing,
                note: notice("")
            )
            summary = try record(source, progress: progress)
            try settle(decoder, source.name, behind: head)
        // Not reached: `run` has recorded live sources above.
        case .gateway, .realtime, .github, .sse, .ws, .http, .status, .cloudkit:
            return try await recordLive(decoder, head)
        }
        progress.end()
        try IngestSummaryPrinter(output: output.standardOutput, summary: summary).print(asJSON: document.json)
    }

    /// What is to read the source from now on, by `--decoder` or `--app`.
    private func decoderFile() throws -> DecoderFile? {
        if let app = capture.app { return try AppArgument.file(app, for: sourceName(), of: log) }
        return try capture.decoder.map { try DecoderArgument.file($0, for: sourceName(), of: log) }
    }

    /// Puts a decoder file in force for a source that was recorded; without one, looks whether its kind is read rightly.
    private func settle(_ decoder: DecoderFile?, _ source: SourceName, behind head: SequenceNumber?) throws {
        guard let decoder else { return try AppArgument.judge(source, behind: head, in: log, isQuiet: output.quiet) }
        _ = try DecoderArgument.put(decoder, source, in: EventStore.open(at: log))
    }

    /// What says a guess or a doubt about a saved file, which is no failure; `nil` for `--quiet`.
    private func notice(_ prefix: String) -> (@Sendable (String) -> Void)? {
        if output.quiet { return nil }
        return { text in StandardError.line(DisplayText.escaped("logtool: \(prefix)\(text)")) }
    }

    /// The source's name in the log: the one given, else one made from kind and address, the same in every run.
    func sourceName() throws -> SourceName {
        try SourceName(name ?? SourceNaming.name(kind: kind.rawValue, address: address))
    }

    /// Records a source once. If no log exists yet, the source is opened first, so that an unusable one leaves no empty
    /// log behind.
    ///
    /// - Throws: what opening the source throws, before a log is made; else as `run`.
    private func record(_ source: some EventSource, progress: Progress) throws -> IngestSummary {
        let source = RedactedSource(source, rules: try RedactionRules(redact))
        let again = address == "-" ? "give the same input again" : "run the same command again"
        let mayHaveAppended =
            "logtool: interrupted; what was appended is in the log; to go on, \(again): it adds what is new"
        // The rate covers duplicates, too: they cost as much to read.
        let report: @Sendable (IngestSummary) -> Void = { summary in
            progress.report("\(summary.appended) new events", done: summary.appended + summary.duplicates)
        }
        do {
            let store = try EventStore.open(at: log, options: write.storeOptions(isQuiet: output.quiet))
            Interrupts.leave(mayHaveAppended)
            return try Recorder.record(source, into: store, progress: report)
        } catch let error as EventLogError where error.code == .noLog {
            Interrupts.leave("logtool: interrupted before anything was appended; to go on, \(again)")
            let opened = OpenedSource(name: source.name, opened: try source.drafts(after: .empty))
            Interrupts.leave(mayHaveAppended)
            let store = try EventStore.openOrCreate(at: log, options: write.storeOptions(isQuiet: output.quiet))
            return try Recorder.record(opened, into: store, progress: report)
        }
    }
}

/// A source that was opened already, for a log that has none of its events. It gives its drafts once. The bookmark that
/// `Recorder` passes is empty, because its log is new.
private struct OpenedSource<Drafts: DraftSequence>: EventSource {
    let name: SourceName
    let opened: Drafts

    func drafts(after history: RecordedHistory) -> Drafts {
        opened
    }
}

/// Options of a git source. `--branch` serves github, too.
struct GitSourceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The branch; default: the one that HEAD names.", valueName: "branch"))
    var branch: String?

    /// Off unless given: a repository from elsewhere could name any folder of this machine as its alternate (I28).
    @Flag(help: "Read objects and branches that the repository keeps outside its folder.")
    var allowAlternates = false

    /// Why the options do not fit a kind of source; `nil` if they do.
    func fault(for kind: IngestCommand.Kind) -> String? {
        if kind != .git && allowAlternates { return "--allow-alternates goes with git only" }
        if kind != .git && kind != .github && branch != nil { return "--branch goes with git and github only" }
        return nil
    }
}

/// Options of a capture or HAR.
struct CaptureSourceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What was captured; default: guessed where only one kind fits.", valueName: "kind"))
    var kind: SavedKind?

    @Option(
        help: ArgumentHelp("Read the source by this decoder file from now on (docs/decoders.md).", valueName: "file"),
        completion: .file(extensions: ["yaml"])
    )
    var decoder: String?

    @Option(
        help: ArgumentHelp(
            "The app of the source: what its rows and event streams are (\(AppArgument.names)).",
            valueName: "name"
        ),
        transform: AppArgument.parse
    )
    var app: BuiltInApp?

    @Option(
        help: ArgumentHelp(
            "Take of a HAR what this host and those below it gave; default of kind raw: the one with most of it.",
            valueName: "host"
        )
    )
    var site: String?

    /// Off unless given: one unreadable line of a capture then refuses all of it, so that nothing is missing unseen.
    @Flag(help: "Pass over lines or entries that cannot be read, and list them as issues.")
    var keepGoing = false

    /// Why the options do not fit a kind of source; `nil` if they do.
    func fault(for source: IngestCommand.Kind) -> String? {
        if app != nil, decoder != nil { return "--app and --decoder exclude each other" }
        if app != nil, ![.capture, .har, .sse, .ws, .http, .realtime].contains(source) {
            return "--app goes with capture, har, sse, ws, http and realtime only"
        }
        return switch (source, kind) {
        case (.capture, let kind?) where kind.capture == nil: "a capture has no frames of kind \(kind.rawValue)"
        case (.har, let kind?) where kind.har == nil: "a HAR has no traffic of kind \(kind.rawValue)"
        case (.capture, _) where site != nil: "--site goes with har only"
        case (.capture, _), (.har, _): nil
        case (.observed, nil) where decoder == nil && site == nil: nil
        default:
            kind != nil || keepGoing || site != nil
                ? "--kind, --site and --keep-going go with capture and har only"
                : decoder != nil && ![.sse, .ws, .http].contains(source)
                    ? "--decoder goes with capture, har, sse, ws and http only" : nil
        }
    }
}

/// What a saved file contains. A capture and a HAR know different kinds, so each may be `nil`.
struct SavedKind: ExpressibleByArgument, CaseIterable {
    let rawValue: String

    init?(argument: String) {
        guard Self.names.contains(argument) else { return nil }
        rawValue = argument
    }

    private init(_ name: String) {
        rawValue = name
    }

    /// The kinds of captures, then those of HARs alone.
    private static let names =
        CaptureKind.allCases.map(\.rawValue)
        + HARKind.allCases.map(\.rawValue).filter { CaptureKind(rawValue: $0) == nil }

    static var allCases: [SavedKind] { names.map { SavedKind($0) } }
    static var allValueStrings: [String] { names }

    var defaultValueDescription: String { rawValue }
    var capture: CaptureKind? { CaptureKind(rawValue: rawValue) }
    var har: HARKind? { HARKind(rawValue: rawValue) }
}
