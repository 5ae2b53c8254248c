#if Recorders
import NIOHTTP1

/// Why a request is not forwarded.
struct ProxyRefusal: Error {
    let status: Int
    let reason: String

    /// The most bytes and fields of a request's head.
    private static let (headBytesMax, fieldsMax) = (64 << 10, 200)

    /// Looks for what two readers could understand in two ways, and for hosts that are not this machine's.
    ///
    /// - Parameter host: the host that the proxy listens on; `nil` lets every `Host` pass.
    static func find(in head: HTTPRequestHead, listeningOn host: String?) -> ProxyRefusal? {
        guard head.method != .CONNECT else { return ProxyRefusal(status: 405, reason: "CONNECT is not served") }
        guard head.uri.hasPrefix("/") || (head.uri == "*" && head.method == .OPTIONS) else {
            return ProxyRefusal(status: 400, reason: "the request's target must be a path")
        }
        let bytes = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard bytes <= headBytesMax, head.headers.count <= fieldsMax else {
            return ProxyRefusal(status: 400, reason: "the request has too many header fields, or too long ones")
        }
        let (lengths, codings) = (head.headers["content-length"], head.headers["transfer-encoding"])
        guard lengths.count + codings.count <= 1 else {
            return ProxyRefusal(status: 400, reason: "the request states its length twice")
        }
        guard lengths.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return ProxyRefusal(status: 400, reason: "the Content-Length is no number")
        }
        guard codings.allSatisfy({ $0.lowercased() == "chunked" }), codings.isEmpty || head.version == .http1_1 else {
            return ProxyRefusal(status: 400, reason: "the Transfer-Encoding is not chunked")
        }
        let hosts = head.headers["host"]
        guard hosts.count == 1, let named = hosts.first else {
            return ProxyRefusal(status: 400, reason: "the request needs one Host")
        }
        guard let host else { return nil }
        return isOwn(named, host) ? nil : ProxyRefusal(status: 403, reason: "the proxy answers to its own names alone")
    }

    static func isOwn(_ named: String, _ host: String) -> Bool {
        let isBracketed = named.hasPrefix("[")
        let name = isBracketed ? named.prefix { $0 != "]" }.dropFirst() : named.prefix { $0 != ":" }
        return ["localhost", "127.0.0.1", "::1", host.lowercased()].contains(name.lowercased())
    }
}
#endif
