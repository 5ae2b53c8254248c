#if Recorders
public import EventLog
import Logging
import NIOCore
import NIOPosix

/// Passes everything between clients and one target, and records what passes: WebSockets, event streams and JSON over
/// HTTP.
public struct ProxySource: LiveSource {
    /// The recorder's name in the log.
    public let name: SourceName
    /// `nil` if only observations are taken.
    private let target: WebSocketEndpoint?
    private let address: (host: String, port: Int)
    private let faults: ProxyFaults
    private let allowsRemote: Bool
    private let listening: @Sendable (Int) -> Void

    private static let operation = "proxy"

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - target: the URL of the target, `http` or `https`, without a path.
    ///   - name: `nil` for `proxy-` and the target's host.
    ///   - host: where to listen.
    ///   - port: 0 lets the system choose.
    ///   - allowsRemote: whether requests may name any `Host`.
    ///   - listening: called with the port once clients can connect.
    /// - Throws: `IngestError` with code `invalidArgument` for a target that is no such URL; `EventLogError` for a name
    ///   that is too long.
    public init(
        target: String,
        name: SourceName? = nil,
        host: String = "127.0.0.1",
        port: Int = 0,
        faults: ProxyFaults = ProxyFaults(),
        allowsRemote: Bool = false,
        listening: @escaping @Sendable (Int) -> Void
    ) throws {
        let endpoint = try WebSocketEndpoint(target, operation: Self.operation)
        guard endpoint.target == "/" else {
            throw IngestError(
                .invalidArgument,
                operation: Self.operation,
                object: endpoint.hostHeader,
                reason: "the target has a path or a query",
                advice: "give scheme, host and port alone, as https://app.example"
            )
        }
        let readable = endpoint.hostHeader.map { "/:@#[]".contains($0) ? "-" : String($0) }.joined()
        self.name = try name ?? SourceName("proxy-\(readable.prefix(200))")
        (self.target, address, self.faults) = (endpoint, (host, port), faults)
        (self.allowsRemote, self.listening) = (allowsRemote, listening)
    }

    /// Makes a source that passes nothing on, and records what clients say that they show.
    ///
    /// - Parameters: as of the other initializer.
    public init(
        observations name: SourceName,
        host: String = "127.0.0.1",
        port: Int = 0,
        allowsRemote: Bool = false,
        listening: @escaping @Sendable (Int) -> Void
    ) {
        self.name = name
        (target, address, faults) = (nil, (host, port), ProxyFaults())
        (self.allowsRemote, self.listening) = (allowsRemote, listening)
    }

    /// Serves until it is cancelled.
    ///
    /// After an append that failed it serves on without recording, and throws the error in the end.
    ///
    /// - Throws: `IngestError` with code `io` if the address cannot be listened on; otherwise as `LiveSource.run`.
    public func run(_ recording: Recording) async throws {
        let service = try ProxyService(
            recording,
            target: target,
            faults: faults,
            host: allowsRemote ? nil : address.host
        )
        let server = try await bind(recording, service)
        service.journal.beginRun()
        listening(server.localAddress?.port ?? address.port)
        let marks = recording.startLifeMarks()
        var failure: (any Error)?
        for await _ in service.journal.signals {
            do {
                try await append(service.journal, recording)
            } catch {
                guard !(error is CancellationError) else { break }
                failure = error
                service.journal.stop()
                recording.log.error("nothing is recorded any more; the proxy goes on", metadata: ["reason": "\(error)"])
                await untilCancelled()
                break
            }
        }
        marks.cancel()
        try? await server.close().get()
        await service.stop()
        if let failure { throw failure }
        service.journal.endRun()
        try await append(service.journal, recording)
        if service.journal.failureCount > 0 {
            recording.log.warning("events could not be made", metadata: ["count": "\(service.journal.failureCount)"])
        }
        try Task.checkCancellation()
    }

    private func append(_ journal: ProxyJournal, _ recording: Recording) async throws {
        let batch = journal.take()
        try await recording.append(batch.pieces)
        journal.appended(batch.heldBytes)
    }

    private func untilCancelled() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        continuation.finish()
    }

    private func bind(_ recording: Recording, _ service: ProxyService) async throws -> any Channel {
        do {
            return try await ServerBootstrap(group: recording.http.group)
                .serverChannelOption(.backlog, value: 1_024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.writeBufferWaterMark, value: ProxyService.waterMark)
                .childChannelOption(.recvAllocator, value: ProxyBuffers())
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelInitializer { service.accept($0) }
                .bind(host: address.host, port: address.port).get()
        } catch {
            throw IngestError(
                .io,
                operation: Self.operation,
                object: "\(address.host):\(address.port)",
                reason: "the address cannot be listened on (\(error))",
                advice: "choose another with --listen"
            )
        }
    }
}
#endif
