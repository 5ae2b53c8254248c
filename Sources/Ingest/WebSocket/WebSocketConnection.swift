#if Recorders
import EventLog
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// An open WebSocket. It delivers whole messages in order, and sends in order.
///
/// It answers pings at once. After a delivery returned false it reads no further until `resume`. All methods may be
/// called from any thread.
final class WebSocketConnection: Sendable {
    /// Takes events and their size in bytes, on the event loop; returns false to read no further for now.
    ///
    /// `closed` always comes, as the last event.
    typealias Delivery = @Sendable ([WebSocketEvent], Int) -> Bool

    /// The most bytes that should wait for a consumer; with a slow disk the sender then slows down, too.
    static let waitingBytesMax = 4 << 20

    private let channel: any Channel
    /// Bound to the channel's event loop; only closures on that loop may take the value out.
    private let handler: NIOLoopBound<WebSocketHandler>

    fileprivate init(channel: any Channel, handler: NIOLoopBound<WebSocketHandler>) {
        self.channel = channel
        self.handler = handler
    }

    /// Continues to read.
    func resume() {
        onLoop { $0.resume(context: $1) }
    }

    /// Sends a text message; its bytes must be UTF-8 (RFC 6455, section 5.6). Returns at once. A message that can no
    /// longer be sent is dropped, and `closed` follows.
    func send(_ text: [UInt8]) {
        write(.text, ByteBuffer(bytes: text))
    }

    /// Sends a Pong that answers no Ping (RFC 6455, section 5.5.3).
    func sendPong() {
        write(.pong, ByteBuffer())
    }

    /// Begins the closing handshake; `closed` is delivered once it is done, or after 3 s.
    func close(_ code: UInt16) {
        onLoop { $0.close(code, context: $1) }
    }

    /// Closes at once, without a handshake, and returns once the socket is closed.
    func abort() async {
        try? await channel.close()
    }

    /// Writes one unfragmented frame, with a new random mask as RFC 6455, section 5.3 demands of a client.
    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        channel.writeAndFlush(frame, promise: nil)
    }

    private func onLoop(_ body: @escaping @Sendable (WebSocketHandler, ChannelHandlerContext) -> Void) {
        channel.eventLoop.execute { [channel, handler] in
            // A closed channel has no pipeline any more, and nothing to do.
            guard let context = try? channel.pipeline.syncOperations.context(handler: handler.value) else { return }
            body(handler.value, context)
        }
    }
}

// MARK: - Opening

/// Opens WebSockets.
struct WebSocketConnector: Sendable {
    let group: any EventLoopGroup
    /// The TLS context with the caller's root certificates; `nil` for the system's.
    let trust: NIOSSLContext?
    /// The wall clock, for the time at which a message came in.
    let now: @Sendable () -> Timestamp

    init(group: any EventLoopGroup, trust: NIOSSLContext?, now: @escaping @Sendable () -> Timestamp) {
        self.group = group
        self.trust = trust
        self.now = now
    }

    /// Opens sockets with the tools of a recording.
    init(_ recording: Recording) {
        self.init(group: recording.http.group, trust: recording.http.trust, now: recording.clock.now)
    }

    /// The longest wait for the connection, and again for TLS and the server's answer together.
    static let timeout = TimeAmount.seconds(15)

    /// Connects and upgrades.
    ///
    /// - Parameters:
    ///   - headers: more headers of the request; never logged (I14).
    ///   - deliver: takes the events; may be called before this function returns.
    /// - Throws: `WebSocketRefusal`, or `CancellationError`.
    func open(
        _ endpoint: WebSocketEndpoint,
        headers: [(String, String)] = [],
        deliver: @escaping WebSocketConnection.Delivery
    ) async throws -> WebSocketConnection {
        let head = Self.requestHead(endpoint, headers: headers)
        let (channel, upgrade) = try await connect(endpoint, head, deliver)
        // Closing the channel fails `upgrade` or the refusal's head, so the wait below ends with an error.
        let timer = channel.eventLoop.scheduleTask(in: Self.timeout) { channel.close(promise: nil) }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await opened(channel, upgrade)
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    /// Waits for the server's answer to the upgrade.
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
            // The cancellation may have come after the upgrade, when closing no longer fails it.
            guard Task.isCancelled else { return connection }
            await connection.abort()
            throw CancellationError()
        case .refused(let head):
            let refusal = await head.refusal()
            channel.close(promise: nil)
            throw refusal
        }
    }

    /// Connects and sets the pipeline up: TLS, then `LateEndHandler`, then HTTP with the upgrade.
    private func connect(
        _ endpoint: WebSocketEndpoint,
        _ head: HTTPRequestHead,
        _ deliver: @escaping WebSocketConnection.Delivery
    ) async throws -> (any Channel, EventLoopFuture<WebSocketUpgrade>) {
        var bootstrap = ClientBootstrap(group: group).connectTimeout(Self.timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        // TCP_NODELAY: a heartbeat must not wait until more is to be sent.
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

    /// The head of the upgrade's request. NIO's upgrader adds the fields of the WebSocket handshake.
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
        // A server's first frame may arrive together with its answer; the default strategy would drop it.
        configuration.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: configuration)
    }

    /// The largest frame that is read, in bytes. It exceeds the 16 MiB of a payload, so that a frame too large to keep
    /// can still be measured and hashed. A larger one ends the connection with code 1009.
    private static let frameBytesMax = 64 << 20
}

/// The result of a request to upgrade.
enum WebSocketUpgrade: Sendable {
    case open(NIOLoopBound<WebSocketHandler>)
    case refused(WebSocketRefusalReader.Answer)
}
#endif
