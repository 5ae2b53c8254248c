#if Recorders

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HTTPAccess {
    /// The most redirects that one request follows.
    static let redirectsMax = 20

    /// Opens a stream, following redirects. A redirect to another origin loses the credentials; one from TLS to plain
    /// text is refused, and so is one to another origin whose URL holds one of the recorder's tokens.
    ///
    /// - Throws: as `open`; `HTTPTrouble` for a redirect that cannot be followed, or for too many.
    func openFollowingRedirects(_ request: Request, keeping secrets: KnownSecrets) async throws -> Stream {
        var request = request
        for _ in 0...Self.redirectsMax {
            let stream = try await open(request)
            guard [301, 302, 303, 307, 308].contains(stream.status) else { return stream }
            guard let location = stream.headers["location"], let base = URL(string: request.url),
                let target = URL(string: location, relativeTo: base)?.absoluteURL,
                let scheme = target.scheme?.lowercased(), ["http", "https"].contains(scheme)
            else { throw HTTPTrouble("a redirect leads to no URL that can be used") }
            guard scheme == "https" || base.scheme?.lowercased() != "https" else {
                throw HTTPTrouble("a redirect leads away from TLS")
            }
            // Removed for good, also for a later redirect back: whoever could send the request away decides where it
            // goes next.
            if !Self.hasSameOrigin(base, target) {
                guard !secrets.occur(in: Array(target.absoluteString.utf8)) else {
                    throw HTTPTrouble("a redirect would give a token to another server")
                }
                request.headers.removeAll { ["authorization", "cookie", "apikey"].contains($0.name.lowercased()) }
            }
            request.url = target.absoluteString
        }
        throw HTTPTrouble("there are more than \(Self.redirectsMax) redirects")
    }

    private static func hasSameOrigin(_ left: URL, _ right: URL) -> Bool {
        func port(_ url: URL) -> Int { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
        return left.scheme?.lowercased() == right.scheme?.lowercased()
            && left.host?.lowercased() == right.host?.lowercased() && port(left) == port(right)
    }
}
#endif
