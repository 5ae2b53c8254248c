#if Recorders

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is known of a gateway session, enough to RESUME it, also by another run of the recorder.
struct GatewaySession: Equatable, Sendable {
    /// `session_id` of READY.
    var id: String
    /// `resume_gateway_url` of READY: where RESUME goes. A server that names one numbers its dispatches through the
    /// session, across connections (Discord does); others begin at 1 on each connection (Retrocast does).
    var resumeURL: String?
    /// The last `s` before which none is missing.
    var number: UInt64 = 0

    /// Whether `s` goes on across RESUME, so that it can prove that nothing is missing.
    var isContinuous: Bool { resumeURL != nil }

    /// The `seq` of a RESUME.
    ///
    /// A server that numbers each connection anew compares `seq` with counters of another kind; 0 asks for all that it
    /// kept. What comes twice does no harm, what is not sent is lost.
    var resumeNumber: UInt64 { isContinuous ? number : 0 }
}

extension GatewaySession {
    /// Reads the `d` of READY; `nil` where it has no session.
    init?(ready data: JSONTree?) {
        guard let id = data?["session_id"]?.string, !id.isEmpty else { return nil }
        let url = data?["resume_gateway_url"]?.string
        self.init(id: id, resumeURL: url.flatMap { $0.isEmpty ? nil : Self.place(of: $0) })
    }

    /// The scheme, host and port of a URL, which are all that is used of it: the rest may hold a secret. Empty where it has
    /// none; then RESUME goes where IDENTIFY went.
    private static func place(of url: String) -> String {
        guard let parts = URLComponents(string: url), parts.user == nil, parts.password == nil,
            let scheme = parts.scheme, let host = parts.host
        else { return "" }
        return "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    }

    /// The form in which a bookmark keeps it.
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

    /// Reads what `bytes` wrote; `nil` for anything else.
    init?(bytes: [UInt8]) {
        guard let tree = JSONTree(parsing: bytes), let id = tree["id"]?.string,
            let number = tree["s"]?.string.flatMap({ UInt64($0) })
        else { return nil }
        self.init(id: id, resumeURL: tree["url"]?.string, number: number)
    }
}
#endif
