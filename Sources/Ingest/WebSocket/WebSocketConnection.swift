#if Recorders
import EventLog
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// An open WebSocket: what comes in is delivered in order, messages whole; what is sent goes out in order.
///
/// Pings are answered at once. Reading stops when a delivery was answered with `false`, until `resume`.
final class WebSocketConnection: Sendable {
    /// Takes what came in, on the event loop, and how many bytes that are; `false` to read no further for now.
    ///
    /// `closed` is the last event, and comes always.
    typealias Delivery = @Sendable ([WebSocketEvent], Int) -> Bool

    /// The bytes that should wait for a consumer at most; a slow disk then slows the sender.
    static let waitingBytesMax = 4 << 20

    private let channel: any Channel
    private let handler: NIOLoopBound<WebSocketHandler>

    fileprivate init(channel: any Channel, handler: NIOLoopBound<WebSocketHandler>) {
        self.channel = channel
        self.handler = handler
    }

    /// Goes on reading.
    func resume() {
        onLoop { $0.resume(context: $1) }
    }

    /// Sends a text message.
    func send(_ text: [UInt8]) {
        write(.text, ByteBuffer(bytes: text))
    }

    /// Sends a Pong that answers no Ping (RFC 6455, section 5.5.3).
    func sendPong() {
        write(.pong, ByteBuffer())
    }

    /// Begins the closing handshake; `closed` is delivered when it is done, or after a while.
    func close(_ code: UInt16) {
        onLoop { $0.close(code, context: $1) }
    }

    /// Closes at once, without a handshake, and returns when the socket is gone.
    func abort() async {
        try? await channel.close()
    }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        channel.writeAndFlush(frame, promise: nil)
    }

    private func onLoop(_ body: @escaping @Sendable (WebSocketHandler, ChannelHandlerContext) -> Void) {
        channel.eventLoop.execute { [channel, handler] in
            // The pipeline is gone once the channel is closed: then there is nothing to do.
            guard let context = try? channel.pipeline.syncOperations.context(handler: handler.value) else { return }
            body(handler.value, context)
        }
    }
}

// MARK: - Opening

/// How WebSockets are opened.
struct WebSocketConnector: Sendable {
    let group: any EventLoopGroup
    /// What certificates are checked against; `nil` for the system's.
    let trust: NIOSSLContext?
    /// Says when a message came in.
    let now: @Sendable () -> Timestamp

    init(group: any EventLoopGroup, trust: NIOSSLContext?, now: @escaping @Sendable () -> Timestamp) {
        self.group = group
        self.trust = trust
        self.now = now
    }

    /// Opens sockets with what a recording has.
    init(_ recording: Recording) {
        self.init(group: recording.http.group, trust: recording.http.trust, now: recording.clock.now)
    }

    /// The longest wait for each of: the connection, and TLS and the server's answer together.
    static let timeout = TimeAmount.seconds(15)

    /// Connects and upgrades.
    ///
    /// - Parameters:
    ///   - headers: further headers of the request; never logged.
    ///   - deliver: what comes in, perhaps even before this returns.
    /// - Throws: `WebSocketRefusal`, or `CancellationError`.
    func open(
        _ endpoint: WebSocketEndpoint,
        headers: [(String, String)] = [],
        deliver: @escaping WebSocketConnection.Delivery
    ) async throws -> WebSocketConnection {
        let head = Self.requestHead(endpoint, headers: headers)
        let (channel, upgrade) = try await connect(endpoint, head, deliver)
        let timer = channel.eventLoop.scheduleTask(in: Self.timeout) { channel.close(promise: nil) }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await opened(channel, upgrade)
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    private func opened(
        _ channel: any Channel,
        _ upgrade: EventLoopFuture<WebSocketUpgrade>
    ) async throws -> WebSocketConnection {
        let result: WebSocketUpgrade
        do {
            result = try await upgrade.get()
        } catch {
            channel.close(promise: nil)
            try Task.checkCancellation()
            throw WebSocketRefusal(opening: error)
        }
        switch result {
        case .open(let handler):
            let connection = WebSocketConnection(channel: channel, handler: handler)
            guard Task.isCancelled else { return connection }
            await connection.abort()
            throw CancellationError()
        case .refused(let head):
            let refusal = await head.refusal()
            channel.close(promise: nil)
            throw refusal
        }
    }

    private func connect(
        _ endpoint: WebSocketEndpoint,
        _ head: HTTPRequestHead,
        _ deliver: @escaping WebSocketConnection.Delivery
    ) async throws -> (any Channel, EventLoopFuture<WebSocketUpgrade>) {
        var bootstrap = ClientBootstrap(group: group).connectTimeout(Self.timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        for (option, value) in KeepAlive.options { bootstrap = bootstrap.channelOption(option, value: value) }
        let now = now
        let trust = trust
        do {
            return try await bootstrap.connect(host: endpoint.host, port: endpoint.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if endpoint.isSecure { try Self.addTLS(endpoint, trust: trust, to: channel) }
                    try channel.pipeline.syncOperations.addHandler(LateEndHandler())
                    return (channel, try Self.addUpgrade(head, deliver, now: now, to: channel))
                }
            }
        } catch {
            try Task.checkCancellation()
            throw WebSocketRefusal(opening: error)
        }
    }

    private static func requestHead(_ endpoint: WebSocketEndpoint, headers: [(String, String)]) -> HTTPRequestHead {
        var fields = HTTPHeaders([("Host", endpoint.hostHeader), ("Content-Length", "0")])
        for (name, value) in headers { fields.add(name: name, value: value) }
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: endpoint.target, headers: fields)
    }

    private static func addTLS(_ endpoint: WebSocketEndpoint, trust: NIOSSLContext?, to channel: any Channel) throws {
        let context = try trust ?? NIOSSLContext(configuration: .makeClientConfiguration())
        let handler = try NIOSSLClientHandler(context: context, serverHostname: endpoint.serverName)
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    private static func addUpgrade(
        _ head: HTTPRequestHead,
        _ deliver: @escaping WebSocketConnection.Delivery,
        now: @escaping @Sendable () -> Timestamp,
        to channel: any Channel
    ) throws -> EventLoopFuture<WebSocketUpgrade> {
        let upgrader = NIOTypedWebSocketClientUpgrader<WebSocketUpgrade>(
            maxFrameSize: frameBytesMax,
            enableAutomaticErrorHandling: false
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let handler = WebSocketHandler(deliver: deliver, now: now)
                try channel.pipeline.syncOperations.addHandler(handler)
                return .open(NIOLoopBound(handler, eventLoop: channel.eventLoop))
            }
        }
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
            upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                upgradeRequestHead: head,
                upgraders: [upgrader],
                notUpgradingCompletionHandler: WebSocketRefusalReader.install
            )
        )
        // A server's first frame may come in one piece with its answer; the default would drop it.
        configuration.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: configuration)
    }

    /// The largest single frame that is read at all, so that one over 16 MiB can still be measured and hashed; a larger
    /// one ends the connection with 1009.
    private static let frameBytesMax = 64 << 20
}

/// What became of a request to upgrade.
enum WebSocketUpgrade: Sendable {
    case open(NIOLoopBound<WebSocketHandler>)
    case refused(WebSocketRefusalReader.Answer)
}
#endif
