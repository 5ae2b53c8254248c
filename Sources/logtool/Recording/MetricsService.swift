#if Recorders
import Logging

/// Serves the metrics over HTTP: `GET /metrics`. It checks no token, so its default address is this machine's. Metrics
/// name sources and counts, nothing of what was recorded.
final class MetricsService: Sendable {
    private let service: HTTPService
    private let log: Logger

    /// - Parameter address: `HOST:PORT`, or a port of 127.0.0.1. Port 0 lets the system choose; the log then names the
    ///   port.
    /// - Throws: `Failure` if it is neither.
    init(address: String, registry: MetricsRegistry, log: Logger) throws {
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let port = parts.last.flatMap({ Int($0) }), (0...65_535).contains(port) else {
            throw Failure("give metrics: \"\(address)\" is no HOST:PORT, such as 127.0.0.1:9464")
        }
        self.log = log
        service = HTTPService(host: parts.count == 2 && !parts[0].isEmpty ? String(parts[0]) : "127.0.0.1", port: port)
        {
            guard $0.method == "GET", $0.path == "/metrics" else { return .text("see /metrics", status: 404) }
            let type = "text/plain; version=0.0.4; charset=utf-8"
            return HTTPService.Answer(type: type, body: Array(registry.text.utf8))
        }
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: NIO's error if the address cannot be bound.
    func run() async throws {
        try await service.run { log.notice("giving metrics", metadata: ["port": "\($0)"]) }
    }
}
#endif
