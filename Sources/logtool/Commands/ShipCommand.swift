import ArgumentParser
import EventLog
import JSON
import JetStream
import Projections
import Shipping

/// `logtool ship`: writes a log as a tree of files that other tools carry.
struct ShipCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship",
        abstract:
            "Write a log as a tree of files, or into a stream of NATS JetStream, for others to carry; pull makes a log of it.",
        usage: """
            logtool ship LOG --to FOLDER [options]
            logtool ship LOG --to nats://HOST[:PORT][/STREAM] [--follow] [options]
            """,
        discussion: """
            Each run writes what is new, and the checkpoint last: a text with size and root, signed where a key is given. The tree \
            has the layout of C2SP's tlog-tiles, and bundles with the events (docs/ship.md). Whoever reads it checks everything \
            against the checkpoint, so files may arrive in any order. What a redaction or a compaction took away is gone from the tree \
            after the next run; copies of it lose it only if the tool that makes them removes files, too. \
            A stream is told by what it holds, not by what it has acknowledged: what is missing there is published, and looked for again.
            """
    )

    static let examples = [
        Example("logtool ship chat.eventlog --to tree", "make a tree, or bring it up to date"),
        Example("rsync -a --delete tree/ host:tree/", "carry it"),
        Example("logtool ship chat.eventlog --to tree --key log.pem --origin example.org/chat", "sign the checkpoint"),
        Example(
            "logtool ship chat.eventlog --to nats://hub.example.org --follow",
            "publish events as they are recorded"
        ),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        help: ArgumentHelp(
            "The folder of the tree, or the address of a NATS server; made if it is missing.",
            valueName: "place"
        ),
        completion: .directory
    )
    var to: String

    @Option(
        help: ArgumentHelp(
            "The private key that signs: PEM, as openssl genpkey -algorithm ed25519 makes it.",
            valueName: "file"
        ),
        completion: .file()
    )
    var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "What the log calls itself, and the key's name; default: the tree's, or eventlog/ and the identity.",
            valueName: "name"
        )
    )
    var origin: String?

    @Flag(help: "Write entries for programs that read tlog-tiles, too: what the hashes are of, without payloads.")
    var entries = false

    /// It has no end of its own: SIGINT ends the process with 130.
    @Flag(help: "With a stream: go on with new events, and answer receivers, until interrupted.")
    var follow = false

    @Option(help: ArgumentHelp("With a stream: on how many servers of a cluster a new one lies.", valueName: "n"))
    var replicas: Int?

    @OptionGroup(title: "Options of a server") var server: ServerOptions
    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if NATSAddress.isAddress(to) {
            if entries { throw ValidationError("--entries is for a tree") }
            if let replicas, !(1...5).contains(replicas) { throw ValidationError("--replicas is a number from 1 to 5") }
            if follow, document.json { throw ValidationError("--follow never ends its document") }
            return
        }
        guard !TreeOptions.isURL(to), !to.contains("://") else {
            throw ValidationError(
                "--to names a folder, which other tools carry to a server (rsync, aws s3 sync, rclone), or a NATS server: nats://HOST"
            )
        }
        if follow || replicas != nil || server.isGiven {
            throw ValidationError(
                "--follow, --replicas and what a server is told are for nats://; a folder is shipped again"
            )
        }
    }

    /// - Throws: `EventLogError`: `invalidArgument` (exit 2) for a tree of another log, or that has other events; `locked` (11).
    func run() throws {
        let progress = output.progress("shipping")
        let store = try EventStore.open(at: log.path, options: .reporting(to: progress))
        var request = LogShipment.Request()
        (request.origin, request.writesEntries) = (origin, entries)
        request.key = try key.map { try SigningKeyFile.key(at: $0) }
        if NATSAddress.isAddress(to) { return try publish(store, request, progress) }
        let result = try LogShipment(of: store, to: to).run(request) { done, total in
            progress.report("shipped \(done) of \(total)", done: Int(clamping: done), total: Int(clamping: total))
        }
        progress.end()
        if result.isRewritten, !output.quiet {
            StandardError.line(
                "logtool: the log was rewritten, so all bundles are new: copies keep what is gone until files are removed there, too "
                    + "(rsync --delete, aws s3 sync --delete, rclone sync)"
            )
        }
        if result.lostSignature, !output.quiet {
            StandardError.line(
                "logtool: the checkpoint was signed before, and is not now: name --key; who asks for a signature takes nothing"
            )
        }
        let standard = output.standardOutput
        if document.json {
            try standard.line(JSONValue.object(Self.json(result)).lines)
        } else {
            try standard.line(Self.text(result, in: DisplayText.escaped(to)))
        }
        try standard.flush()
    }

    private static func text(_ result: LogShipment.Result, in tree: String) -> String {
        let checkpoint = result.checkpoint.checkpoint
        let signed = result.verifier.map { "\nverify it with --verifier \($0.text)" } ?? ""
        if result.bundles == 0 {
            return "\(tree) has everything already: \(checkpoint.size) events, root \(checkpoint.root)\(signed)"
        }
        let new = counted(Int(clamping: checkpoint.size - result.before), "new event")
        let bundles = counted(result.bundles, "bundle")
        return "shipped \(new) to \(tree) in \(bundles) of \(result.bytes) bytes: \(checkpoint.size) events, root "
            + "\(checkpoint.root)\(signed)"
    }

    private static func json(_ result: LogShipment.Result) -> JSONObject {
        let checkpoint = result.checkpoint.checkpoint
        return [
            "origin": .string(checkpoint.origin),
            "size": .string(String(checkpoint.size)),
            "root": .string(Base64.encode(checkpoint.root.bytes)),
            "before": .string(String(result.before)),
            "bundles": .int(result.bundles),
            "bytes": .string(String(result.bytes)),
            "rewritten": .bool(result.isRewritten),
            "verifier": .text(result.verifier?.text),
        ]
    }
}
