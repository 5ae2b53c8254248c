import ArgumentParser
import EventLog
import Ingest
import Logging
import Metrics
import ServiceLifecycle
import UnixSignals

/// `logtool record --config FILE`: many sources into one or more logs, for days.
struct RecordCommand: AsyncParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record many sources into one or more logs until interrupted.",
        usage: "logtool record --config FILE [options]",
        discussion: """
            Each source that fails is started again, without disturbing the others. SIGINT and SIGTERM end it with
            everything durable, SIGHUP reads the file again: sources that stand there as before go on undisturbed.
            """
    )

    static let examples = [
        Example("logtool record --config recorders.yaml", "record everything the file names"),
        Example("logtool record --config recorders.yaml --check", "only say whether the file can be used"),
    ]

    @Option(help: ArgumentHelp("The file that names logs and sources (YAML).", valueName: "file"), completion: .file())
    var config: String

    @Flag(help: "Only read the file and say what is wrong with it.")
    var check = false

    @Option(help: ArgumentHelp("How much faster than the world all waiting goes, for tests.", visibility: .hidden))
    var speed: Double = 1

    @OptionGroup(title: "Options of the logs") var write: WriteOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard speed >= 0.001, speed <= 1_000 else { throw ValidationError("--speed is a number from 0.001 to 1000") }
    }

    func run() async throws {
        let configuration = try RecordConfiguration(path: config)
        if check { return try say(configuration) }
        let level: Logger.Level = output.quiet ? .error : .info
        let tools = try LiveTools.machine(trustFile: configuration.trustFile, level: level, speed: speed)
        let registry = MetricsRegistry()
        if configuration.metrics != nil { MetricsSystem.bootstrap(registry) }
        let (orders, continuation) = AsyncStream<Supervisor.Order>.makeStream()
        continuation.yield(.run(configuration))
        let signals = SignalService(signals: await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)) {
            [config, log = tools.log] in Self.reload(config, continuation, log)
        }
        var services = [
            ServiceGroupConfiguration.ServiceConfiguration(
                service: Supervisor(options: write.storeOptions, tools: tools, orders: orders)
            ),
            .init(service: signals, successTerminationBehavior: .gracefullyShutdownGroup),
        ]
        if let address = configuration.metrics {
            services.append(.init(service: try MetricsService(address: address, registry: registry, log: tools.log)))
        }
        let group = ServiceGroup(configuration: .init(services: services, logger: Self.quiet))
        try await group.run()
        try await tools.http.shutdown()
        throw ExitCode(signals.code ?? 0)
    }

    /// A file that cannot be used changes nothing.
    private static func reload(_ path: String, _ orders: AsyncStream<Supervisor.Order>.Continuation, _ log: Logger) {
        do {
            orders.yield(.run(try RecordConfiguration(path: path)))
            log.notice("read the configuration again")
        } catch {
            log.error("kept the old configuration", metadata: ["error": "\(error)"])
        }
    }

    private func say(_ configuration: RecordConfiguration) throws {
        let output = output.standardOutput
        for entry in configuration.entries {
            let line = "\(entry.log)  \(entry.name)  \(entry.settings.kind.rawValue)"
            try output.line(DisplayText.escaped(line))
        }
        try output.flush()
    }

    /// What the group of services says of itself is of no use to people.
    private static var quiet: Logger {
        Logger(label: "services") { _ in StandardErrorLog(logLevel: .critical) }
    }
}
