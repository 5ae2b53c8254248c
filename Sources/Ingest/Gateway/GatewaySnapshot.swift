#if Recorders
import EventLog

/// One REST snapshot of a gateway's state: sends the requests of a plan and records every answer as it came (I2).
///
/// The answers are read one after another while frames come in, so together they show no single instant.
struct GatewaySnapshot: Sendable {
    private let configuration: GatewayConfiguration
    private let base: String
    /// The path of the base URL, the beginning of each recorded path.
    private let basePath: String
    private let recording: Recording
    private let counters: ConnectionCounters
    private let since: Timestamp

    /// Makes a snapshot; `nil` if no REST base is configured.
    ///
    /// - Parameters:
    ///   - counters: the counters of the connection that the snapshot belongs to.
    ///   - since: the instant from which on messages may be missing.
    init?(
        _ configuration: GatewayConfiguration,
        _ recording: Recording,
        counters: ConnectionCounters,
        since: Timestamp
    ) {
        guard let base = configuration.restBase, let endpoint = try? WebSocketEndpoint(base, operation: "snapshot")
        else {
            return nil
        }
        self.configuration = configuration
        self.base = base
        basePath = endpoint.path == "/" ? "" : endpoint.path
        self.recording = recording
        self.counters = counters
        self.since = since
    }

    /// Takes the snapshot; returns true if everything that matters could be read.
    ///
    /// - Throws: the errors of `append`; `CancellationError`.
    func take() async throws -> Bool {
        var plan = GatewaySnapshotPlan(style: configuration.style, since: since)
        var client = RestClient(recording: recording, counters: counters) { [configuration] in
            ("Authorization", "\(configuration.scheme) \(try await configuration.token.fresh())")
        }
        while let request = plan.next() {
            let path = basePath + request.path
            let answer = try await client.get(base + request.path, path: path)
            if let answer {
                let time = recording.clock.now()
                let draft = try counters.rest(.gatewayREST, answer, path: path, source: recording.source, at: time)
                try await recording.append([.draft(draft)])
            }
            plan.take(answer?.body ?? [], status: answer?.status, of: request)
            // Gives up at the first request without an answer: a snapshot with a hole closes no gap.
            if answer == nil { return false }
        }
        return plan.isComplete
    }
}
#endif
