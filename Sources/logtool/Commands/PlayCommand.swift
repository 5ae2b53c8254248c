import ArgumentParser
import EventLog
import Playback
import Projections

/// `logtool play`: gives a recording back to an unmodified client.
///
/// The recording is given byte for byte, to this machine alone (I32). Nothing is written to the log. Builds without the
/// trait `Recorders` parse it and refuse to run it (`WithoutRecorders.swift`).
struct PlayCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Give a recording back to an unmodified client.",
        usage: """
            logtool play LOG --as ws|http|sse|gateway|realtime [--listen ADDRESS] [options]
            logtool play LOG --as files|git --to DIR [options]
            """,
        discussion: """
            Stands in for the remote, on this machine alone; no token is checked. Where the client does otherwise than the \
            recording, play goes on and lists it at the end. While it plays: GET /_play/position, GET /_play/state, POST \
            /_play/step. A server goes on until it is interrupted, or until its client has gone with --once.
            """
    )

    static let examples = [
        Example(
            "logtool play chat.eventlog --as gateway --listen 127.0.0.1:4000",
            "point the client at http://127.0.0.1:4000"
        ),
        Example("logtool play bug.eventlog --as ws --speed max", "the WebSockets and answers of any app"),
        Example("logtool play chat.eventlog --as gateway --speed max --until 4711", "all at once, up to an event"),
        Example("logtool play chat.eventlog --as gateway --step", "the next event at each Enter or POST /_play/step"),
        Example("logtool play work.eventlog --as sse --from head~100", "the state there, then what followed"),
        Example("logtool play vibe.eventlog --as git --to chat.git --speed max", "a repository that grows as it did"),
    ]

    @OptionGroup var log: LogOptions

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("What to stand in for: ws, http, sse, gateway, realtime, files or git.", valueName: "form")
    )
    var form: PlayForm

    @OptionGroup var listening: ListenOptions

    /// `files` and `git` need it; servers refuse it.
    @Option(help: ArgumentHelp("Where the files or the repository go.", valueName: "dir"), completion: .directory)
    var to: String?

    @Option(help: ArgumentHelp("With --as git: the branch that grows.", valueName: "branch"))
    var branch = "vibechannel"

    @Option(
        help: ArgumentHelp("The source to play; needed where several fit.", valueName: "source"),
        completion: Completions.sources,
        transform: SourceArgument.parse
    )
    var source: SourceName?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How much faster than recorded: 1, 20, max.", valueName: "n"),
        transform: PlaySpeed.parse
    )
    var speed = PlaySpeed.times(1)

    /// Takes the place of the recorded pauses (`PlayPace`).
    @Flag(help: "Give one event at each Enter or POST /_play/step.")
    var step = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Begin with the state there.", valueName: "point"),
        transform: PointArgument.parse
    )
    var from: Point?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The last event to give; default: head.", valueName: "point"),
        transform: PointArgument.parse
    )
    var until: Point?

    /// Browsers send the origin of a page. Any other than this machine's could read a recording through a visitor's
    /// browser.
    @Option(help: ArgumentHelp("Another origin that may ask; pages of this machine may.", valueName: "url"))
    var origin: [String] = []

    @Flag(help: "End once all is given and the client has gone.")
    var once = false

    /// Without it, a directory that is not empty is refused with exit code 4.
    @Flag(help: "Write into a directory that is not empty.")
    var yes = false

    @OptionGroup var document: JSONOption
    @OptionGroup var output: OutputOptions

    /// Checks what the options alone can show. The branch is checked here because git gets it as an argument.
    func validate() throws {
        // The characters that git-check-ref-format(1) forbids in a name. A leading dash would make it an option of git.
        if branch.hasPrefix("-") || !branch.utf8.allSatisfy({ $0 > 0x20 && !"~^:?*[\\\u{7F}".utf8.contains($0) }) {
            throw ValidationError("--branch \(branch): this is no name of a branch")
        }
        if form.isServer {
            if to != nil { throw ValidationError("--to goes with --as files and --as git") }
            if step, form == .http { throw ValidationError("--step does not go with --as http: the client asks") }
        } else {
            if to == nil { throw ValidationError("--as \(form.rawValue) needs --to DIR") }
            if once { throw ValidationError("--once goes with a server; --as \(form.rawValue) ends by itself") }
        }
    }
}
