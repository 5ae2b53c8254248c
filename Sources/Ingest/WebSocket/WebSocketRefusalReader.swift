#if Recorders
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Reads the answer of a server that does not upgrade. Only the head is used; the body is passed over.
final class WebSocketRefusalReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// The answer, once its head has come.
    struct Answer: Sendable {
        fileprivate let head: EventLoopFuture<HTTPResponseHead>

        /// The refusal that the answer states. Waits for the head.
        func refusal() async -> WebSocketRefusal {
            guard let head = try? await head.get() else { return .unreachable("no answer to the upgrade") }
            // A date in `Retry-After` is not read; the caller then waits by its own backoff.
            let wait = head.headers.first(name: "retry-after").flatMap { Int($0) }
            return .status(
                Int(head.status.code),
                retryAfterSeconds: wait.flatMap { $0 >= 0 ? min($0, WebSocketRefusalReader.waitSecondsMax) : nil }
            )
        }
    }

    /// The longest wait that a server may ask for: it must not keep a recorder away for good.
    private static let waitSecondsMax = 3_600

    private let promise: EventLoopPromise<HTTPResponseHead>

    private init(promise: EventLoopPromise<HTTPResponseHead>) {
        self.promise = promise
    }

    /// Puts a reader at the end of a pipeline.
    static let install: @Sendable (any Channel) -> EventLoopFuture<WebSocketUpgrade> = { channel in
        let promise = channel.eventLoop.makePromise(of: HTTPResponseHead.self)
        return channel.eventLoop.makeCompletedFuture {
            do {
                try channel.pipeline.syncOperations.addHandler(WebSocketRefusalReader(promise: promise))
            } catch {
                // Nobody else fails it, and NIO ends a debug build over a promise without a result.
                promise.fail(error)
                throw error
            }
            return .refused(Answer(head: promise.futureResult))
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = Self.unwrapInboundIn(data) { promise.succeed(head) }
    }

    /// Fails the promise if no head came; a promise that has its result ignores this.
    func handlerRemoved(context: ChannelHandlerContext) {
        promise.fail(ChannelError.ioOnClosedChannel)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}

extension WebSocketRefusal {
    /// The error of opening, in a few fixed words, because errors of libraries may quote what the remote sent (I14).
    init(opening error: any Error) {
        self =
            switch error {
            case let refusal as WebSocketRefusal: refusal
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .unreachable("TLS failed")
            case is NIOConnectionError: .unreachable("no connection")
            case ChannelError.connectTimeout: .unreachable("the connection timed out")
            default: .unreachable("no answer to the upgrade")
            }
    }
}

extension WebSocketRefusal: CustomStringConvertible {
    /// The text that people read.
    var description: String {
        switch self {
        case .status(let status, _): "the server answered with HTTP status \(status) instead of opening a WebSocket"
        case .unreachable(let reason): reason
        }
    }
}
#endif
