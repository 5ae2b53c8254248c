#if Recorders
import EventLog
import Ingest
import Kinds
import Projections

/// One playback: a source of a log, the form in which it is served, and the options.
struct Playback: Sendable {
    let store: EventStore
    let form: PlayForm
    let source: SourceName
    var speed = PlaySpeed.max
    var isStepping = false
    /// The last event that only sets the state; zero plays from the first.
    var start = SequenceNumber.zero
    /// The last event that is given.
    var end: SequenceNumber
    /// True ends the playback once everything was given and the client has left.
    var endsWithClient = false
    /// Web origins that may send requests, besides this machine's.
    var origins: Set<String> = []

    /// The sources of a log that have events of a form's kind, in order. Reads no events.
    static func sources(of store: EventStore, as form: PlayForm) throws -> [SourceName] {
        try store.read { session in
            try session.kindsBySource().filter { $0.value.contains { $0.rawValue == form.kind.rawValue } }.keys.sorted()
        }
    }

    /// The one source to play: `wanted` if it fits the form, else the only one that fits.
    ///
    /// - Throws: `Failure` with exit code 1 if no source fits, 2 if several do.
    static func source(_ wanted: SourceName?, of store: EventStore, as form: PlayForm) throws -> SourceName {
        let sources = try sources(of: store, as: form)
        if let wanted {
            if sources.contains(wanted) { return wanted }
            throw Failure("play: source \"\(wanted)\" has no \(form.kind.rawValue) events", exitCode: Outcome.no)
        }
        if sources.count == 1 { return sources[0] }
        if sources.isEmpty { throw Failure("play: the log has no \(form.kind.rawValue) events", exitCode: Outcome.no) }
        let names = sources.map(\.rawValue).joined(separator: ", ")
        throw Failure("play: several sources can be played: \(names); choose one with --source")
    }

    /// Makes what the parts of the playback share.
    ///
    /// Cost: reads the log once up to `end`, for the places of its answers.
    func context() throws -> PlayContext {
        PlayContext(
            store: store,
            source: source,
            speed: speed,
            isStepping: isStepping,
            start: start,
            end: end,
            endsWithClient: endsWithClient,
            inbox: PlayInbox(),
            report: PlayReport(end: end),
            answers: try PlayAnswers(store: store, source: source, end: end),
            states: PlayStates(store: store, source: source)
        )
    }

    /// Serves a client until the task is cancelled or the playback ends. Only for forms with a server.
    ///
    /// - Parameter listening: Called once the server listens, before any client is played to.
    func serve(
        _ play: PlayContext,
        at address: PlayAddress,
        listening: @Sendable (PlayServer) -> Void
    ) async throws {
        let server = try await PlayServer.start(
            at: address,
            origins: origins,
            takesSockets: form == .gateway || form == .realtime,
            inbox: play.inbox,
            routes: routes(play)
        )
        listening(server)
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

    /// Walks through the script with the form's dialect. A dialect is made here, because READY needs the server's
    /// address.
    private func direct(_ play: PlayContext, _ server: PlayServer) async throws {
        switch form {
        case .sse: try await SocketPlay(play, dialect: StreamDialect()).run()
        case .realtime: try await SocketPlay(play, dialect: RealtimeDialect()).run()
        default:
            let heardUser = { @Sendable (user: String) in play.report.change { $0.user = user } }
            let dialect = GatewayDialect(url: "ws://\(server.hostAndPort)/", heardUser: heardUser) {
                let rows = GatewayRows(states: play.states, point: play.report.sequence)
                let guilds = (try? rows.guilds().compactMap { $0["id"]?.string }) ?? []
                return GatewayText.ready(guilds: guilds)
            }
            try await SocketPlay(play, dialect: dialect).run()
        }
    }

    /// The routes of the form's remote, behind those of playback itself.
    func routes(_ play: PlayContext) -> PlayServer.Routes {
        let remote: any RemoteRoutes =
            switch form {
            case .gateway: GatewayRoutes()
            case .sse: ItemsRoutes()
            case .realtime: RealtimeRoutes()
            case .files, .git: NoRoutes()
            }
        let routes = PlayRoutes(play: play, remote: remote)
        return { await routes.answer($0) }
    }
}
#endif
