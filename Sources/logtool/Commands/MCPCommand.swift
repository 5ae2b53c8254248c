import ArgumentParser
import EventLog

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `logtool mcp`: lets an agent look at logs, by the Model Context Protocol.
///
/// It opens the logs to see that they are there; `AgentServer` answers, and has each question answered by a command of this program.
struct MCPCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Let an agent look at logs: the Model Context Protocol over standard input and output.",
        usage: "logtool mcp LOG… [--writes-into DIR] [options]",
        discussion: """
            The tools read (replay, history, audit, events, diff, bisect, gaps, stats, profiles, decoder_check, sql) and give the \
            JSON that the commands print, in pages. With --writes-into there are freeze and shrink, too; the client confirms each \
            call of them. Nothing else is written, no other file is read, and no command of an agent is run.
            """
    )

    static let examples = [
        Example("logtool mcp chat.eventlog", "what a client starts; it ends with the client"),
        Example(
            "logtool mcp chat.eventlog notes.eventlog --writes-into Tests/Fixtures",
            "two logs, and fixtures of them"
        ),
    ]

    @Argument(help: ArgumentHelp("The logs that an agent may read.", valueName: "log"), completion: .directory)
    var logs: [String]

    @Option(
        help: ArgumentHelp(
            "The folder that freeze and shrink write into; without it there is neither.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var writesInto: String?

    @Option(help: ArgumentHelp("The most bytes of one answer; the rest comes by its cursor.", valueName: "n"))
    var pageBytes = 50_000

    @Option(
        help: ArgumentHelp("How long one question may take: 90s, 30m.", valueName: "duration"),
        transform: DurationText.parse
    )
    var timeout: Duration = .seconds(120)

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if !(1_000...10_000_000).contains(pageBytes) {
            throw ValidationError("--page-bytes is between 1000 and 10000000")
        }
    }

    /// Serves until the client closes its end.
    ///
    /// - Throws: `EventLogError` with code `noLog` for a log that is not there; `Failure` for a folder that is not there.
    func run() throws {
        for log in logs { _ = try LogOptions.open(log, isQuiet: true) }
        let folder = try writesInto.map { folder in
            var information = stat()
            guard stat(folder, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
                throw Failure("write into \"\(folder)\": it is no folder; make it first")
            }
            return folder
        }
        let inbox = AgentInbox()
        let server = AgentServer(
            logs: Self.named(logs),
            folder: folder,
            pageBytes: pageBytes,
            timeout: timeout,
            inbox: inbox,
            output: StandardOutput(style: .plain)
        )
        DetachedThread.start { inbox.read() }
        do {
            try server.serve()
        } catch is BrokenPipe {
            // The client is gone.
        }
    }

    /// The logs with the last parts of their paths, or the whole paths where two are the same.
    private static func named(_ paths: [String]) -> [(name: String, path: String)] {
        let names = paths.map { path in
            path.split(separator: "/").last.map(String.init) ?? path
        }
        return zip(names, paths).map { name, path in
            (names.filter { $0 == name }.count > 1 ? path : name, path)
        }
    }
}
