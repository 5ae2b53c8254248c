#if Recorders
import NIOCore
import NIOHTTP1

/// The end of a client's pipeline.
final class ProxyClientHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let pair: ProxyPair

    init(_ pair: ProxyPair) {
        self.pair = pair
    }

    func channelActive(context: ChannelHandlerContext) { pair.opened() }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { pair.take(Self.unwrapInboundIn(data)) }
    func channelReadComplete(context: ChannelHandlerContext) { pair.readComplete(.client) }
    func channelWritabilityChanged(context: ChannelHandlerContext) { pair.pump() }
    func channelInactive(context: ChannelHandlerContext) { pair.ended(.client) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError {
            pair.refuse(ProxyRefusal(status: 400, reason: "the request is no HTTP/1.1"))
        } else {
            pair.ended(.client)
        }
    }
}

/// The end of a target's pipeline.
final class ProxyTargetHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let pair: ProxyPair

    init(_ pair: ProxyPair) {
        self.pair = pair
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { pair.take(Self.unwrapInboundIn(data)) }
    func channelReadComplete(context: ChannelHandlerContext) { pair.readComplete(.target) }
    func channelWritabilityChanged(context: ChannelHandlerContext) { pair.pump() }
    func channelInactive(context: ChannelHandlerContext) { pair.ended(.target) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { pair.failed(error) }
}

/// The end of either pipeline once bytes pass as they are.
final class ProxyBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let pair: ProxyPair
    private let side: ProxyPair.Side

    init(_ pair: ProxyPair, _ side: ProxyPair.Side) {
        (self.pair, self.side) = (pair, side)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { pair.take(Self.unwrapInboundIn(data), side) }
    func channelReadComplete(context: ChannelHandlerContext) { pair.readComplete(side) }
    func channelWritabilityChanged(context: ChannelHandlerContext) { pair.pump() }
    func channelInactive(context: ChannelHandlerContext) { pair.ended(side) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { pair.ended(side) }
}
#endif
