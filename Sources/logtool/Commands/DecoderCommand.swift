import ArgumentParser
import EventLog
import JSON
import Kinds
import Projections

/// `logtool decoder`: tries decoder files and puts them in force for the sources of a log.
///
/// A file in force is an act of the log that holds the whole file (C18), so every copy of the log reads its events alike.
struct DecoderCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "decoder",
        abstract: "Say how the payloads of any app are read: infer, check, set and explain decoder files.",
        usage: """
            logtool decoder check FILE [LOG] [--source S] [--json]
            logtool decoder infer FILE.har|CAPTURE|LOG [--source S] [--site HOST] [-o FILE] [--json]
            logtool decoder LOG [--json]
            logtool decoder LOG set SOURCE FILE|--app NAME [--force]
            logtool decoder LOG unset SOURCE [--force]
            logtool decoder LOG show SOURCE
            logtool decoder explain LOG SEQUENCE [--json]
            """,
        discussion: """
            A decoder file is data, not a program: rules of tests, loops over a payload, and effects (docs/decoders.md). The file \
            in force for a source counts at every point of the log, since it says how bytes are read, not what happened. Setting one \
            changes no event: states and caches made with another file are made anew. After a compaction that dropped events of the \
            source, another file is refused without --force: what is kept of them stays as the earlier file read them.

            infer proposes a file for a HAR file, a capture of WebSocket frames and answers, or a source of a log: a guess to begin with, \
            with its reasons as comments. It looks at 20,000 events and 32 MiB of payloads at most. No text, name or id of a payload \
            gets into the file.
            """
    )

    static let examples = [
        Example(
            "logtool decoder infer chat.har -o chat.decoder.yaml",
            "a first file for an app that nobody has described"
        ),
        Example("logtool decoder check chat.decoder.yaml", "do its samples give what they must?"),
        Example(
            "logtool decoder check chat.decoder.yaml bug.eventlog",
            "which events does which rule take, and which none?"
        ),
        Example("logtool decoder bug.eventlog set chat chat.decoder.yaml", "read the source so from now on"),
        Example("logtool decoder explain bug.eventlog 17", "what was read out of one event"),
    ]

    @Argument(help: ArgumentHelp("What to do, and on what.", valueName: "words"), completion: .file())
    var words: [String] = []

    @Option(help: ArgumentHelp("Only events of this source; with check and infer.", valueName: "source"))
    var source: String?

    @Option(help: ArgumentHelp("Only what is of this host; with infer of a HAR file.", valueName: "host"))
    var site: String?

    @Option(
        name: .customShort("o"),
        help: ArgumentHelp("Write the proposed file there; with infer.", valueName: "file"),
        completion: .file()
    )
    var target: String?

    @Option(
        help: ArgumentHelp(
            "Read rows and event streams of the source as this app's; with set, in place of a file.",
            valueName: "name"
        ),
        transform: AppArgument.parse
    )
    var app: BuiltInApp?

    @Flag(help: "Set or unset a file although a compaction dropped events that another one had read.")
    var force = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    private enum Task {
        case check(file: String, log: String?)
        case infer(path: String)
        case list(log: String)
        case set(log: String, source: SourceName, file: String)
        case declare(log: String, source: SourceName, BuiltInApp)
        case unset(log: String, source: SourceName)
        case show(log: String, source: SourceName)
        case explain(log: String, SequenceNumber)
    }

    func validate() throws {
        let task = try task()
        if force {
            switch task {
            case .set, .declare, .unset: break
            default: throw ValidationError("--force goes with set and unset only")
            }
        }
        if app != nil {
            guard case .declare = task else { throw ValidationError("--app goes with set SOURCE only") }
        }
        if case .infer = task { return }
        if target != nil || site != nil { throw ValidationError("-o and --site go with infer only") }
    }

    private func task() throws -> Task {
        let rest = Array(words.dropFirst(2))
        guard let first = words.first else { throw ValidationError("give a log, or check FILE") }
        if first == "check" {
            guard words.count == 2 || words.count == 3 else { throw ValidationError("write: decoder check FILE [LOG]") }
            return .check(file: words[1], log: rest.first)
        }
        if first == "infer" {
            guard words.count == 2 else {
                throw ValidationError("write: decoder infer FILE.har, decoder infer CAPTURE, or decoder infer LOG")
            }
            return .infer(path: words[1])
        }
        if first == "explain" {
            guard words.count == 3, let number = UInt64(words[2]), number > 0 else {
                throw ValidationError("write: decoder explain LOG SEQUENCE")
            }
            return .explain(log: words[1], SequenceNumber(number))
        }
        switch (words.dropFirst().first, rest.count) {
        case (nil, _): return .list(log: first)
        case ("set"?, 1):
            guard let app else { throw ValidationError("write: decoder LOG set SOURCE FILE, or set SOURCE --app NAME") }
            return .declare(log: first, source: try Self.source(rest[0]), app)
        case ("set"?, 2) where app == nil: return .set(log: first, source: try Self.source(rest[0]), file: rest[1])
        case ("unset"?, 1): return .unset(log: first, source: try Self.source(rest[0]))
        case ("show"?, 1): return .show(log: first, source: try Self.source(rest[0]))
        case (let word?, _):
            throw ValidationError(
                "\"\(word)\" with \(rest.count) words is nothing that decoder does; it has set SOURCE FILE, unset SOURCE, "
                    + "show SOURCE; write also: decoder check FILE, decoder explain LOG SEQUENCE"
            )
        }
    }

    private static func source(_ text: String) throws -> SourceName {
        guard let source = try? SourceName(text), source != .logtool else {
            throw ValidationError("\"\(text)\" is no name of a source")
        }
        return source
    }

    func run() throws {
        switch try task() {
        case .check(let path, let log): try check(try DecoderArgument.file(path), path, log)
        case .infer(let path): try infer(path)
        case .list(let log): try list(log)
        case .set(let log, let source, let path): try set(try DecoderArgument.file(path), source, log)
        case .declare(let log, let source, let app): try set(DecoderFile(declaring: app), source, log)
        case .unset(let log, let source): try set(nil, source, log)
        case .show(let log, let source):
            let text = try decoder(of: source, in: log).text
            let output = output.standardOutput
            try output.write(text.utf8)
            try output.flush()
        case .explain(let log, let sequence): try explain(log, sequence)
        }
    }

    // MARK: - What is in force

    private func decoder(of source: SourceName, in log: String) throws -> DecoderFile {
        let store = try LogOptions.open(log, isQuiet: output.quiet)
        let decoders = try store.read { try Decoders(inForce: $0) }
        guard let file = decoders[source] else {
            throw Failure(
                "show the decoder of source \(source): it has none; set one with: logtool decoder \(log) set \(source) FILE",
                exitCode: Outcome.no
            )
        }
        return file
    }

    private func list(_ log: String) throws {
        let store = try LogOptions.open(log, isQuiet: output.quiet)
        let rows = try store.read { session in
            let decoders = try Decoders(inForce: session)
            return try session.kindsBySource().filter { $0.key != .logtool }.sorted { $0.key < $1.key }.map {
                source,
                kinds in
                let readable = kinds.filter(Decoders.mayRead).map(\.rawValue).sorted()
                return JSONValue.object([
                    "source": .string(source.rawValue), "kinds": .array(readable.map { .string($0) }),
                    "decoder": decoders[source].map { .string($0.name) },
                    "sha256": decoders[source].map { .string($0.hash.hex) },
                ])
            }
        }
        .filter { !($0["kinds"]?.array?.isEmpty ?? true) || $0["decoder"] != nil }
        let output = output.standardOutput
        if document.json {
            try output.line(JSONValue.object(["decoders": .array(rows)]).lines)
        } else if rows.isEmpty {
            try output.line("no source of this log has events that a decoder file reads")
        } else {
            for row in rows {
                let name =
                    row["decoder"]?.string
                    ?? "no decoder: logtool decoder \(log) set \(row["source"]?.string ?? "") FILE"
                try output.line("\(DisplayText.escaped(row["source"]?.string ?? ""))  \(DisplayText.escaped(name))")
            }
        }
        try output.flush()
    }

    /// Puts a file in force. Its samples must give what they say.
    private func set(_ file: DecoderFile?, _ source: SourceName, _ log: String) throws {
        if let file { try DecoderArgument.checkSamples(of: file) }
        let output = output.standardOutput
        let store = try EventStore.open(at: log)
        let shown = DisplayText.escaped(source.rawValue)
        let isMeant = file?.app == nil ? Decoders.mayRead : Decoders.isChosen
        if file != nil, try store.read({ try !($0.kindsBySource()[source] ?? []).contains(where: isMeant) }) {
            StandardError.line("logtool: warning: the log has no event of source \(shown) that a decoder file reads")
        }
        if let sequence = try DecoderArgument.put(file, source, in: store, isForced: force) {
            let name = file?.name ?? "no decoder file"
            try output.line("\(shown) is read by \(name) from now on, at every point (act \(sequence))")
        } else {
            try output.line("\(shown) is read so already")
        }
        try output.flush()
    }

    // MARK: - Trials

    /// One rule with the events that it took.
    private struct Taken {
        var count = 0
        var issueCount = 0
        var first: SequenceNumber
    }

    private func check(_ file: DecoderFile, _ path: String, _ log: String?) throws {
        let faults = file.sampleFaults()
        let output = output.standardOutput
        var document: JSONObject = [
            "decoder": .string(file.name), "sha256": .string(file.hash.hex), "samples": .int(file.sampleCount),
            "wrong": .array(
                faults.map { fault in
                    .object([
                        "line": .int(fault.line), "gives": fault.gives,
                        "issues": .array(fault.issues.map { .string($0) }),
                    ])
                }
            ),
        ]
        if !self.document.json {
            for fault in faults {
                try output.line(
                    "\(path):\(fault.line): the sample gives \(DisplayText.escaped(fault.gives.canonicalText))"
                )
                for issue in fault.issues { try output.line("  \(DisplayText.escaped(issue))") }
            }
            try output.line(
                "\(file.name): \(file.sampleCount - faults.count) of \(file.sampleCount) samples give what they must"
            )
        }
        if let log {
            for member in try trial(file, log).members { document[member.name] = member.value }
            if !self.document.json { try printTrial(document, to: output) }
        }
        if self.document.json { try output.line(JSONValue.object(document).lines) }
        try output.flush()
        if !faults.isEmpty { throw Outcome.no }
    }

    /// How many events of a log each rule takes, and the shapes of those that none takes.
    private func trial(_ file: DecoderFile, _ log: String) throws -> JSONObject {
        let store = try LogOptions.open(log, isQuiet: output.quiet)
        var trials: [SourceName: DecoderTrial] = [:]
        var taken: [Int: Taken] = [:]
        var shapes: [String: Taken] = [:]
        var (count, repeats, outgoing) = (0, 0, 0)
        try store.read { session in
            guard session.head > .zero else { return }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                let envelope = event.envelope
                guard Decoders.mayRead(envelope.kind), source == nil || envelope.source.rawValue == source else {
                    return true
                }
                count += 1
                let outcome = event.withPayload { payload in
                    trials[envelope.source, default: DecoderTrial(file, source: envelope.source)]
                        .read(envelope, payload: payload)
                }
                if outcome.isRepeat {
                    repeats += 1
                } else if let line = outcome.line {
                    taken[line, default: Taken(first: envelope.sequence)].count += 1
                    taken[line]?.issueCount += outcome.decoded.issues.isEmpty ? 0 : 1
                } else if envelope.attributes["dir"] == "out" {
                    outgoing += 1
                } else {
                    let shape = event.withPayload { PayloadShape.text(envelope, $0) }
                    shapes[shape, default: Taken(first: envelope.sequence)].count += 1
                }
                return true
            }
        }
        return [
            "events": .int(count), "repeats": .int(repeats), "outgoing": .int(outgoing),
            "rules": .array(
                taken.sorted { $0.key < $1.key }.map { line, taken in
                    .object([
                        "line": .int(line), "events": .int(taken.count), "withIssues": .int(taken.issueCount),
                        "first": .int(taken.first.rawValue),
                    ])
                }
            ),
            "untaken": .array(
                shapes.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.prefix(50).map { shape, taken in
                    .object([
                        "shape": .string(shape), "events": .int(taken.count), "first": .int(taken.first.rawValue),
                    ])
                }
            ),
        ]
    }

    private func printTrial(_ document: JSONObject, to output: StandardOutput) throws {
        func number(_ value: JSONValue?) -> String { value?.number?.text ?? "0" }
        try output.line(
            "\(number(document["events"])) events: \(number(document["repeats"])) repeats, "
                + "\(number(document["outgoing"])) outgoing"
        )
        for rule in document["rules"]?.array ?? [] {
            let issues = number(rule["withIssues"]) == "0" ? "" : ", \(number(rule["withIssues"])) with issues"
            try output.line(
                "  the rule on line \(number(rule["line"])) takes \(number(rule["events"]))\(issues), the first at "
                    + number(rule["first"])
            )
        }
        for shape in document["untaken"]?.array ?? [] {
            try output.line(
                "  no rule takes \(number(shape["events"])), the first at \(number(shape["first"])): "
                    + DisplayText.escaped(shape["shape"]?.string ?? "")
            )
        }
    }
}
