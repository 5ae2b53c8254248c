#if Recorders
import EventLog
import NIOCore
import NIOHTTP1

/// One request and its answer, as far as they are recorded. Used on the event loop of its connection.
final class ProxyExchange {
    let method: HTTPMethod
    /// The proxy's authority as the client named it.
    let proxy: String
    let wantsUpgrade: Bool
    let isWebSocket: Bool
    /// The path and query without secrets.
    let path: String
    private let requestBody: ProxyBody?
    private var requestedAt: Timestamp?
    private var answerBody: ProxyBody?
    private var isKept = false
    /// The status of the answer; `nil` before its head.
    private(set) var status: Int?
    /// Set while the answer is an event stream.
    var stream: ProxyEventStream?

    init(_ head: HTTPRequestHead) {
        method = head.method
        proxy = head.headers.first(name: "host") ?? ""
        wantsUpgrade = head.headers.contains(name: "upgrade")
        isWebSocket = head.headers["upgrade"].contains { $0.lowercased() == "websocket" }
        // The attributes of an event have a limit.
        let redacted = Secrets.redact(address: Array(head.uri.utf8), .common)
        path = String(decoding: redacted.prefix(2_048), as: UTF8.self)
        requestBody = ProxyBody(head.headers)
    }

    func requestBody(_ buffer: ByteBuffer) { requestBody?.append(buffer) }

    func requestEnded(at time: Timestamp) { requestedAt = time }

    /// Whether the answer has no body, whatever its fields say (RFC 9112, section 6.3).
    var isBodiless: Bool { method == .HEAD || status == 204 || status == 304 }

    func began(_ head: HTTPResponseHead) {
        status = Int(head.status.code)
        answerBody = ProxyBody(head.headers)
        let isEmpty = head.headers.first(name: "content-length") == "0" || status == 204
        let isSafe = [.GET, .HEAD, .OPTIONS].contains(method)
        isKept = status != 304 && method != .HEAD && (answerBody != nil || (isEmpty && !isSafe))
    }

    func answerBody(_ buffer: ByteBuffer) { answerBody?.append(buffer) }

    /// Records the request's body and the answer.
    func ended(_ journal: ProxyJournal) {
        guard isKept, let status else { return }
        let counters = journal.connection()
        let common = [("path", path), ("method", String(method.rawValue.prefix(32))), ("connection", counters.name)]
        if let requestBody, !requestBody.isEmpty {
            journal.record(.httpAnswer, counters, requestBody.result, common + [("dir", "out")], at: requestedAt)
        }
        let pairs = common + [("dir", "in"), ("status", String(status))]
        journal.record(.httpAnswer, counters, answerBody?.result ?? .whole([]), pairs)
    }
}
#endif
