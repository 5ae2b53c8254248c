#if Recorders
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// A server on 127.0.0.1 for WebSockets and plain HTTP on one port, scripted by two closures.
final class LoopbackServer: Sendable {
    /// What an HTTP request asks for.
    struct Request: Sendable {
        let method: String
        /// Path and query.
        let target: String
        let headers: [String: String]
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8] = []
    }

    typealias HTTPScript = @Sendable (Request) async -> Answer
    typealias WebSocketScript = @Sendable (LoopbackPeer) async -> Void

    private let channel: any Channel
    let port: Int

    private init(channel: any Channel, port: Int) {
        self.channel = channel
        self.port = port
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - activity: told of everything; its open connections are the WebSockets.
    ///   - refuse: an answer to give to an upgrade instead of a WebSocket.
    static func start(
        tls: NIOSSLContext? = nil,
        activity: Activity? = nil,
        refuse: @escaping @Sendable (Request) -> Answer? = { _ in nil },
        http: @escaping HTTPScript = { _ in Answer(status: 404) },
        webSocket: @escaping WebSocketScript
    ) async throws -> LoopbackServer {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try configure(channel, activity, refuse: refuse, http: http, webSocket: webSocket)
                }
            }
        let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        return LoopbackServer(channel: channel, port: channel.localAddress?.port ?? 0)
    }

    func stop() async {
        try? await channel.close()
    }

    private static func configure(
        _ channel: any Channel,
        _ activity: Activity?,
        refuse: @escaping @Sendable (Request) -> Answer?,
        http: @escaping HTTPScript,
        webSocket: @escaping WebSocketScript
    ) throws {
        let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
            maxFrameSize: 1 << 24,
            enableAutomaticErrorHandling: false,
            shouldUpgrade: { channel, head in
                guard let answer = refuse(Request(head)) else {
                    return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
                }
                answer.write(to: channel).whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeSucceededFuture(nil)
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let peer = LoopbackPeer(channel: channel, request: Request(head), activity: activity)
                    try channel.pipeline.syncOperations.addHandler(LoopbackFrameHandler(peer: peer))
                    activity?.opened()
                    channel.closeFuture.whenComplete { _ in activity?.closed() }
                    Task { await serve(peer, activity, webSocket) }
                }
            }
        )
        let configuration = NIOTypedHTTPServerUpgradeConfiguration<Void>(
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LoopbackHTTPHandler(activity, script: http))
                }
            }
        )
        _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: configuration)
        )
    }
}

extension LoopbackServer {
    private static func serve(_ peer: LoopbackPeer, _ activity: Activity?, _ webSocket: WebSocketScript) async {
        defer { peer.drop() }
        if let gate = activity?.happened() { return await gate.pass() }
        for frame in activity?.greeting ?? [] { peer.write(.text, ByteBuffer(bytes: frame)) }
        await webSocket(peer)
    }
}

extension LoopbackServer.Answer {
    func write(to channel: any Channel) -> EventLoopFuture<Void> {
        var headers = HTTPHeaders(self.headers)
        headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        return channel.writeAndFlush(HTTPServerResponsePart.end(nil))
    }
}

extension LoopbackServer.Request {
    init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        target = head.uri
        headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }
}

/// Answers HTTP requests by a script, one after another.
private final class LoopbackHTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let activity: Activity?
    private let script: LoopbackServer.HTTPScript

    init(_ activity: Activity?, script: @escaping LoopbackServer.HTTPScript) {
        self.activity = activity
        self.script = script
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        let channel = context.channel
        Task { [activity, script] in
            if let gate = activity?.happened() {
                await gate.pass()
                return channel.close(promise: nil)
            }
            let answer = await script(LoopbackServer.Request(head))
            if answer.status == 200 { activity?.note(sent: answer.body) }
            _ = answer.write(to: channel)
        }
    }
}
#endif
