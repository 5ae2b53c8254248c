#if Recorders
import ArgumentParser
import EventLog
import Ingest
import Logging
import Metrics
import UnixSignals

extension RecordCommand {
    /// Records the configured sources until a signal comes. Four tasks run side by side: signals, recorders, metrics,
    /// and this one, which waits for them.
    ///
    /// - Throws: `ExitCode` 128 + signal once a signal has ended it in order. `Failure` for a configuration that cannot
    ///   be used, before any recorder starts; NIO's error if the metrics' address is taken, after the recorders have
    ///   stopped.
    func run() async throws {
        let configuration = try RecordConfiguration(path: config)
        // Reading the file has checked it.
        if check { return try say(configuration) }
        // Recorders run for days: what happens to them goes to standard error (`StandardErrorLog`).
        let level: Logger.Level = output.quiet ? .error : .info
        let tools = try LiveTools.machine(trustFile: configuration.trustFile, level: level, speed: speed)
        let registry = MetricsRegistry()
        // swift-metrics takes its backend once for each process, before any metric is made.
        if configuration.metrics != nil { MetricsSystem.bootstrap(registry) }
        let (configurations, continuation) = AsyncStream<RecordConfiguration>.makeStream()
        continuation.yield(configuration)
        // Trapped before the first recorder starts, so that no signal finds one running without the way to end it.
        let signals = SignalService(signals: await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)) {
            [config, log = tools.log] in Self.reload(config, continuation, log)
        }
        let supervisor = Supervisor(
            options: write.storeOptions(isQuiet: output.quiet),
            tools: tools,
            configurations: configurations
        )
        // `metrics` and `ca-file` are read at the start alone; a SIGHUP does not change them.
        let metrics = try configuration.metrics.map {
            try MetricsService(address: $0, registry: registry, log: tools.log)
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                await signals.run()
                // The supervisor ends once no further configuration can come, after its recorders have stopped.
                continuation.finish()
                return false
            }
            group.addTask {
                await supervisor.run()
                return true
            }
            if let metrics {
                group.addTask {
                    try await metrics.run()
                    return false
                }
            }
            // The recorders end last. A failure, such as an address that is taken, ends them too.
            for try await isOver in group where isOver { group.cancelAll() }
        }
        // Connections must be closed before the last reference to the client is released.
        try await tools.http.shutdown()
        throw ExitCode(signals.code ?? 0)
    }

    /// Reads the configuration again. A file with a mistake changes nothing, so that a typing error does not stop
    /// recorders. `Supervisor` compares the new one with what runs.
    private static func reload(
        _ path: String,
        _ configurations: AsyncStream<RecordConfiguration>.Continuation,
        _ log: Logger
    ) {
        do {
            configurations.yield(try RecordConfiguration(path: path))
            log.notice("read the configuration again")
        } catch {
            log.error("kept the old configuration", metadata: ["error": "\(error)"])
        }
    }

    /// Prints each source with its log and kind. Names in a configuration are escaped, because a log's path may contain
    /// anything.
    private func say(_ configuration: RecordConfiguration) throws {
        let output = output.standardOutput
        for entry in configuration.entries {
            let line = "\(entry.log)  \(entry.name)  \(entry.settings.kind.rawValue)"
            try output.line(DisplayText.escaped(line))
        }
        try output.flush()
    }
}
#endif
