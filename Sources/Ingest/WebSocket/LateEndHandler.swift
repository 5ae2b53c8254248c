#if Recorders
import NIOCore

/// Reports a connection's end one turn of the event loop later.
///
/// A server may send messages right behind its answer to the upgrade and then close, and all of this may be read in one
/// turn. NIO's HTTP decoder hands the bytes behind the answer to the WebSocket's handlers only in the next turn, and
/// drops them if the end comes first. The handler therefore comes before the decoder in the pipeline.
final class LateEndHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelInactive(context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().execute { context.fireChannelInactive() }
    }
}
#endif
