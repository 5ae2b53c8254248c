#if Recorders
import EventLog
import NIOCore
import NIOHTTP1

/// What comes from the target.
extension ProxyPair {
    func take(_ part: HTTPClientResponsePart) {
        guard phase == .http || phase == .answering, let exchange = exchanges.first else { return }
        switch part {
        case .head(let head): begin(head, exchange)
        case .body(let buffer): body(buffer, exchange)
        case .end(let trailers): end(trailers, exchange)
        }
    }

    private func begin(_ head: HTTPResponseHead, _ exchange: ProxyExchange) {
        for cookie in head.headers["set-cookie"] { service.secrets.note(cookie: cookie.prefix { $0 != ";" }) }
        var changed = head
        if let headers = service.headers { changed.headers = headers.answer(head.headers, proxy: exchange.proxy) }
        let status = Int(head.status.code)
        if (100..<200).contains(status), status != 101 {
            client.writeAndFlush(HTTPServerResponsePart.head(changed), promise: nil)
            return
        }
        exchange.began(head)
        if EventStreamSplitter.isEventStream(head.headers.first(name: "content-type")), !exchange.isBodiless {
            let messages = ProxyMessages(service, path: exchange.path, kind: .serverSentEvent)
            let isHeld = service.faults.worksOnMessages
            exchange.stream = ProxyEventStream(
                messages,
                journal: service.journal,
                headers: head.headers,
                holdsEvents: isHeld
            )
            // Faults change the length.
            if isHeld, changed.headers.contains(name: "content-length") {
                changed.headers.remove(name: "content-length")
                changed.headers.add(name: "Transfer-Encoding", value: "chunked")
            }
            scheduleCut()
        }
        if status == 101, exchange.isWebSocket {
            let messages = ProxyMessages(service, path: exchange.path, kind: .socketFrame)
            socket = ProxySocket(messages, answer: head.headers)
            scheduleCut()
        }
        client.write(HTTPServerResponsePart.head(changed), promise: nil)
    }

    private func body(_ buffer: ByteBuffer, _ exchange: ProxyExchange) {
        guard let stream = exchange.stream else {
            exchange.answerBody(buffer)
            return pass(buffer)
        }
        guard service.faults.worksOnMessages, stream.isPlain else {
            pass(buffer)
            return stream.passed(buffer)
        }
        for message in stream.cut(buffer) { deliver(message, stream.messages) }
    }

    private func end(_ trailers: HTTPHeaders?, _ exchange: ProxyExchange) {
        if exchange.status == 101 { return becomeRaw(exchange) }
        guard delayedBytes > 0, let delay = service.faults.delay else { return finish(trailers, exchange) }
        // The end comes behind the messages that wait.
        later(delay) { pair in
            if pair.exchanges.first === exchange { pair.finish(trailers, exchange) }
        }
    }

    private func finish(_ trailers: HTTPHeaders?, _ exchange: ProxyExchange) {
        exchange.ended(service.journal)
        if let stream = exchange.stream {
            stream.messages.release { pass($0) }
            stream.messages.close(code: nil, reason: "closed by the server", isLoss: true)
        }
        exchanges.removeFirst()
        // The encoder would end a body that is not there.
        if !exchange.isBodiless {
            client.writeAndFlush(HTTPServerResponsePart.end(trailers), promise: nil)
        } else {
            client.flush()
        }
        if exchange.wantsUpgrade { renewDecoder() }
        answerLocally()
        pump()
    }

    /// The decoder reads nothing behind a request to upgrade; one that was refused needs another.
    private func renewDecoder() {
        guard let (encoder, decoder, handler) = clientParts, phase == .http else { return }
        let fresh = ProxyService.requestDecoder()
        let pipeline = client.pipeline.syncOperations
        guard (try? pipeline.addHandler(fresh, position: .after(decoder))) != nil else { return close() }
        pipeline.removeHandler(decoder, promise: nil)
        clientParts = (encoder, fresh, handler)
        // The bytes that the old one held come in the next turn, without the end of a read.
        loop.assumeIsolated().execute { self.readComplete(.client) }
    }

    /// Takes HTTP out of both pipelines; bytes that came with the answer pass first.
    private func becomeRaw(_ exchange: ProxyExchange) {
        guard let clientParts, let targetParts, let target, exchange.wantsUpgrade, exchanges.count == 1 else {
            return close()
        }
        client.flush()
        exchanges = []
        phase = .raw
        // The decoders of HTTP are not held while the connection lasts.
        (self.clientParts, self.targetParts) = (nil, nil)
        do {
            let (near, far) = (client.pipeline.syncOperations, target.pipeline.syncOperations)
            try near.addHandler(ProxyBytesHandler(self, .client))
            try far.addHandler(ProxyBytesHandler(self, .target))
            near.removeHandler(clientParts.2, promise: nil)
            near.removeHandler(clientParts.0, promise: nil)
            near.removeHandler(clientParts.1, promise: nil)
            far.removeHandler(targetParts.2, promise: nil)
            far.removeHandler(targetParts.0, promise: nil)
            far.removeHandler(targetParts.1, promise: nil)
        } catch {
            return close()
        }
        // Leftover bytes come in the next turn, so both sides are flushed and read behind them.
        loop.assumeIsolated().execute {
            self.client.flush()
            self.target?.flush()
            self.pump()
        }
    }

    /// Passes bytes of an upgraded connection.
    func take(_ buffer: ByteBuffer, _ side: Side) {
        guard phase == .raw else { return }
        if side == .client {
            target?.write(buffer, promise: nil)
            socket?.passed(buffer, .out)
        } else if let socket, service.faults.worksOnMessages {
            for message in socket.cut(buffer) { deliver(message, socket.messages) }
        } else {
            client.write(buffer, promise: nil)
            socket?.passed(buffer, .in)
        }
    }

    /// Passes a message with its faults, after its delay.
    private func deliver(_ message: ProxyMessages.Message, _ messages: ProxyMessages) {
        let count = message.raw.readableBytes
        guard let delay = service.faults.delay else {
            guard phase == .http || phase == .raw else { return }
            if messages.deliver(message, { pass($0) }) { cut() }
            return
        }
        delayedBytes += count
        later(delay) { pair in
            pair.delayedBytes -= count
            guard pair.phase == .http || pair.phase == .raw else { return }
            let isCut = messages.deliver(message) { pair.pass($0) }
            pair.client.flush()
            if isCut { pair.cut() } else { pair.pump() }
        }
    }

    private func later(_ delay: Duration, _ body: @escaping (ProxyPair) -> Void) {
        loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { body(self) }
    }
}
#endif
