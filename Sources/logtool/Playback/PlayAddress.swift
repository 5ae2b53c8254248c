import ArgumentParser

/// A loopback address of this machine and a port. `parse` accepts no other hosts (I32).
struct PlayAddress: Hashable, Sendable {
    let host: String
    let port: Int

    /// Any free port, chosen by the system.
    static let free = PlayAddress(host: "127.0.0.1", port: 0)

    /// Reads `127.0.0.1:4000`, `[::1]:4000`, `localhost:4000` or `4000`.
    ///
    /// - Throws: `ValidationError` for a port out of range and for hosts other than loopback.
    static func parse(_ text: String) throws -> PlayAddress {
        let colon = text.lastIndex(of: ":")
        let host = colon.map { String(text[..<$0]) } ?? "127.0.0.1"
        let port = Int(colon.map { text[text.index(after: $0)...] } ?? text[...])
        guard let port, (0...65_535).contains(port) else {
            throw ValidationError("\"\(text)\" is no address: write 127.0.0.1:4000")
        }
        guard let known = hosts[host] else {
            throw ValidationError(
                "--listen \(text): a recording is played on this machine alone; write 127.0.0.1:\(port)"
            )
        }
        return PlayAddress(host: known, port: port)
    }

    /// The addresses of the hosts that may be named. `localhost` is not resolved, because the resolver may name any address.
    private static let hosts = [
        "": "127.0.0.1", "127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "[::1]": "::1", "::1": "::1",
    ]
}
