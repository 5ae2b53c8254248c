#if Recorders
import ArgumentParser
import EventLog
import Ingest
import Logging
import Metrics
import ServiceLifecycle
import UnixSignals

extension RecordCommand {
    /// Records the configured sources until a signal comes.
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
                service: Supervisor(options: write.storeOptions(isQuiet: output.quiet), tools: tools, orders: orders)
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

    /// Reads the configuration again. A file with a mistake changes nothing.
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

    /// The service group's own messages are of no use to people.
    private static var quiet: Logger {
        Logger(label: "services") { _ in StandardErrorLog(logLevel: .critical) }
    }
}
#endif
