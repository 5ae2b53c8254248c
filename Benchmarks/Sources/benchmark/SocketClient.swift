#if Recorders
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Clients of a `SocketServer`, with or without a proxy between.
enum SocketClient {
    /// Returns when so many frames have come.
    static func count(_ frames: Int, port: Int) async throws {
        let counter = FrameTally(frames)
        let channel = try await connect("/flood/\(frames)", port: port) { counter }
        for await _ in counter.ended {}
        try await channel.close()
    }

    /// Opens a connection whose answer has come.
    static func open(_ path: String, port: Int) async throws -> any Channel {
        let (answered, continuation) = AsyncStream<Void>.makeStream()
        let channel = try await connect(path, port: port) { AnswerAwaiter(continuation) }
        for await _ in answered {}
        return channel
    }

    /// Opens a connection and reads nothing of it.
    static func openWithoutReading(_ path: String, port: Int) async throws -> any Channel {
        try await connect(path, port: port, reads: false) { Silence() }
    }

    /// The times of round trips of frames that go out one each millisecond, in seconds. The first fifth is left out.
    static func roundTrips(_ count: Int, port: Int) async throws -> [Double] {
        let pinger = Pinger(count)
        let channel = try await connect("/echo", port: port) { pinger }
        var times: [Double] = []
        for await found in pinger.times { times = found }
        try await channel.close()
        return times
    }

    private static func connect(
        _ path: String,
        port: Int,
        reads: Bool = true,
        _ handler: @escaping @Sendable () -> some ChannelInboundHandler & Sendable
    ) async throws -> any Channel {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { $0.pipeline.addHandler(handler()) }
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(
            ByteBuffer(
                string: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
        )
        return channel
    }
}

/// Finds the end of a head.
struct HeadScan {
    private var matched = 0
    private(set) var isOver = false

    /// Reads up to the end of the head.
    mutating func read(_ buffer: inout ByteBuffer) {
        while !isOver, let byte: UInt8 = buffer.readInteger() {
            matched = byte == (matched % 2 == 0 ? 13 : 10) ? matched + 1 : byte == 13 ? 1 : 0
            isOver = matched == 4
        }
    }
}

/// Counts frames by their headers. Used on one event loop.
private final class FrameTally: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    let ended: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private var head = HeadScan()
    private var left: Int
    /// Bytes of a payload that are still to come.
    private var rest = 0
    private var header: [UInt8] = []

    init(_ count: Int) {
        left = count
        (ended, continuation) = AsyncStream.makeStream()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = Self.unwrapInboundIn(data)
        head.read(&buffer)
        buffer.withUnsafeReadableBytes { bytes in
            var place = 0
            while place < bytes.count {
                if rest > 0 {
                    let count = min(rest, bytes.count - place)
                    (place, rest) = (place + count, rest - count)
                } else {
                    header.append(bytes[place])
                    place += 1
                    if let length = Self.length(header) {
                        rest = length
                        header.removeAll(keepingCapacity: true)
                    }
                }
                if rest == 0, header.isEmpty { left -= 1 }
            }
        }
        if left == 0 { continuation.finish() }
    }

    func channelInactive(context: ChannelHandlerContext) { continuation.finish() }

    /// The length that a whole header states.
    private static func length(_ header: [UInt8]) -> Int? {
        guard header.count >= 2 else { return nil }
        guard header[1] == 126 else { return Int(header[1]) }
        return header.count == 4 ? Int(header[2]) << 8 | Int(header[3]) : nil
    }
}

/// Waits for the end of the answer's head.
private final class AnswerAwaiter: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private var head = HeadScan()
    private var continuation: AsyncStream<Void>.Continuation?

    init(_ continuation: AsyncStream<Void>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = Self.unwrapInboundIn(data)
        head.read(&buffer)
        if head.isOver { end() }
    }

    func channelInactive(context: ChannelHandlerContext) { end() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func end() {
        continuation?.finish()
        continuation = nil
    }
}

private final class Silence: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
}

/// Sends frames with their number, one each millisecond, and takes the time until each comes back. Used on one event loop.
private final class Pinger: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    let times: AsyncStream<[Double]>
    private let continuation: AsyncStream<[Double]>.Continuation
    private let count: Int
    private var head = HeadScan()
    private var sent: [ContinuousClock.Instant] = []
    private var found: [Double] = []
    private var unread = ByteBuffer()
    private var timer: RepeatedTask?

    init(_ count: Int) {
        self.count = count
        (times, continuation) = AsyncStream.makeStream()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = Self.unwrapInboundIn(data)
        if !head.isOver {
            head.read(&buffer)
            if head.isOver { begin(context.channel) }
        }
        unread.writeBuffer(&buffer)
        while unread.readableBytes >= SocketServer.textBytes + 4, found.count < sent.count {
            unread.moveReaderIndex(forwardBy: SocketServer.textBytes + 4)
            found.append((ContinuousClock.now - sent[found.count]) / .seconds(1))
        }
        unread.discardReadBytes()
        if found.count == count { end() }
    }

    func channelInactive(context: ChannelHandlerContext) { end() }

    private func begin(_ channel: any Channel) {
        timer = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { task in
            guard self.sent.count < self.count else { return task.cancel() }
            let text = SocketServer.text(self.sent.count)
            var frame = SocketServer.frame(text)
            // Masked by zeros.
            frame[1] |= 0x80
            frame.insert(contentsOf: [0, 0, 0, 0], at: 4)
            self.sent.append(.now)
            channel.writeAndFlush(ByteBuffer(bytes: frame), promise: nil)
        }
    }

    private func end() {
        timer?.cancel()
        continuation.yield(Array(found.dropFirst(count / 5)))
        continuation.finish()
    }
}
#endif
