import ArgumentParser
import Playback

/// Where the proxy listens: on this machine, or elsewhere where that is allowed.
struct ListenAddress {
    let host: String
    let port: Int

    /// Reads `127.0.0.1:4000`, `[::1]:4000`, `4000`, or with `allowsRemote` any address and port.
    ///
    /// - Throws: `ValidationError`.
    init(_ text: String, allowsRemote: Bool) throws {
        if let own = try? PlayAddress.parse(text) {
            (host, port) = (own.host, own.port)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { throw ValidationError("\"\(text)\" is no address: write 127.0.0.1:4000") }
        guard allowsRemote else {
            throw ValidationError("--listen \(text): others could use the proxy; give --allow-remote if they may")
        }
        host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        self.port = port
    }

    /// The authority in a URL.
    func authority(port: Int) -> String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
