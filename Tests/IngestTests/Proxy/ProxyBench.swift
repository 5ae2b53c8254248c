#if Recorders
import EventLog
import NIOCore
import NIOPosix
import Synchronization

@testable import Ingest

/// A proxy for one test, and a client that sends and takes bytes.
final class ProxyBench: Sendable {
    let port: Int
    private let task: Task<Void, any Error>

    /// Starts a proxy in front of a port of this machine.
    init(_ bench: LiveBench, to target: Int, faults: ProxyFaults = ProxyFaults()) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let source = try ProxySource(
            target: "http://127.0.0.1:\(target)",
            name: SourceName("proxy"),
            faults: faults
        ) {
            listening.yield($0)
        }
        task = Task { _ = try await bench.record(source) }
        var iterator = ports.makeAsyncIterator()
        port = await iterator.next() ?? 0
    }

    /// Ends it; everything is in the log then.
    func stop() async throws {
        task.cancel()
        try await task.value
    }

    /// Sends bytes and takes what comes until the connection ends or the condition holds.
    func ask(_ request: String, until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) async throws
        -> [UInt8]
    {
        let collector = Collector(isEnough)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(CollectingHandler(collector))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        try await channel.writeAndFlush(ByteBuffer(string: request))
        try await channel.closeFuture.get()
        return collector.bytes.withLock { $0 }
    }
}

private final class Collector: Sendable {
    let bytes = Mutex<[UInt8]>([])
    let isEnough: @Sendable ([UInt8]) -> Bool

    init(_ isEnough: @escaping @Sendable ([UInt8]) -> Bool) {
        self.isEnough = isEnough
    }
}

private final class CollectingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let collector: Collector

    init(_ collector: Collector) {
        self.collector = collector
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let all = collector.bytes.withLock { bytes in
            bytes += Self.unwrapInboundIn(data).readableBytesView
            return bytes
        }
        if collector.isEnough(all) { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
#endif
