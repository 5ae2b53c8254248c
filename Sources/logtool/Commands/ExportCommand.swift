import ArgumentParser
import EventLog
import Projections

/// `logtool export`: writes a whole log as JSON lines.
struct ExportCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a whole log as JSON lines, from which import makes the same log again.",
        usage: "logtool export LOG [-o FILE] [options]",
        discussion: """
            The first line is a header with identity, size and root; each other line is an event with everything that \
            its hash covers, or what is left of events that were dropped. Always the whole log; a part of the events \
            is what events --jsonl --payload lists.
            """
    )

    static let examples = [
        Example("logtool export chat.eventlog -o chat.ndjson", "the whole log in a file"),
        Example("logtool export chat.eventlog | ssh host logtool import chat.eventlog -", "to another machine"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file; default: standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String = "-"

    @Flag(help: "Overwrite the file.")
    var yes = false

    @OptionGroup var speech: OutputOptions

    func run() throws {
        let store = try log.open(isQuiet: speech.quiet)
        let progress = speech.progress("exporting")
        if output == "-" {
            let standard = speech.standardOutput
            try store.read { try Self.write($0, progress) { try standard.write($0) } }
            progress.end()
            return try standard.flush()
        }
        let file = try OutputFile(output, overwrites: yes)
        try store.read { try Self.write($0, progress) { try file.add($0) } }
        progress.end()
        try file.finish()
    }

    private static func write(
        _ session: borrowing ReadSession,
        _ progress: Progress,
        to output: ([UInt8]) throws -> Void
    ) throws {
        let total = Int(clamping: session.head.rawValue)
        var line: [UInt8] = []
        func write(_ value: JSONValue) throws {
            line.removeAll(keepingCapacity: true)
            value.append(to: &line, members: .own)
            line.append(UInt8(ascii: "\n"))
            try output(line)
        }
        try write(ExportedLog.header(session.header()))
        try session.forEachPiece { piece in
            try write(ExportedLog.line(piece))
            guard case .event(let event) = piece else { return }
            let done = Int(clamping: event.envelope.sequence.rawValue)
            progress.report("exported \(done) events", done: done, total: total)
        }
    }
}
