#if Recorders
public import EventLog
import Ingest
import Kinds
public import Projections

/// One playback: a source of a log, the form in which it is served, and the options.
///
/// A client that connects gets the recorded bytes, as far as the protocol allows, and recorded answers to its requests. The log
/// is only read. Events that are appended later are not played: the last one is fixed at the start.
public struct LogPlayback: Sendable {
    let store: EventStore
    /// The kind of remote that is replaced.
    public let form: PlayForm
    /// The source whose events are played.
    public let source: SourceName
    /// How fast events are given.
    public var speed = PlaySpeed.max
    package var isStepping = false
    /// The last event that only sets the state: the client sees its effect, not the event. Zero plays from the first.
    public var start = SequenceNumber.zero
    /// The last event that is given.
    public var end: SequenceNumber
    /// True ends the playback once everything was given and the client has left.
    public var endsWithClient = false
    /// Web origins that may send requests, besides this machine's.
    public var origins: Set<String> = []
    /// How the log is folded for requests without a recorded answer.
    let options: ReplayOptions

    /// Chooses what is played, and reads no events.
    ///
    /// - Parameters:
    ///   - form: What to serve as; `nil` for the one form with a server that the log's events fit.
    ///   - wanted: The source to play; `nil` for the only one that fits the form.
    ///   - end: The last event that is given; `nil` for the log's head.
    ///   - options: How the log is folded for requests without a recorded answer.
    /// - Throws: `EngineError` with code `no` if no source fits the form, with `trouble` if several do, or if not exactly one
    ///   form fits.
    public init(
        of store: EventStore,
        as form: PlayForm? = nil,
        source wanted: SourceName? = nil,
        through end: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions()
    ) throws {
        let form = try form ?? Self.form(of: store)
        (self.store, self.form, self.options) = (store, form, options)
        source = try Self.source(wanted, of: store, as: form)
        self.end = try end ?? store.read { $0.head }
    }

    private static func form(of store: EventStore) throws -> PlayForm {
        let servers = PlayForm.allCases.filter(\.isServer)
        var forms = try servers.filter { try !sources(of: store, as: $0).isEmpty }
        // The other forms give the source's answers, too.
        if forms.count > 1 { forms.removeAll { $0 == .http } }
        if forms.count == 1 { return forms[0] }
        let names = (forms.isEmpty ? servers : forms).map(\.rawValue)
        let has = forms.isEmpty ? "nothing that a server gives" : "several"
        throw EngineError(
            "bisect: the log holds \(has); say what to play with --play-as: \(names.joined(separator: ", "))"
        )
    }

    /// The sources of a log that have events of a form's kind, in order. Reads no events.
    private static func sources(of store: EventStore, as form: PlayForm) throws -> [SourceName] {
        try store.read { session in
            try session.kindsBySource().filter { $0.value.contains { $0.rawValue == form.kind.rawValue } }.keys.sorted()
        }
    }

    private static func source(_ wanted: SourceName?, of store: EventStore, as form: PlayForm) throws -> SourceName {
        let sources = try sources(of: store, as: form)
        if let wanted {
            if sources.contains(wanted) { return wanted }
            throw EngineError("play: source \"\(wanted)\" has no \(form.kind.rawValue) events", code: .no)
        }
        if sources.count == 1 { return sources[0] }
        if sources.isEmpty { throw EngineError("play: the log has no \(form.kind.rawValue) events", code: .no) }
        let names = sources.map(\.rawValue).joined(separator: ", ")
        throw EngineError("play: several sources can be played: \(names); choose one with --source")
    }

    /// Serves clients while `client` runs, and gives back what it returns with the report of the playback.
    ///
    /// `client` gets the server's URL, such as `http://127.0.0.1:40123`. WebSockets are at the same address. Once it has
    /// returned, the server stops; a playback that ends with its client ends by itself before. Only for forms with a server.
    ///
    /// - Parameter address: Where to listen, on this machine alone.
    /// - Throws: what `client` throws; `EngineError` if the address cannot be bound; `EventLogError` if the log cannot be read.
    public func serving<Value: Sendable>(
        at address: PlayAddress = .free,
        _ client: @escaping @Sendable (_ url: String) async throws -> Value
    ) async throws -> (value: Value, report: PlayReport.Contents) {
        let play = try context()
        let (addresses, listening) = AsyncThrowingStream.makeStream(of: String.self)
        let server = Task {
            do {
                try await serve(play, at: address) { listening.yield($0) }
            } catch {
                listening.finish(throwing: error)
                if !(error is CancellationError) { throw error }
            }
        }
        return try await withTaskCancellationHandler {
            let result: Result<Value, any Error>
            do {
                var iterator = addresses.makeAsyncIterator()
                guard let address = try await iterator.next() else { throw CancellationError() }
                result = .success(try await client("http://\(address)"))
            } catch {
                result = .failure(error)
            }
            server.cancel()
            // An event that is not as it was appended counts more than what the client made of the rest.
            try await server.value
            return (try result.get(), play.report.now)
        } onCancel: {
            server.cancel()
        }
    }

    /// Makes what the parts of the playback share.
    ///
    /// Cost: reads the log once up to `end`, for the places of its answers.
    package func context() throws -> PlayContext {
        let tracks = try tracks()
        return PlayContext(
            store: store,
            source: source,
            speed: speed,
            isStepping: isStepping,
            start: start,
            end: end,
            endsWithClient: endsWithClient,
            inbox: PlayInbox(),
            report: PlayReport(end: end),
            answers: try PlayAnswers(store: store, source: source, from: start, through: end),
            tracks: form == .ws || Set(tracks.map(\.route)).count > 1 ? tracks : [],
            stream: form == .sse ? tracks.first?.route : nil,
            states: PlayStates(store: store, source: source, options: options)
        )
    }

    /// The connections of WebSockets of any app, and of event streams whose events name their path.
    private func tracks() throws -> [PlayTrack] {
        guard form == .ws || form == .sse else { return [] }
        return try PlayTrack.tracks(in: store, of: source, kind: form.kind, start, end)
    }

    /// Serves a client until the task is cancelled or the playback ends. Only for forms with a server.
    ///
    /// - Parameter listening: Called once the server listens, before any client is played to.
    package func serve(
        _ play: PlayContext,
        at address: PlayAddress,
        listening: @Sendable (_ hostAndPort: String) -> Void
    ) async throws {
        let server = try await PlayServer.start(
            at: address,
            origins: origins,
            takesSockets: form == .ws || form == .gateway || form == .realtime,
            inbox: play.inbox,
            routes: routes(play)
        )
        listening(server.address.hostAndPort)
        // `stop` suspends, so `defer` cannot call it.
        let result: Result<Void, any Error>
        do {
            try await direct(play, server)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try result.get()
    }

    /// Writes the script's files or commits into a directory. Only for forms without a server.
    ///
    /// - Parameters:
    ///   - branch: The branch that grows, for commits.
    ///   - mayOverwrite: Whether the directory may have something in it.
    ///   - address: Where play's own routes are served meanwhile; `nil` for nowhere. Files have no remote's protocol.
    /// - Throws: `EngineError`, with code `refused` for a directory that may not be written into; `CancellationError`.
    package func write(
        _ play: PlayContext,
        to directory: String,
        branch: String,
        mayOverwrite: Bool,
        at address: PlayAddress?,
        listening: @Sendable (_ hostAndPort: String) -> Void
    ) async throws {
        var server: PlayServer?
        if let address {
            server = try await PlayServer.start(
                at: address,
                origins: origins,
                takesSockets: false,
                inbox: play.inbox,
                routes: routes(play)
            )
            server.map { listening($0.address.hostAndPort) }
        }
        if form == .files {
            var files = try FilesPlay(play, directory: directory, mayOverwrite: mayOverwrite)
            try await files.run()
        } else {
            var repository = try GitPlay(play, directory: directory, branch: branch, mayOverwrite: mayOverwrite)
            try await repository.run()
        }
        // Not reached after an error, which ends the process and the server with it.
        await server?.stop()
    }

    /// Walks through the script with the form's dialect. A dialect is made here, because READY needs the server's
    /// address.
    private func direct(_ play: PlayContext, _ server: PlayServer) async throws {
        switch form {
        case .ws, .http: try await TracksPlay(play).run()
        case .sse where !play.tracks.isEmpty: try await TracksPlay(play).run()
        case .sse: try await SocketPlay(play, dialect: StreamDialect()).run()
        case .realtime: try await SocketPlay(play, dialect: RealtimeDialect()).run()
        default:
            let heardUser = { @Sendable (user: String) in play.report.change { $0.user = user } }
            let dialect = GatewayDialect(url: "ws://\(server.address.hostAndPort)/", heardUser: heardUser) {
                let rows = GatewayRows(states: play.states, point: play.report.sequence)
                let guilds = (try? rows.guilds().compactMap { $0["id"]?.string }) ?? []
                return GatewayText.ready(guilds: guilds)
            }
            try await SocketPlay(play, dialect: dialect).run()
        }
    }

    /// The routes of the form's remote, behind those of playback itself.
    private func routes(_ play: PlayContext) -> PlayServer.Routes {
        let remote: any RemoteRoutes =
            switch form {
            case .gateway: GatewayRoutes()
            case .ws, .http: GenericRoutes(streams: [])
            case .sse where !play.tracks.isEmpty: GenericRoutes(streams: Set(play.tracks.map(\.route)))
            case .sse: ItemsRoutes(stream: play.stream)
            case .realtime: RealtimeRoutes()
            case .files, .git: NoRoutes()
            }
        let routes = PlayRoutes(play: play, remote: remote)
        return { await routes.answer($0) }
    }
}
#endif
