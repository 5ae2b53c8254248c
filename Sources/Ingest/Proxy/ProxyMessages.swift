#if Recorders
import EventLog
import NIOCore

/// One WebSocket or event stream: applies the faults to the messages from the server, and records what passed.
///
/// Used on the event loop of its connection.
final class ProxyMessages {
    /// A message from the server, with its bytes as they pass.
    struct Message {
        let raw: ByteBuffer
        /// `nil` for bytes that are no message: control frames and comments.
        let content: KeptContent.Result?
    }

    let path: String
    private let journal: ProxyJournal
    private let counters: ConnectionCounters
    private let kind: EventKind
    private let counter: FaultCounter
    /// The message that waits to change places.
    private var held: Message?
    private var isClosed = false

    init(_ service: ProxyService, path: String, kind: EventKind) {
        (journal, counter) = (service.journal, service.counter)
        (self.path, self.kind) = (path, kind)
        counters = service.journal.connection()
        journal.open(counters, path: path)
    }

    /// Records a message without faults.
    func record(_ content: KeptContent.Result, _ direction: FrameDirection, fault: String? = nil) {
        guard !isClosed else { return }
        var pairs = [("connection", counters.name), ("path", path)]
        if kind != .serverSentEvent { pairs.append(("dir", direction.rawValue)) }
        if let fault { pairs.append(("fault", fault)) }
        journal.record(kind, counters, content, pairs)
    }

    /// Passes a message from the server with its faults.
    ///
    /// - Parameter pass: writes to the client.
    /// - Returns: true if the connection is to be cut behind it.
    func deliver(_ message: Message, _ pass: (ByteBuffer) -> Void) -> Bool {
        guard let content = message.content else {
            pass(message.raw)
            return false
        }
        let verdict = counter.next()
        if verdict.isDropped {
            journal.dropped(counters, path: path)
        } else if verdict.isHeld, held == nil {
            held = message
            return verdict.isCut
        } else {
            let isSwapped = held != nil
            pass(message.raw)
            record(content, .in, fault: isSwapped ? "swap" : nil)
            if verdict.isDoubled {
                pass(message.raw)
                record(content, .in, fault: "duplicate")
            }
        }
        release(pass)
        return verdict.isCut
    }

    /// Passes the message that waits to change places.
    func release(_ pass: (ByteBuffer) -> Void) {
        guard let held, let content = held.content else { return }
        self.held = nil
        pass(held.raw)
        record(content, .in, fault: "swap")
    }

    /// Records the end, once.
    func close(code: UInt16?, reason: String, isLoss: Bool) {
        guard !isClosed else { return }
        isClosed = true
        journal.close(counters, path: path, code: code, reason: reason, isLoss: isLoss)
    }
}
#endif
