#if Recorders
import ArgumentParser
import EventLog
import Ingest
import Projections

extension ProxyCommand {
    /// Serves and records until a signal comes.
    ///
    /// - Throws: `ExitCode` 128 + signal; `IngestError` for a target or an address that cannot be used.
    func run() async throws {
        let address = try serving.address(defaultPort: 4000)
        let (isQuiet, to) = (output.quiet, to)
        let source = try ProxySource(
            target: to,
            name: serving.name.map { try SourceName($0) },
            host: address.host,
            port: address.port,
            faults: faults.proxyFaults,
            allowsRemote: serving.allowRemote
        ) { port in
            guard !isQuiet else { return }
            StandardError.line(
                DisplayText.escaped("logtool: proxy at http://\(address.authority(port: port)) for \(to)")
            )
        }
        let decoder = try decoder.map { try DecoderArgument.file($0, for: source.name, of: log) }
        let head = decoder == nil ? try AppArgument.headBefore(source.name, in: log) : nil
        let run = LiveIngest(
            log: log,
            options: write.storeOptions(isQuiet: isQuiet),
            trustFile: caFile,
            isQuiet: isQuiet,
            rules: try RedactionRules(redact),
            decoder: decoder
        )
        let (summary, signal) = try await run.record(source)
        try IngestSummaryPrinter(output: output.standardOutput, summary: summary).print(asJSON: document.json)
        try AppArgument.judge(source.name, behind: head, in: log, isQuiet: isQuiet)
        if let signal { throw ExitCode(128 + signal) }
    }
}

extension ObserveCommand {
    /// Serves and records until a signal comes.
    ///
    /// - Throws: as `ProxyCommand.run`.
    func run() async throws {
        let address = try serving.address(defaultPort: 4001)
        let isQuiet = output.quiet
        let source = ProxySource(
            observations: try SourceName(serving.name ?? "observed"),
            host: address.host,
            port: address.port,
            allowsRemote: serving.allowRemote
        ) { port in
            guard !isQuiet else { return }
            StandardError.line("logtool: observations at http://\(address.authority(port: port))/_eventlog/observed")
        }
        let run = LiveIngest(
            log: log,
            options: write.storeOptions(isQuiet: isQuiet),
            trustFile: nil,
            isQuiet: isQuiet,
            rules: .none,
            decoder: nil
        )
        let (summary, signal) = try await run.record(source)
        try IngestSummaryPrinter(output: output.standardOutput, summary: summary).print(asJSON: document.json)
        if let signal { throw ExitCode(128 + signal) }
    }
}

extension FaultOptions {
    /// The faults that are asked for.
    fileprivate var proxyFaults: ProxyFaults {
        var made = ProxyFaults()
        made.cutsAfter = Set(cutAfter + (faults == .reconnect ? [3] : []))
        (made.cutEvery, made.delay, made.isHalfOpen) = (cutEvery, delay, halfOpen)
        (made.drops, made.swaps, made.duplicates) = (Set(drop), Set(swap), Set(duplicate))
        return made
    }
}
#endif
