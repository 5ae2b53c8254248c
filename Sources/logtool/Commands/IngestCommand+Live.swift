#if Recorders
import ArgumentParser
import EventLog
import Ingest
import Projections

extension IngestCommand {
    /// Records a live source until it ends or a signal comes.
    ///
    /// - Parameters:
    ///   - decoder: What is to read the source from now on, too.
    ///   - head: behind which the source begins; `nil` if it is not new, or a file reads it.
    /// - Throws: `ExitCode` 128 + signal after a signal, as shells count.
    func recordLive(_ decoder: DecoderFile?, _ head: SequenceNumber?) async throws {
        let source = try settings().makeSource(follows: live.follow || anyApp.every != nil)
        let options = write.storeOptions(isQuiet: output.quiet)
        let run = LiveIngest(
            log: log,
            options: options,
            trustFile: live.access.caFile,
            isQuiet: output.quiet,
            rules: try RedactionRules(redact),
            decoder: decoder
        )
        // The summary is printed also after a signal: what it counts is durable.
        let (summary, signal) = try await run.record(source)
        try IngestSummaryPrinter(output: output.standardOutput, summary: summary).print(asJSON: document.json)
        try AppArgument.judge(source.name, behind: head, in: log, isQuiet: output.quiet)
        if let signal { throw ExitCode(128 + signal) }
    }

    /// The settings, which are also those of `record --config`. Both kinds have the same words; `sse` never stands in,
    /// because other kinds do not come here.
    ///
    /// - Throws: `ValidationError` for a gateway without any token.
    private func settings() throws -> SourceSettings {
        var settings = SourceSettings(kind: SourceSettings.Kind(rawValue: kind.rawValue) ?? .sse, address: address)
        (settings.name, settings.branch) = (name, git.branch)
        settings.allowsAlternates = git.allowAlternates
        (settings.tokenEnvironment, settings.tokenFile) = (live.access.tokenEnv, live.access.tokenFile)
        settings.rest = rest.base
        settings.intents = gateway.intents
        (settings.greetings, settings.subprotocol) = (anyApp.send, anyApp.subprotocol)
        (settings.refreshURL, settings.refreshFile) = (gateway.refreshURL, gateway.refreshFile)
        settings.tables = realtime.table
        settings.api = polled.api
        settings.patterns = polled.patterns
        // `--poll` both turns polling on and sets its interval.
        settings.polls = polled.poll != nil
        settings.interval = polled.poll ?? polled.interval ?? anyApp.every
        settings.keyEnvironment = realtime.apiKeyEnv ?? polled.apiTokenEnv
        settings.environment = polled.environment
        if kind == .gateway, live.access.tokenEnv == nil, live.access.tokenFile == nil, gateway.refreshFile == nil {
            throw ValidationError("a gateway needs a token: give --token-env or --token-file")
        }
        return settings
    }
}
#endif
