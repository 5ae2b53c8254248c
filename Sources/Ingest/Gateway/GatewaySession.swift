import JSON

#if Recorders

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A gateway session: the data to RESUME it, also in another run of the recorder.
struct GatewaySession: Equatable, Sendable {
    /// The `session_id` of READY.
    var id: String
    /// The `resume_gateway_url` of READY: the server for RESUME. A server that names one numbers its dispatches across
    /// all connections of the session (Discord); one that does not begins at 1 on each connection (Retrocast). Empty for
    /// one that cannot be used or was given up: RESUME then goes to the configured address.
    var resumeURL: String?
    /// The last `s` up to which no number is missing.
    var number: UInt64 = 0

    /// True if `s` goes on across RESUME, so that contiguous numbers prove that nothing is missing (I29).
    var isContinuous: Bool { resumeURL != nil }

    /// The `seq` of a RESUME.
    ///
    /// A server that numbers each connection anew compares `seq` with unlike counters, so 0 requests everything that it
    /// kept: a frame that comes twice does no harm, one that is not sent is lost.
    var resumeNumber: UInt64 { isContinuous ? number : 0 }
}

extension GatewaySession {
    /// Reads the `d` of READY; `nil` if it has no session id.
    init?(ready data: JSONValue?) {
        guard let id = data?["session_id"]?.string, !id.isEmpty else { return nil }
        let url = data?["resume_gateway_url"]?.string
        self.init(id: id, resumeURL: url.flatMap { $0.isEmpty ? nil : Self.place(of: $0) })
    }

    /// The scheme, host and port of a URL; the rest is not used, because it may hold a secret (I14). Empty if the URL
    /// has no scheme or host, or has a user; then RESUME goes to the server of IDENTIFY.
    private static func place(of url: String) -> String {
        guard let parts = URLComponents(string: url), parts.user == nil, parts.password == nil,
            let scheme = parts.scheme, let host = parts.host
        else { return "" }
        return "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    }

    /// The form that a bookmark keeps. The number is a text, because numbers in JSON are exact only up to 2^53.
    var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.begin("{")
        writer.name("id")
        writer.string(id)
        if let resumeURL {
            writer.name("url")
            writer.string(resumeURL)
        }
        writer.name("s")
        writer.string(String(number))
        writer.end("}")
        return writer.bytes
    }

    /// Reads the form that `bytes` writes; `nil` for anything else.
    init?(bytes: [UInt8]) {
        guard let tree = JSONValue(received: bytes), let id = tree["id"]?.string,
            let number = tree["s"]?.string.flatMap({ UInt64($0) })
        else { return nil }
        self.init(id: id, resumeURL: tree["url"]?.string, number: number)
    }
}
#endif
