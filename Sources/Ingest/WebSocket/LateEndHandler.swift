#if Recorders
import NIOCore

/// Tells of a connection's end one turn of the event loop later.
///
/// A server may send messages right behind its answer to the upgrade and close: all of it is read in one turn. NIO's HTTP
/// decoder keeps what stands behind the answer until the turn after, in which it hands it to the WebSocket's handlers, and
/// drops it where the end comes first.
final class LateEndHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelInactive(context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().execute { context.fireChannelInactive() }
    }
}
#endif
