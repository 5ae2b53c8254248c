#if Recorders
import EventLog
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// What all connections of a proxy share.
final class ProxyService: Sendable {
    private let target: WebSocketEndpoint?
    /// `nil` if nothing is passed on, and only observations are taken.
    let headers: ProxyHeaders?
    let faults: ProxyFaults
    let counter: FaultCounter
    let journal: ProxyJournal
    let secrets: KnownSecrets
    /// The host whose name requests must have; `nil` lets all pass.
    let host: String?
    private let trust: NIOSSLContext?
    private let complaints: Mutex<Complaints>
    private let clients = Mutex<[ObjectIdentifier: any Channel]>([:])
    private let stopping = Atomic<Bool>(false)

    /// The most clients at once.
    private static let clientsMax = 20_000
    /// How long a client may take to send its first head.
    static let headTimeout = TimeAmount.seconds(30)
    private static let connectTimeout = TimeAmount.seconds(15)

    init(_ recording: Recording, target: WebSocketEndpoint?, faults: ProxyFaults, host: String?) throws {
        (self.target, self.faults, self.host) = (target, faults, host)
        headers = target.map { ProxyHeaders(target: $0, faults: faults) }
        counter = FaultCounter(faults)
        journal = try ProxyJournal(recording)
        secrets = recording.secrets
        complaints = Mutex(Complaints(recording))
        trust =
            try target?.isSecure == true
            ? recording.http.trust ?? NIOSSLContext(configuration: .makeClientConfiguration()) : nil
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Adds a client, unless there are too many.
    func add(_ channel: any Channel) -> Bool {
        clients.withLock { clients in
            guard clients.count < Self.clientsMax else { return false }
            clients[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    func remove(_ channel: any Channel) {
        clients.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Closes all connections, and returns once their ends are in the journal.
    func stop() async {
        stopping.store(true, ordering: .relaxed)
        let open = clients.withLock { Array($0.values) }
        for channel in open { channel.close(promise: nil) }
        for channel in open { try? await channel.closeFuture.get() }
        // The handlers hear of the end in the turn after it.
        for channel in open { try? await channel.eventLoop.submit {}.get() }
    }

    func failed(_ cause: String) {
        complaints.withLock { $0.failed("the target cannot be reached", cause) }
    }

    func connected() {
        complaints.withLock { $0.succeeded("connected to the target") }
    }

    /// Sets up the pipeline of a client.
    func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard self.add(channel) else { throw ChannelError.operationUnsupported }
            let pair = ProxyPair(self, client: channel)
            let encoder = HTTPResponseEncoder(configuration: Self.answerConfiguration)
            let decoder = Self.requestDecoder()
            let handler = ProxyClientHandler(pair)
            try channel.pipeline.syncOperations.addHandlers([encoder, decoder, handler])
            pair.clientParts = (encoder, decoder, handler)
        }
    }

    /// Connects a pair to the target, on the event loop of its client.
    func connect(_ pair: ProxyPair) -> EventLoopFuture<any Channel> {
        let loop = pair.client.eventLoop
        guard let target else { return loop.makeFailedFuture(ChannelError.operationUnsupported) }
        let bound = NIOLoopBound(pair, eventLoop: loop)
        var bootstrap = ClientBootstrap(group: loop).connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1).channelOption(.autoRead, value: false)
            .channelOption(.writeBufferWaterMark, value: Self.waterMark)
            .channelOption(.recvAllocator, value: ProxyBuffers()).channelOption(.maxMessagesPerRead, value: 1)
        for (option, value) in KeepAlive.options { bootstrap = bootstrap.channelOption(option, value: value) }
        let (trust, name) = (trust, target.serverName)
        return bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let trust { try pipeline.addHandler(NIOSSLClientHandler(context: trust, serverHostname: name)) }
                let encoder = HTTPRequestEncoder(configuration: Self.requestConfiguration)
                let decoder = ByteToMessageHandler(
                    HTTPResponseDecoder(
                        leftOverBytesStrategy: .forwardBytes,
                        informationalResponseStrategy: .forward
                    )
                )
                let handler = ProxyTargetHandler(bound.value)
                try pipeline.addHandlers([encoder, decoder, handler])
                bound.value.targetParts = (encoder, decoder, handler)
            }
        }.connect(host: target.host, port: target.port)
    }

    /// The bytes above which a side counts as not writable, and below which it does again.
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 256 << 10)

    static func requestDecoder() -> ByteToMessageHandler<HTTPRequestDecoder> {
        ByteToMessageHandler(
            HTTPRequestDecoder(
                leftOverBytesStrategy: .forwardBytes,
                informationalResponseStrategy: .forward
            )
        )
    }

    private static var answerConfiguration: HTTPResponseEncoder.Configuration {
        var configuration = HTTPResponseEncoder.Configuration()
        configuration.automaticallySetFramingHeaders = false
        return configuration
    }

    private static var requestConfiguration: HTTPRequestEncoder.Configuration {
        var configuration = HTTPRequestEncoder.Configuration()
        configuration.automaticallySetFramingHeaders = false
        return configuration
    }
}
#endif
