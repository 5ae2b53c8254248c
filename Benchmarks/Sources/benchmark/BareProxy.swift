#if Recorders
import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import NIOWebSocket

/// A proxy of NIO alone: it passes bytes as they come, or decodes and encodes each WebSocket frame. Runs in a process of its own.
enum BareProxy {
    enum Way: String { case bytes, frames }

    /// Serves until the process is ended; says its port as `logtool proxy` does.
    ///
    /// - Parameter arguments: the way, and the port of the server.
    static func answer(_ arguments: [String]) async throws {
        guard arguments.count == 2, let way = Way(rawValue: arguments[0]), let port = Int(arguments[1]) else {
            throw ValidationError("a bare proxy needs bytes or frames, and a port")
        }
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .channelOption(.autoRead, value: false)
                    .channelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
                    .connect(host: "127.0.0.1", port: port)
                    .flatMapThrowing { target in
                        let near = BareProxySide(target, way, isTarget: false)
                        let far = BareProxySide(client, way, isTarget: true)
                        (near.other, far.other) = (far, near)
                        try client.pipeline.syncOperations.addHandler(near)
                        try target.pipeline.syncOperations.addHandler(far)
                        far.read()
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        FileHandle.standardError.write(
            Data("proxy at http://127.0.0.1:\(channel.localAddress?.port ?? 0) for it\n".utf8)
        )
        try await channel.closeFuture.get()
    }
}

/// One side of a connection: passes what comes to the other. Both are on one event loop, and hold each other until the connection
/// ends.
private final class BareProxySide: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let peer: any Channel
    private let decodesFrames: Bool
    private let isTarget: Bool
    var other: BareProxySide?
    private var head = HeadScan()
    private var isFraming = false
    private var isIdle = true
    private var context: ChannelHandlerContext?

    init(_ peer: any Channel, _ way: BareProxy.Way, isTarget: Bool) {
        (self.peer, self.isTarget, decodesFrames) = (peer, isTarget, way == .frames)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Of the client's side alone: the other one is active when the handler is added.
    func channelActive(context: ChannelHandlerContext) { read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isFraming { return context.fireChannelRead(data) }
        var buffer = Self.unwrapInboundIn(data)
        guard decodesFrames, isTarget else { return peer.write(buffer, promise: nil) }
        let whole = buffer
        head.read(&buffer)
        let answer = whole.getSlice(at: whole.readerIndex, length: buffer.readerIndex - whole.readerIndex)
        peer.write(answer ?? ByteBuffer(), promise: nil)
        guard head.isOver else { return }
        // The client waits for the answer, so no frame of its own is under way.
        do {
            try beginFrames(context.channel)
            try other?.beginFrames(peer)
            context.fireChannelRead(Self.wrapInboundOut(buffer))
        } catch {
            context.close(promise: nil)
        }
    }

    private func beginFrames(_ channel: any Channel) throws {
        isFraming = true
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(WebSocketFrameEncoder())
        try pipeline.addHandler(ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: 16 << 20)))
        try pipeline.addHandler(BareFrames(peer))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isIdle = true
        peer.flush()
        read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { other?.read() }

    func channelInactive(context: ChannelHandlerContext) {
        other?.other = nil
        other = nil
        peer.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func read() {
        guard isIdle, peer.isWritable, let context else { return }
        isIdle = false
        context.read()
    }
}

/// Passes the frames of one side.
private final class BareFrames: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let peer: any Channel

    init(_ peer: any Channel) {
        self.peer = peer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        let passed = WebSocketFrame(
            fin: frame.fin,
            rsv1: frame.rsv1,
            rsv2: frame.rsv2,
            rsv3: frame.rsv3,
            opcode: frame.opcode,
            maskKey: frame.maskKey,
            data: frame.unmaskedData
        )
        peer.write(passed, promise: nil)
    }
}
#endif
