#if Recorders
import EventLog
import JSON
import NIOCore
import NIOHTTP1

/// A request that the proxy answers itself: what a client says that it has observed, or a refusal.
final class ProxyObserved {
    private let method: HTTPMethod
    private let type: String
    private var refusal: ProxyRefusal?
    private var body: [UInt8] = []
    /// Whether the request's end has come.
    var isWhole = false

    /// The most bytes of a body.
    private static let bodyBytesMax = 1 << 20

    /// - Parameter allowsAnySite: whether pages of other sites than this machine's may observe.
    init(_ head: HTTPRequestHead, allowsAnySite: Bool) {
        method = head.method
        type = MediaType(head.headers.first(name: "content-type")).name
        let path = head.uri.prefix { $0 != "?" }
        if path != "/_eventlog/observed" {
            refusal = ProxyRefusal(status: 404, reason: "there is no such place")
        } else if ![.POST, .OPTIONS].contains(method) {
            refusal = ProxyRefusal(status: 405, reason: "only POST is served here")
        } else if !allowsAnySite, let origin = head.headers.first(name: "origin"), !Self.isOfThisMachine(origin) {
            refusal = ProxyRefusal(status: 403, reason: "pages of this machine alone may observe")
        } else if method == .POST, !["application/json", "text/plain"].contains(type) {
            refusal = ProxyRefusal(status: 400, reason: "the Content-Type is not application/json or text/plain")
        }
    }

    init(_ refusal: ProxyRefusal) {
        (method, type, self.refusal, isWhole) = (.GET, "", refusal, true)
    }

    /// Whether a page came from this machine. A page of another site must not write into the log.
    private static func isOfThisMachine(_ origin: String) -> Bool {
        let authority = origin.split(separator: "/", maxSplits: 1).last.map { $0.drop { $0 == "/" } } ?? ""
        return ProxyRefusal.isOwn(String(authority), "localhost")
    }

    /// Adds a part of the body; returns false once there is too much of it.
    func append(_ buffer: ByteBuffer) -> Bool {
        body.append(contentsOf: buffer.readableBytesView.prefix(Self.bodyBytesMax + 1 - body.count))
        guard body.count > Self.bodyBytesMax else { return true }
        refusal = refusal ?? ProxyRefusal(status: 400, reason: "the body is larger than 1 MiB")
        (body, isWhole) = ([], true)
        return false
    }

    /// The answer, once the request is whole. Records what was observed.
    func answer(_ journal: ProxyJournal) -> [HTTPServerResponsePart]? {
        guard isWhole else { return nil }
        if let refusal { return Self.parts(refusal.status, "text/plain; charset=utf-8", refusal.reason + "\n") }
        if method == .OPTIONS { return Self.parts(204, nil, "") }
        guard case .object = JSONValue(received: body) else {
            return Self.parts(400, "text/plain; charset=utf-8", "the body is no JSON object\n")
        }
        let counters = journal.connection()
        journal.record(.clientObserved, counters, .whole(body), [("connection", counters.name)])
        return Self.parts(202, "application/json", "{\"recorded\":true}")
    }

    private static func parts(_ status: Int, _ type: String?, _ text: String) -> [HTTPServerResponsePart] {
        var headers = HTTPHeaders([
            ("Connection", "close"), ("Access-Control-Allow-Origin", "*"),
            ("Access-Control-Allow-Methods", "POST, OPTIONS"), ("Access-Control-Allow-Headers", "Content-Type"),
        ])
        if status != 204 { headers.add(name: "Content-Length", value: String(text.utf8.count)) }
        if let type { headers.add(name: "Content-Type", value: type) }
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        return [.head(head), .body(.byteBuffer(ByteBuffer(string: text))), .end(nil)]
    }
}
#endif
