#if Recorders
import EventLog

/// The settings of a gateway recorder.
struct GatewayConfiguration: Sendable {
    var endpoint: WebSocketEndpoint
    /// The base of the REST routes, such as `https://chat.example.org/api/v1`; `nil` takes no snapshots.
    var restBase: String?
    /// The service whose REST routes and token scheme are used; the protocol itself needs no choice.
    var style = GatewaySnapshotPlan.Style.retrocast
    /// The `intents` of IDENTIFY; `nil` leaves them out.
    var intents: UInt64?
    var token: TokenSource
    /// False for a run that ends once the state is complete.
    var follows = true

    var options: GatewayOptions { GatewayOptions(intents: intents, takesSnapshots: restBase != nil) }

    /// The scheme of the Authorization header.
    var scheme: String { style == .discord ? "Bot" : "Bearer" }

    /// A driver for one run, with the session and the open gaps of the runs before it.
    ///
    /// - Throws: as `ConnectionJournal.init`.
    func driver(_ recording: Recording) throws -> SocketDriver<GatewayMachine> {
        var journal = try ConnectionJournal(
            source: recording.source,
            kind: .gatewayFrame,
            history: recording.history,
            secrets: recording.secrets,
            clock: recording.clock
        )
        let session = journal.session.flatMap { GatewaySession(bytes: $0) }
        let random = UnitRandom(next: recording.random)
        // A machine of its own answers this, because the real one is made from the gaps that are opened here.
        let closer = GatewayMachine(options: options, session: session, random: random).closer(of: .stopped)
        let now = recording.clock.now()
        try journal.beginRun(topics: [nil], asksForPast: restBase != nil, closes: closer.rawValue, at: now)
        let socket = SocketConfiguration<GatewayMachine.Work>(
            operation: "record gateway",
            endpoint: endpoint,
            connector: WebSocketConnector(recording),
            token: token,
            follows: follows
        ) { _, recording, counters, since in
            guard let snapshot = GatewaySnapshot(self, recording, counters: counters, since: since) else {
                return false
            }
            return try await snapshot.take()
        }
        return try SocketDriver(configuration: socket, recording: recording, journal: journal) { gaps, ended in
            GatewayMachine(options: options, session: session, gaps: gaps, endedGaps: ended, random: random)
        }
    }
}
#endif
