#if Recorders
import NIOCore
import NIOHTTP1
import NIOPosix

/// A small HTTP server: answers the head of one request on each connection, and closes it. A connection for each request is enough
/// for readers that come a few times a minute, or once.
final class HTTPService: Sendable {
    /// The head of a request.
    struct Request: Sendable {
        let method: String
        /// Path and query as they were sent.
        let target: String
        /// By names in lower case; of several with one name the first.
        let headers: [String: String]

        /// The path without the query.
        var path: String { String(target.prefix { $0 != "?" }) }

        /// The value of a parameter of the query, as it was sent; `nil` without it.
        func parameter(_ name: String) -> String? {
            target.drop { $0 != "?" }.dropFirst().split(separator: "&").first { $0.hasPrefix(name + "=") }
                .map { String($0.dropFirst(name.count + 1)) }
        }
    }

    /// What a request gets.
    struct Answer: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var type = "text/plain; charset=utf-8"
        var body: [UInt8] = []

        /// A line of text.
        static func text(_ text: String, status: Int = 200) -> Answer {
            Answer(status: status, body: Array("\(text)\n".utf8))
        }
    }

    private let host: String
    private let port: Int
    private let answer: @Sendable (Request) async -> Answer

    /// - Parameter port: 0 lets the system choose.
    init(host: String, port: Int, _ answer: @escaping @Sendable (Request) async -> Answer) {
        (self.host, self.port, self.answer) = (host, port, answer)
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter listening: gets the port once requests can come.
    /// - Throws: NIO's error if the address cannot be bound.
    func run(_ listening: (_ port: Int) -> Void) async throws {
        let answer = answer
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // A restart must not wait until the system forgets the connections of the process before.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(HTTPServiceHandler(answer))
                }
            }
            .bind(host: host, port: port).get()
        listening(channel.localAddress?.port ?? port)
        try await withTaskCancellationHandler {
            try await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}

/// It runs on its channel's event loop alone. A body is ignored; the requests that are answered have none.
private final class HTTPServiceHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (HTTPService.Request) async -> HTTPService.Answer

    init(_ answer: @escaping @Sendable (HTTPService.Request) async -> HTTPService.Answer) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        let fields = head.headers.map { ($0.name.lowercased(), $0.value) }
        let request = HTTPService.Request(
            method: head.method.rawValue,
            target: head.uri,
            headers: Dictionary(fields) { first, _ in first }
        )
        let (channel, answer) = (context.channel, answer)
        context.eventLoop.makeFutureWithTask { await answer(request) }.whenSuccess { answer in
            var headers = HTTPHeaders(answer.headers + [("Content-Type", answer.type)])
            headers.add(name: "Content-Length", value: String(answer.body.count))
            headers.add(name: "Connection", value: "close")
            let status = HTTPResponseStatus(statusCode: answer.status)
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
#endif
