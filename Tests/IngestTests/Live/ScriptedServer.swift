#if Recorders
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
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
        var number = 0
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
    private let listener: any Channel
    private let serving: Serving
    private let seen: Seen

    /// The tasks of the connections, one each from the moment it is accepted: NIO ends the program over a connection that
    /// nobody serves, as one would be that comes while an asynchronous list of them is given up.
    private final class Serving: Sendable {
        private let state = Mutex((isOver: false, tasks: [Task<Void, Never>]()))

        func add(_ work: @escaping @Sendable () async -> Void) {
            state.withLock { state in
                let task = Task { await work() }
                if state.isOver { task.cancel() }
                state.tasks.append(task)
            }
        }

        func stop() async {
            let tasks = state.withLock { state in
                state.isOver = true
                return state.tasks
            }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }
    }

    private final class Seen: Sendable {
        let requests = Mutex<[Request]>([])

        /// Keeps a request, with its number.
        func take(_ request: Request) -> Request {
            requests.withLock { requests in
                var request = request
                request.number = requests.count + 1
                requests.append(request)
                return request
            }
        }
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
        let (seen, serving) = (Seen(), Serving())
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionWatch(activity))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    let connection = try Connection(wrappingChannelSynchronously: channel)
                    serving.add {
                        try? await serve(connection) { request in
                            let taken = seen.take(request)
                            if let gate = activity?.happened() {
                                await gate.pass()
                                throw Cut()
                            }
                            let answer = try await script(taken)
                            if case .full(200, _, let body) = answer { activity?.note(sent: body) }
                            return answer
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return ScriptedServer(listener, serving, seen)
    }

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    /// Answers the requests of one connection, one after another, until either side closes it.
    private static func serve(
        _ connection: Connection,
        _ answer: @Sendable (Request) async throws -> Answer
    ) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var head: HTTPRequestHead?
            var body: [UInt8] = []
            for try await part in inbound {
                switch part {
                case .head(let found): (head, body) = (found, [])
                case .body(let bytes): body += bytes.readableBytesView
                case .end:
                    guard let found = head else { return }
                    try await answer(Request(found, body: body)).write(to: outbound)
                    if !found.isKeepAlive { return }
                }
            }
        }
    }

    private init(_ listener: any Channel, _ serving: Serving, _ seen: Seen) {
        port = listener.localAddress?.port ?? 0
        (self.listener, self.serving, self.seen) = (listener, serving, seen)
    }

    func stop() async {
        try? await listener.close()
        await serving.stop()
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
    fileprivate init(_ head: HTTPRequestHead, body: [UInt8]) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let items = URLComponents(string: head.uri)?.queryItems ?? []
        method = head.method.rawValue
        path = String(parts[0])
        query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        self.body = body
    }
}

extension ScriptedServer.Answer {
    fileprivate typealias Outbound = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

    /// - Throws: `CancellationError` where the connection is to be cut.
    fileprivate func write(to outbound: Outbound) async throws {
        switch self {
        case .full(let status, let headers, let body):
            let length = headers.keys.contains { $0.lowercased() == "content-length" }
            let all = length ? headers : headers.merging(["Content-Length": String(body.count)]) { first, _ in first }
            try await outbound.write(Self.head(status, all))
            if !body.isEmpty { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        case .pieces(let status, let headers, let pieces, let isCut):
            try await outbound.write(Self.head(status, headers))
            for piece in pieces { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: piece)))) }
            if isCut { throw CancellationError() }
        case .stream(let headers, let pieces):
            try await outbound.write(Self.head(200, headers))
            for await piece in pieces { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: piece)))) }
        }
        try await outbound.write(.end(nil))
    }

    private static func head(_ status: Int, _ headers: [String: String]) -> HTTPServerResponsePart {
        let fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
        return .head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields))
    }
}
#endif
