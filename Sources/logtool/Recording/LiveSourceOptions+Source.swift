#if Recorders
import ArgumentParser
import EventLog
import Ingest

extension LiveSourceOptions {
    /// The token's place; `nil` if none is given.
    var token: TokenSource? {
        tokenEnv.map { .environment($0) } ?? tokenFile.map { .file($0) }
    }
}

extension GatewaySourceOptions {
    /// The source that the options describe.
    ///
    /// Reads no token and reaches no network; `check` and `run` of the source do.
    ///
    /// - Throws: `ValidationError` without any token; `IngestError` for an unusable URL.
    func source(
        _ url: String,
        _ rest: RESTSourceOptions,
        _ live: LiveSourceOptions,
        name: SourceName
    ) throws -> any LiveSource {
        let refresh = refreshURL.flatMap { url in refreshFile.map { GatewaySource.Refresh(url: url, tokenFile: $0) } }
        guard live.token != nil || refresh != nil else {
            throw ValidationError("a gateway needs a token: give --token-env or --token-file")
        }
        return try GatewaySource(
            url: url,
            restBase: rest.base,
            intents: intents,
            token: live.token ?? .none,
            refresh: refresh,
            name: name,
            follows: live.follow
        )
    }
}

extension RealtimeSourceOptions {
    /// The source. Without a token it reads with the rights of the project's key.
    ///
    /// - Throws: `IngestError` for an unusable URL or table.
    func source(
        _ url: String,
        _ rest: RESTSourceOptions,
        _ live: LiveSourceOptions,
        name: SourceName
    ) throws -> any LiveSource {
        try RealtimeSource(
            url: url,
            restBase: rest.base,
            tables: table,
            apiKey: apiKeyEnv.map { .environment($0) },
            token: live.token,
            name: name,
            follows: live.follow
        )
    }
}

extension PolledSourceOptions {
    /// Copies the given options into settings. `--poll` both turns polling on and sets its interval. Tokens and
    /// addresses are not among them.
    func apply(to settings: inout SourceSettings) {
        settings.api = api
        settings.patterns = patterns
        settings.polls = poll != nil
        settings.interval = poll ?? interval
        settings.keyEnvironment = apiTokenEnv
        settings.environment = environment
    }
}
#endif
