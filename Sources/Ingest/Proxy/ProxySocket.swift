#if Recorders
import EventLog
import NIOCore
import NIOHTTP1

/// The recording of one WebSocket while its bytes pass. Used on the event loop of its connection.
final class ProxySocket {
    let messages: ProxyMessages
    private var incoming: SocketMessageReader
    private var outgoing: SocketMessageReader
    /// The bytes from the server behind the last whole message, where faults work on messages.
    private var rest: ByteBuffer?
    private var close: (code: UInt16, isByClient: Bool)?

    /// The most bytes of a message that faults may work on; a longer one passes as it comes.
    private static let restBytesMax = 64 << 20

    /// - Parameter answer: the fields of the answer to the upgrade, which name the extension.
    init(_ messages: ProxyMessages, answer: HTTPHeaders) {
        self.messages = messages
        let words = answer[canonicalForm: "sec-websocket-extensions"].first?.lowercased()
            .split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        func reader(_ side: String) -> SocketMessageReader {
            guard let words, words.first == "permessage-deflate" else {
                return SocketMessageReader(inflater: nil, forgetsWindow: false)
            }
            let start = "\(side)_max_window_bits="
            let bits = words.first { $0.hasPrefix(start) }.flatMap {
                Int32($0.dropFirst(start.count).filter { $0 != "\"" })
            }
            return SocketMessageReader(
                inflater: Inflater(.raw(windowBits: min(max(bits ?? 15, 8), 15))),
                forgetsWindow: words.contains("\(side)_no_context_takeover")
            )
        }
        (incoming, outgoing) = (reader("server"), reader("client"))
    }

    /// Records bytes that passed.
    func passed(_ buffer: ByteBuffer, _ direction: FrameDirection) {
        messages.record(direction) { made in
            if direction == .in {
                incoming.push(buffer) { event, _ in add(event, direction, &made) }
            } else {
                outgoing.push(buffer) { event, _ in add(event, direction, &made) }
            }
        }
    }

    private func add(_ event: SocketMessageReader.Event, _ direction: FrameDirection, _ made: inout ProxyDrafts) {
        switch event {
        case .message(let content): made.add(content)
        case .close(let code): note(code, direction)
        }
    }

    /// Cuts bytes from the server into messages; the bytes of an unfinished one wait.
    func cut(_ buffer: ByteBuffer) -> [ProxyMessages.Message] {
        let before = rest?.readableBytes ?? 0
        var whole = rest ?? ByteBuffer()
        whole.writeImmutableBuffer(buffer)
        var (result, taken) = ([ProxyMessages.Message](), 0)
        incoming.push(buffer) { event, end in
            let raw = whole.readSlice(length: before + end - taken) ?? ByteBuffer()
            taken = before + end
            switch event {
            case .message(let content): result.append(ProxyMessages.Message(raw: raw, content: content.kept))
            case .close(let code):
                note(code, .in)
                result.append(ProxyMessages.Message(raw: raw, content: nil))
            }
        }
        if incoming.isLost || whole.readableBytes > Self.restBytesMax {
            result.append(ProxyMessages.Message(raw: whole, content: nil))
            whole = ByteBuffer()
        }
        rest = whole.readableBytes > 0 ? whole : nil
        return result
    }

    private func note(_ code: UInt16, _ direction: FrameDirection) {
        if close == nil { close = (code, direction == .out) }
    }

    /// Records the end of the connection.
    ///
    /// - Parameter isByClient: whether the client's connection ended first.
    func end(isByClient: Bool) {
        if let close {
            let reason = close.isByClient ? "closed by the client" : "closed by the server"
            messages.close(code: close.code, reason: reason, isLoss: !close.isByClient)
        } else {
            let reason = isByClient ? "connection lost by the client" : "connection lost"
            messages.close(code: 1006, reason: reason, isLoss: !isByClient)
        }
    }
}
#endif
