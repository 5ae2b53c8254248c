#if Recorders
import EventLog
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Projections
import Synchronization

/// An HTTP request, as far as routes need it.
struct PlayRequest: Sendable {
    let method: String
    /// Path and query, as the client wrote them.
    let target: String
    /// Header values by lower-case name; the first value if a name is repeated.
    let headers: [String: String]
    /// At most `PlayHTTPHandler.bodyBytesMax` bytes.
    var body: [UInt8] = []

    /// The path without its query, percent-decoded.
    var path: String {
        PercentEncoding.decoded(String(target.prefix { $0 != "?" }))
    }

    /// The first value of a query parameter, percent-decoded; `nil` if it is missing.
    func parameter(_ name: String) -> String? {
        guard let mark = target.firstIndex(of: "?") else { return nil }
        let pairs = target[target.index(after: mark)...].split(separator: "&")
        return pairs.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
            .map { PercentEncoding.decoded($0) }
    }
}

/// The answer of a route.
enum PlayAnswer: Sendable {
    case body(status: Int, type: String = "application/json", [UInt8])
    /// The request's connection becomes an event stream (`PlayWire`).
    case stream
}

/// The server of a playback: routes, event streams and WebSockets on one port. It listens on loopback addresses only
/// (I32), which `PlayAddress` ensures.
///
/// Safe to use from any thread. It knows nothing about the recording: routes answer, the inbox gets clients.
final class PlayServer: Sendable {
    typealias Routes = @Sendable (PlayRequest) async -> PlayAnswer

    private let channel: any Channel
    /// The port is the one that the system chose if the caller passed 0.
    let address: PlayAddress

    private init(channel: any Channel, host: String) {
        self.channel = channel
        address = PlayAddress(host, channel.localAddress?.port ?? 0)
    }

    /// Binds the port and begins to accept clients.
    ///
    /// - Parameters:
    ///   - origins: origins beyond this machine's that may send requests.
    ///   - takesSockets: whether WebSocket upgrades are accepted.
    /// - Throws: `EngineError` with the system's reason if the address cannot be bound.
    static func start(
        at address: PlayAddress,
        origins: Set<String>,
        takesSockets: Bool,
        inbox: PlayInbox,
        routes: @escaping Routes
    ) async throws -> PlayServer {
        let gate = PlayGate(origins: origins)
        let numbers = PlayNumbers()
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Small frames go out at once: Nagle's algorithm would delay them until the client acknowledges earlier
            // ones.
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let http = { @Sendable in
                        PlayHTTPHandler(gate: gate, numbers: numbers, inbox: inbox, routes: routes)
                    }
                    try configure(channel, gate, numbers, inbox, takesSockets: takesSockets, http: http)
                }
            }
        do {
            let channel = try await bootstrap.bind(host: address.host, port: address.port).get()
            return PlayServer(channel: channel, host: address.host)
        } catch {
            throw EngineError(
                "play: cannot listen at \(address.host):\(address.port): \(error); choose another with --listen"
            )
        }
    }

    /// Closes the listening socket. Connections that clients opened stay open.
    func stop() async {
        try? await channel.close()
    }

    /// Sets a new connection up: HTTP first, which becomes a WebSocket where the client requests an upgrade.
    private static func configure(
        _ channel: any Channel,
        _ gate: PlayGate,
        _ numbers: PlayNumbers,
        _ inbox: PlayInbox,
        takesSockets: Bool,
        http: @escaping @Sendable () -> PlayHTTPHandler
    ) throws {
        // Limits for what clients send: 1 MiB for a message, in one frame or in fragments.
        let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
            maxFrameSize: 1 << 20,
            shouldUpgrade: { channel, head in
                let request = PlayRequest(head)
                guard takesSockets, gate.admits(request) else { return channel.eventLoop.makeSucceededFuture(nil) }
                var headers = HTTPHeaders()
                // A client that offers protocols fails if none of them is chosen (RFC 6455, section 4.1).
                if let offered = request.headers["sec-websocket-protocol"]?.split(separator: ",").first {
                    headers.add(
                        name: "Sec-WebSocket-Protocol",
                        value: offered.trimmingPrefix(while: \.isWhitespace).description
                    )
                }
                return channel.eventLoop.makeSucceededFuture(headers)
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let frames = try pipeline.context(handlerType: WebSocketFrameEncoder.self)
                    // Frames are encoded by `PlayWire` itself, so writes start behind NIO's encoder.
                    let wire = PlayWire(number: numbers.next(), target: head.uri, channel: channel, frames: frames)
                    let joiner = NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0,
                        maxAccumulatedFrameCount: 4_096,
                        maxAccumulatedFrameSize: 1 << 20
                    )
                    try pipeline.addHandler(joiner)
                    try pipeline.addHandler(PlayFrameHandler(wire: wire, inbox: inbox))
                    inbox.push(.opened(wire))
                }
            }
        )
        let configuration = NIOTypedHTTPServerUpgradeConfiguration<Void>(
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(http()) }
            }
        )
        _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: configuration)
        )
    }
}

/// Gives each wire of one server its own number, from 1.
final class PlayNumbers: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Decides who may send requests (I32). Otherwise a page in a browser could read a recording, from its own origin or by
/// giving this machine's address a name of its own (DNS rebinding).
package struct PlayGate: Sendable {
    /// Allowed origins besides those of this machine, as in the `Origin` header.
    let origins: Set<String>

    /// Returns true if the request names this machine as its host and comes from an allowed origin. Programs other than
    /// browsers send no `Origin`.
    func admits(_ request: PlayRequest) -> Bool {
        guard let host = request.headers["host"], Self.isLocal(host[...]) else { return false }
        return request.headers["origin"].map { admits(origin: $0) } ?? true
    }

    /// Returns true for the listed origins and for this machine's, with any scheme and port.
    func admits(origin: String) -> Bool {
        if origins.contains(origin) { return true }
        guard let slashes = origin.firstRange(of: "://") else { return false }
        return Self.isLocal(origin[slashes.upperBound...])
    }

    /// True for a name of this machine, followed by nothing or by a colon and a port (RFC 9110, section 7.2).
    package static func isLocal(_ host: Substring) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { name in
            guard host.utf8.starts(with: name.utf8) else { return false }
            let rest = host.utf8.dropFirst(name.utf8.count)
            let port = rest.dropFirst()
            return rest.isEmpty
                || rest.first == 0x3A && (1...5).contains(port.count) && port.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}

extension PlayRequest {
    init(_ head: HTTPRequestHead) {
        let fields = head.headers.map { ($0.name.lowercased(), $0.value) }
        self.init(
            method: head.method.rawValue,
            target: head.uri,
            headers: Dictionary(fields) { first, _ in first }
        )
    }
}

/// Reads HTTP/1.1 requests and writes the routes' answers. It runs on its channel's event loop alone.
final class PlayHTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let gate: PlayGate
    private let numbers: PlayNumbers
    private let inbox: PlayInbox
    private let routes: PlayServer.Routes
    /// The request whose parts are arriving; `nil` between requests.
    private var request: PlayRequest?
    /// The event stream that this connection has become, if any.
    private var wire: PlayWire?

    /// The largest request body: 1 MiB. A client that sends more is disconnected.
    private static let bodyBytesMax = 1 << 20

    init(gate: PlayGate, numbers: PlayNumbers, inbox: PlayInbox, routes: @escaping PlayServer.Routes) {
        self.gate = gate
        self.numbers = numbers
        self.inbox = inbox
        self.routes = routes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head): request = PlayRequest(head)
        case .body(let bytes):
            guard let count = request?.body.count, count + bytes.readableBytes <= Self.bodyBytesMax else {
                return context.close(promise: nil)
            }
            request?.body.append(contentsOf: bytes.readableBytesView)
        case .end:
            guard let request else { return }
            self.request = nil
            take(request, context)
        }
    }

    private func take(_ request: PlayRequest, _ context: ChannelHandlerContext) {
        let headers = corsHeaders(request)
        guard gate.admits(request) else {
            return Self.write(Self.refusal, headers, to: context.channel)
        }
        // A browser's preflight request. The CORS headers are the whole answer.
        if request.method == "OPTIONS" { return Self.write(.body(status: 204, []), headers, to: context.channel) }
        let (channel, routes) = (context.channel, routes)
        // The route runs in a task of its own. NIO's pipelining handler withholds the next request until this answer has
        // ended, so answers keep the order of requests.
        context.eventLoop.makeFutureWithTask { await routes(request) }.assumeIsolated().whenSuccess { answer in
            guard case .stream = answer else { return Self.write(answer, headers, to: channel) }
            self.openStream(request, headers, channel)
        }
    }

    private func openStream(_ request: PlayRequest, _ headers: HTTPHeaders, _ channel: any Channel) {
        // The client may have left while the route decided.
        guard channel.isActive, wire == nil else { return }
        var headers = headers
        headers.add(name: "Content-Type", value: "text/event-stream")
        headers.add(name: "Cache-Control", value: "no-cache")
        headers.add(name: "X-Accel-Buffering", value: "no")
        // Nothing follows the stream. A client that kept the connection would send its next request where nobody
        // answers.
        headers.add(name: "Connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        channel.writeAndFlush(HTTPServerResponsePart.head(head), promise: nil)
        let id = request.headers["last-event-id"]
        let (number, target) = (numbers.next(), request.target)
        let wire = PlayWire(number: number, target: target, channel: channel, frames: nil, lastEventID: id)
        self.wire = wire
        inbox.push(.opened(wire))
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let wire { inbox.push(.closed(wire: wire.number)) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private static let refusal = PlayAnswer.body(
        status: 403,
        type: "text/plain",
        Array("play answers this machine alone; name another origin with --origin\n".utf8)
    )

    /// Echoes an admitted origin. Browsers reject `*` for requests with credentials.
    private func corsHeaders(_ request: PlayRequest) -> HTTPHeaders {
        guard let origin = request.headers["origin"], gate.admits(origin: origin) else { return HTTPHeaders() }
        return HTTPHeaders([
            ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"), ("Access-Control-Allow-Credentials", "true"),
            ("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS"),
            (
                "Access-Control-Allow-Headers",
                request.headers["access-control-request-headers"] ?? "authorization, content-type"
            ),
        ])
    }

    private static func write(_ answer: PlayAnswer, _ headers: HTTPHeaders, to channel: any Channel) {
        guard case .body(let status, let type, let bytes) = answer else { return }
        var headers = headers
        // Answers with these statuses have no content (RFC 9110, sections 15.3.5 and 15.4.5).
        let hasContent = status != 204 && status != 304
        if hasContent {
            headers.add(name: "Content-Type", value: type)
            headers.add(name: "Content-Length", value: String(bytes.count))
        }
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if hasContent, !bytes.isEmpty {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
        }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }
}
#endif
