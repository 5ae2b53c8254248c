#if Recorders
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves the metrics over HTTP: `GET /metrics`. It checks no token, so its default address is this machine's. Metrics
/// name sources and counts, nothing of what was recorded.
final class MetricsService: Sendable {
    private let host: String
    private let port: Int
    private let registry: MetricsRegistry
    private let log: Logger

    /// - Parameter address: `HOST:PORT`, or a port of 127.0.0.1. Port 0 lets the system choose; the log then names the
    ///   port.
    /// - Throws: `Failure` if it is neither.
    init(address: String, registry: MetricsRegistry, log: Logger) throws {
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let port = parts.last.flatMap({ Int($0) }), (0...65_535).contains(port) else {
            throw Failure("give metrics: \"\(address)\" is no HOST:PORT, such as 127.0.0.1:9464")
        }
        host = parts.count == 2 && !parts[0].isEmpty ? String(parts[0]) : "127.0.0.1"
        self.port = port
        self.registry = registry
        self.log = log
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: NIO's error if the address cannot be bound.
    func run() async throws {
        let registry = registry
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // A restart must not wait until the system forgets the connections of the process before.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(MetricsHandler(registry))
                }
            }
            .bind(host: host, port: port).get()
        log.notice("giving metrics", metadata: ["port": "\(channel.localAddress?.port ?? port)"])
        try await withTaskCancellationHandler {
            try await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}

/// Answers the head of one request and closes. It runs on its channel's event loop alone. A connection for each request
/// is enough for a reader that comes a few times a minute.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let registry: MetricsRegistry

    init(_ registry: MetricsRegistry) {
        self.registry = registry
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A body would be ignored; GET has none.
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        let isKnown = head.method == .GET && head.uri.prefix { $0 != "?" } == "/metrics"
        let body = ByteBuffer(string: isKnown ? registry.text : "see /metrics\n")
        var headers = HTTPHeaders([("Content-Type", "text/plain; version=0.0.4; charset=utf-8")])
        headers.add(name: "Content-Length", value: String(body.readableBytes))
        headers.add(name: "Connection", value: "close")
        let status: HTTPResponseStatus = isKnown ? .ok : .notFound
        context.write(
            Self.wrapOutboundOut(.head(.init(version: .http1_1, status: status, headers: headers))),
            promise: nil
        )
        context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}
#endif
