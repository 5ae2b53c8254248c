#if Recorders
import ArgumentParser
import Ingest

extension IngestCommand {
    /// Records a live source until it ends or a signal comes.
    ///
    /// - Throws: `ExitCode` 128 + signal after a signal, as shells count.
    func recordLive() async throws {
        let source: any LiveSource =
            switch kind {
            case .realtime: try realtime.source(address, rest, live, name: try sourceName())
            case .gateway: try gateway.source(address, rest, live, name: try sourceName())
            default: try polledSource()
            }
        let options = write.storeOptions(isQuiet: output.quiet)
        let run = LiveIngest(
            log: log,
            options: options,
            trustFile: live.caFile,
            isQuiet: output.quiet,
            rules: try RedactionRules(redact)
        )
        // The summary is printed also after a signal: what it counts is durable.
        let (summary, signal) = try await run.record(source)
        try IngestSummaryPrinter(output: output.standardOutput, summary: summary).print(asJSON: document.json)
        if let signal { throw ExitCode(128 + signal) }
    }

    /// A source whose settings are also those of `record --config`. Both kinds have the same words; `sse` never stands
    /// in, because other kinds do not come here.
    private func polledSource() throws -> any LiveSource {
        var settings = SourceSettings(kind: SourceSettings.Kind(rawValue: kind.rawValue) ?? .sse, address: address)
        (settings.name, settings.branch) = (name, git.branch)
        settings.allowsAlternates = git.allowAlternates
        (settings.tokenEnvironment, settings.tokenFile) = (live.tokenEnv, live.tokenFile)
        polled.apply(to: &settings)
        return try settings.makeSource(follows: live.follow)
    }
}
#endif
