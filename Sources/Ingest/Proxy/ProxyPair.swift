#if Recorders
import EventLog
import NIOCore
import NIOHTTP1

/// A client's connection and the target's connection that belongs to it. Both are on one event loop, which alone uses
/// this.
///
/// No side reads while the other one cannot take more, or the log is behind: so memory is bounded.
final class ProxyPair {
    enum Side { case client, target }

    enum Phase {
        case http
        /// Bytes pass as they are.
        case raw
        /// A local answer ends the connection once those before it have passed.
        case answering
        /// Cut half: the client's connection is open, and nothing passes.
        case dead
        case closed
    }

    let service: ProxyService
    let client: any Channel
    var target: (any Channel)?
    var phase = Phase.http
    var clientParts: (HTTPResponseEncoder, ByteToMessageHandler<HTTPRequestDecoder>, ProxyClientHandler)?
    var targetParts: (HTTPRequestEncoder, ByteToMessageHandler<HTTPResponseDecoder>, ProxyTargetHandler)?
    /// Requests whose answers have not ended, in order.
    var exchanges: [ProxyExchange] = []
    /// The local answer that comes behind them.
    var local: ProxyObserved?
    var socket: ProxySocket?
    /// The bytes of delayed messages.
    var delayedBytes = 0
    /// Parts that wait for the target's connection.
    private var waiting: [HTTPClientRequestPart] = []
    private var isConnecting = false
    /// Whether a side has read what it asked for.
    private var isIdle = (client: true, target: true)
    private var awaitsRoom = false
    private var headTimer: Scheduled<Void>?
    private var cutTimer: Scheduled<Void>?

    /// The most requests whose answers are outstanding.
    private static let exchangesMax = 64
    private static let delayedBytesMax = 4 << 20

    init(_ service: ProxyService, client: any Channel) {
        (self.service, self.client) = (service, client)
    }

    var loop: any EventLoop { client.eventLoop }

    // MARK: - The client

    func opened() {
        headTimer = loop.assumeIsolated().scheduleTask(in: ProxyService.headTimeout) { self.close() }
        pump()
    }

    func take(_ part: HTTPServerRequestPart) {
        switch (phase, part) {
        case (.answering, .body(let buffer)):
            if local?.append(buffer) == false { answerLocally() }
        case (.answering, .end):
            local?.isWhole = true
            answerLocally()
        case (.http, .head(let head)): begin(head)
        case (.http, .body(let buffer)):
            exchanges.last?.requestBody(buffer)
            send(.body(.byteBuffer(buffer)))
        case (.http, .end(let trailers)):
            exchanges.last?.requestEnded(at: service.journal.now)
            send(.end(trailers))
        default: break
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        headTimer?.cancel()
        if let refusal = ProxyRefusal.find(in: head, listeningOn: service.host) { return refuse(refusal) }
        if head.uri.hasPrefix("/_eventlog/") {
            (phase, local) = (.answering, ProxyObserved(head, allowsAnySite: service.host == nil))
            return
        }
        guard let headers = service.headers else {
            return refuse(
                ProxyRefusal(status: 404, reason: "observations alone are taken here: POST /_eventlog/observed")
            )
        }
        service.secrets.note(head)
        let exchange = ProxyExchange(head)
        exchanges.append(exchange)
        var head = head
        head.headers = headers.request(head.headers, proxy: exchange.proxy)
        send(.head(head))
    }

    /// Answers a request that is not forwarded, and closes.
    func refuse(_ refusal: ProxyRefusal) {
        guard phase == .http || phase == .answering else { return close() }
        (phase, local) = (.answering, ProxyObserved(refusal))
        answerLocally()
    }

    /// Writes the local answer once it is its turn.
    func answerLocally() {
        guard phase == .answering, exchanges.isEmpty, let local, let answer = local.answer(service.journal) else {
            return
        }
        self.local = nil
        for part in answer { client.write(part, promise: nil) }
        closeAfterFlush()
    }

    private func send(_ part: HTTPClientRequestPart) {
        if let target { return target.write(part, promise: nil) }
        waiting.append(part)
        guard !isConnecting else { return }
        isConnecting = true
        service.connect(self).assumeIsolated().whenComplete { self.connected($0) }
    }

    private func connected(_ result: Result<any Channel, any Error>) {
        isConnecting = false
        switch result {
        case .success(let channel):
            guard phase != .closed else { return channel.close(promise: nil) }
            target = channel
            service.connected()
            for part in waiting { channel.write(part, promise: nil) }
            waiting = []
            channel.flush()
            pump()
        case .failure(let error): unreachable(HTTPTrouble(error).description)
        }
    }

    /// The target gave nothing.
    private func unreachable(_ cause: String) {
        service.failed(cause)
        (exchanges, waiting) = ([], [])
        refuse(ProxyRefusal(status: 502, reason: "the target cannot be reached: \(cause)"))
    }

    // MARK: - Reading

    func readComplete(_ side: Side) {
        if side == .client {
            isIdle.client = true
            target?.flush()
        } else {
            isIdle.target = true
            client.flush()
        }
        pump()
    }

    /// Reads from the sides that may go on.
    func pump() {
        guard phase != .closed else { return }
        if service.journal.isFull { return awaitRoom() }
        if isIdle.client, mayReadClient {
            isIdle.client = false
            client.read()
        }
        if let target, isIdle.target, phase == .http || phase == .raw || phase == .answering,
            client.isWritable, delayedBytes < Self.delayedBytesMax
        {
            isIdle.target = false
            target.read()
        }
    }

    private var mayReadClient: Bool {
        switch phase {
        case .http:
            !isConnecting && target?.isWritable ?? true && exchanges.count < Self.exchangesMax
                && exchanges.last?.wantsUpgrade != true
        case .raw: target?.isWritable ?? false
        case .answering: local.map { !$0.isWhole } ?? true
        case .dead: true
        case .closed: false
        }
    }

    private func awaitRoom() {
        guard !awaitsRoom else { return }
        awaitsRoom = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        service.journal.whenRoom { [loop] in
            loop.execute {
                bound.value.awaitsRoom = false
                bound.value.pump()
            }
        }
    }

    // MARK: - Ends

    /// Closes the client's connection once everything written has left.
    func closeAfterFlush() {
        let promise = loop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in self.close() }
        if phase == .raw {
            client.writeAndFlush(ByteBuffer(), promise: promise)
        } else {
            client.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer())), promise: promise)
        }
    }

    func failed(_ error: any Error) {
        if target == nil || exchanges.first.map({ $0.status == nil }) ?? false, phase == .http {
            unreachable(HTTPTrouble(error).description)
        } else {
            ended(.target)
        }
    }

    /// A side has ended.
    func ended(_ side: Side) {
        guard phase != .closed else { return }
        guard side == .target else { return close() }
        target = nil
        guard phase != .dead, !waitsForDelay() else { return }
        finishRecording(isByClient: false)
        // The client asked, and nothing of an answer came.
        if phase == .http, let first = exchanges.first, first.status == nil {
            return unreachable("it closed the connection without an answer")
        }
        if phase == .answering, exchanges.isEmpty { return }
        closeAfterFlush()
    }

    /// Whether delayed messages are still to pass; then the end follows them.
    private func waitsForDelay() -> Bool {
        guard delayedBytes > 0, let delay = service.faults.delay else { return false }
        loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            guard self.phase != .closed, self.phase != .dead else { return }
            self.finishRecording(isByClient: false)
            self.closeAfterFlush()
        }
        return true
    }

    func close() {
        guard phase != .closed else { return }
        finishRecording(isByClient: true)
        phase = .closed
        headTimer?.cancel()
        cutTimer?.cancel()
        target?.close(promise: nil)
        client.close(promise: nil)
        service.remove(client)
        // The handlers hold this too.
        (clientParts, targetParts, target, local, socket) = (nil, nil, nil, nil, nil)
        (exchanges, waiting) = ([], [])
    }

    private func finishRecording(isByClient: Bool) {
        let streams = exchanges.compactMap { $0.stream?.messages } + [socket?.messages].compactMap { $0 }
        if service.isStopping {
            for messages in streams { messages.close(code: nil, reason: "recorder stopped", isLoss: false) }
        }
        for stream in exchanges.compactMap({ $0.stream }) {
            stream.messages.release { pass($0) }
            let reason = isByClient ? "closed by the client" : "connection lost"
            stream.messages.close(code: nil, reason: reason, isLoss: !isByClient)
        }
        socket?.messages.release { pass($0) }
        socket?.end(isByClient: isByClient)
    }

    /// Writes bytes of a message to the client.
    func pass(_ buffer: ByteBuffer) {
        guard phase != .closed, phase != .dead else { return }
        if phase == .raw {
            client.write(buffer, promise: nil)
        } else {
            client.write(HTTPServerResponsePart.body(.byteBuffer(buffer)), promise: nil)
        }
    }

    /// Cuts the connection of a WebSocket or stream, without a word.
    func cut() {
        guard phase != .closed, phase != .dead else { return }
        let streams = exchanges.compactMap { $0.stream?.messages } + [socket?.messages].compactMap { $0 }
        for messages in streams { messages.close(code: nil, reason: "cut by the proxy", isLoss: true) }
        if service.faults.isHalfOpen { client.flush() } else { closeAfterFlush() }
        guard phase != .closed else { return }
        // Nothing that has come already passes behind the cut.
        phase = .dead
        target?.close(promise: nil)
        pump()
    }

    /// Cuts the connection after the time that the faults name.
    func scheduleCut() {
        guard let span = service.faults.cutEvery else { return }
        cutTimer?.cancel()
        cutTimer = loop.assumeIsolated().scheduleTask(in: TimeAmount(span)) { self.cut() }
    }
}
#endif
