import ArgumentParser

/// `logtool record --config FILE`: many sources into one or more logs, for days.
///
/// It reads no log and prints no result; `RecordCommand+Run.swift` has the run, `Supervisor` the restarts.
struct RecordCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record many sources into one or more logs until interrupted.",
        usage: "logtool record --config FILE [options]",
        discussion: """
            Each source that fails is started again, without disturbing the others. SIGINT and SIGTERM end it with \
            everything durable, SIGHUP reads the file again: sources that stand there as before go on undisturbed.
            """
    )

    static let examples = [
        Example("logtool record --config recorders.yaml", "record everything the file names"),
        Example("logtool record --config recorders.yaml --check", "only say whether the file can be used"),
    ]

    @Option(help: ArgumentHelp("The file that names logs and sources (YAML).", valueName: "file"), completion: .file())
    var config: String

    /// Makes each source without contacting its remote. Tokens are not read, so they may be missing on the machine that
    /// checks.
    @Flag(help: "Only read the file and say what is wrong with it.")
    var check = false

    /// Divides every pause of recorders. Times that events carry stay the machine's.
    @Option(help: ArgumentHelp("How much faster than the world pauses are over, for tests.", visibility: .hidden))
    var speed: Double = 1

    @OptionGroup(title: "Options of the logs") var write: WriteOptions
    @OptionGroup var output: OutputOptions

    /// Bounds the factor, so that a pause neither overflows nor becomes a busy loop.
    func validate() throws {
        guard speed >= 0.001, speed <= 1_000 else { throw ValidationError("--speed is a number from 0.001 to 1000") }
    }
}
