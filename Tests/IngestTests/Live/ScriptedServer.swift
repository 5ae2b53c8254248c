#if Recorders
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// An HTTP server on 127.0.0.1 whose answers a closure gives.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        let method: String
        /// The path, percent-encoding as sent.
        let path: String
        let query: [String: String]
        let headers: [String: String]
        let body: [UInt8]
        /// The number of the request, from 1.
        let number: Int
    }

    /// What a request gets.
    enum Answer: Sendable {
        case full(Int, [String: String] = [:], [UInt8] = [])
        /// Pieces sent one after another; then the connection is closed early if it is to be.
        case pieces(Int, [String: String], [[UInt8]], isCut: Bool = false)
        /// Sent piece by piece as long as the stream gives some.
        case stream([String: String], AsyncStream<[UInt8]>)

        static func text(_ status: Int, _ text: String, _ headers: [String: String] = [:]) -> Answer {
            .full(status, headers, Array(text.utf8))
        }
    }

    private struct Cut: Error {}

    let port: Int
    private let task: Task<Void, any Error>
    private let seen: Seen

    private final class Seen: Sendable {
        let requests = Mutex<[Request]>([])
    }

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { seen.requests.withLock { $0 } }

    /// Starts to listen.
    ///
    /// - Parameter activity: told of everything.
    static func start(
        activity: Activity? = nil,
        _ script: @escaping @Sendable (Request) async throws -> Answer
    ) async throws -> ScriptedServer {
        let seen = Seen()
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let responder = CallbackResponder { (request: Hummingbird.Request, _: BasicRequestContext) in
            let body = try await request.body.collect(upTo: 1 << 24)
            let taken = seen.requests.withLock { requests in
                let taken = Request(request, body: Array(body.readableBytesView), number: requests.count + 1)
                requests.append(taken)
                return taken
            }
            if let gate = activity?.happened() {
                await gate.pass()
                throw Cut()
            }
            let answer = try await script(taken)
            if case .full(200, _, let body) = answer { activity?.note(sent: body) }
            return answer.response()
        }
        var logger = Logger(label: "server")
        logger.logLevel = .critical
        let application = Application(
            responder: responder,
            server: .http1(configuration: .init(additionalChannelHandlers: [ConnectionWatch(activity)])),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) },
            logger: logger
        )
        let task = Task { try await application.run() }
        for await port in ports { return ScriptedServer(port: port, task: task, seen: seen) }
        throw Cut()
    }

    private init(port: Int, task: Task<Void, any Error>, seen: Seen) {
        (self.port, self.task, self.seen) = (port, task, seen)
    }

    func stop() async {
        task.cancel()
        _ = await task.result
    }
}

/// Tells of a connection's beginning and end: that the client's side is closed, whatever is still to be sent to it.
private final class ConnectionWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let activity: Activity?
    private var isClosed = false

    init(_ activity: Activity?) {
        self.activity = activity
    }

    func handlerAdded(context: ChannelHandlerContext) {
        activity?.opened()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        close()
    }

    func channelInactive(context: ChannelHandlerContext) {
        close()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { close() }
        context.fireUserInboundEventTriggered(event)
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        activity?.closed()
    }
}

extension ScriptedServer.Request {
    fileprivate init(_ request: Hummingbird.Request, body: [UInt8], number: Int) {
        method = request.method.rawValue
        path = request.uri.path
        query = Dictionary(request.uri.queryParameters.map { (String($0.key), String($0.value)) }) { first, _ in first }
        headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { first, _ in first }
        self.body = body
        self.number = number
    }
}

extension ScriptedServer.Answer {
    fileprivate func response() -> Response {
        switch self {
        case .full(let status, let headers, let body):
            Response(
                status: .init(code: status),
                headers: Self.fields(headers),
                body: body.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: body))
            )
        case .pieces(let status, let headers, let pieces, let isCut):
            Response(
                status: .init(code: status),
                headers: Self.fields(headers),
                body: .init { writer in
                    for piece in pieces { try await writer.write(ByteBuffer(bytes: piece)) }
                    if isCut { throw CancellationError() }
                    try await writer.finish(nil)
                }
            )
        case .stream(let headers, let pieces):
            Response(
                status: .ok,
                headers: Self.fields(headers),
                body: .init { writer in
                    for await piece in pieces { try await writer.write(ByteBuffer(bytes: piece)) }
                    try await writer.finish(nil)
                }
            )
        }
    }

    private static func fields(_ headers: [String: String]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}
#endif
