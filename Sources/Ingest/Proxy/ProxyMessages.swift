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
    /// The attributes that all messages of a direction share, made with the first.
    private var inAttributes: Attributes?
    private var outAttributes: Attributes?

    init(_ service: ProxyService, path: String, kind: EventKind) {
        (journal, counter) = (service.journal, service.counter)
        (self.path, self.kind) = (path, kind)
        counters = service.journal.connection()
        journal.open(counters, path: path)
    }

    /// Records messages that came together.
    ///
    /// - Parameter add: adds them, in order; not called once the end is recorded.
    func record(_ direction: FrameDirection, fault: String? = nil, _ add: (inout ProxyDrafts) -> Void) {
        guard !isClosed, let attributes = attributes(of: direction, fault: fault) else { return }
        journal.record(kind, counters, attributes, add)
    }

    /// Records a message.
    private func record(_ content: KeptContent.Result, fault: String?) {
        record(.in, fault: fault) { made in content.lend { made.add($0) } }
    }

    private func attributes(of direction: FrameDirection, fault: String?) -> Attributes? {
        if fault == nil, let known = direction == .in ? inAttributes : outAttributes { return known }
        var pairs = [("connection", counters.name), ("path", path)]
        if kind != .serverSentEvent { pairs.append(("dir", direction.rawValue)) }
        if let fault { pairs.append(("fault", fault)) }
        let attributes = journal.attributes(pairs)
        guard fault == nil else { return attributes }
        if direction == .in { inAttributes = attributes } else { outAttributes = attributes }
        return attributes
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
            record(content, fault: isSwapped ? "swap" : nil)
            if verdict.isDoubled {
                pass(message.raw)
                record(content, fault: "duplicate")
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
        record(content, fault: "swap")
    }

    /// Records the end, once.
    func close(code: UInt16?, reason: String, isLoss: Bool) {
        guard !isClosed else { return }
        isClosed = true
        journal.close(counters, path: path, code: code, reason: reason, isLoss: isLoss)
    }
}
#endif
