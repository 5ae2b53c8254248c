import ArgumentParser
import EventLog
import JSON
import Projections

/// `logtool backup`: copies a log while others write it.
///
/// Not a copy of the files: `cp` of a log that is being written gives pages of different commits. The store copies from
/// read sessions, so writers never wait for it.
struct BackupCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a log as it is at one moment, while writing goes on, and verify the copy.",
        usage: "logtool backup LOG DEST [options]",
        discussion: """
            The copy is a log, the same one: identity, sequences, root. It appears at its place whole and verified, or \
            not at all. Nothing is overwritten.
            """
    )

    static let examples = [
        Example("logtool backup chat.eventlog /backup/chat-1.eventlog", "a copy of the log as it is now"),
        Example("logtool root /backup/chat-1.eventlog", "its size and root; a copy is a log as any other"),
    ]

    @OptionGroup var log: LogOptions

    @Argument(
        help: ArgumentHelp("Where the copy goes; nothing may be there.", valueName: "dest"),
        completion: .directory
    )
    var destination: String

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Copies, verifies and prints. The root is base64 in JSON and hex for people, as everywhere.
    ///
    /// - Throws: `EventLogError` with code `invalidArgument` (exit 2) if anything exists at the destination, with
    ///   `damaged` (exit 3) if the log, and so its copy, is damaged. No copy appears then.
    func run() throws {
        let progress = output.progress("copying")
        // Not `LogOptions.open`: one progress line shows the check of the pages and the copying.
        let store = try EventStore.open(at: log.path, options: .reporting(to: progress))
        let report = try store.backup(to: destination)
        progress.end()
        let output = output.standardOutput
        if document.json {
            let members: JSONObject = [
                "path": .string(destination),
                "treeSize": .string(report.head.description),
                "root": .string(Base64.encode(report.root.bytes)),
            ]
            try output.line(JSONValue.object(members).text)
        } else {
            let path = DisplayText.escaped(destination)
            try output.line("copied and verified: sequences 1 to \(report.head), root \(report.root), in \(path)")
        }
        try output.flush()
    }
}
