public import ArgumentParser
public import Playback

extension PlayForm: ExpressibleByArgument {}

extension PlayAddress {
    /// Reads `127.0.0.1:4000`, `[::1]:4000`, `localhost:4000` or `4000`.
    ///
    /// - Throws: `ValidationError` for a port out of range and for hosts other than loopback.
    static func parse(_ text: String) throws -> PlayAddress {
        let colon = text.lastIndex(of: ":")
        let host = colon.map { String(text[..<$0]) } ?? ""
        let port = Int(colon.map { text[text.index(after: $0)...] } ?? text[...])
        guard let port, (0...65_535).contains(port) else {
            throw ValidationError("\"\(text)\" is no address: write 127.0.0.1:4000")
        }
        if let address = PlayAddress(host: host, port: port) { return address }
        throw ValidationError(
            "--listen \(text): a recording is played on this machine alone; write 127.0.0.1:\(port)"
        )
    }
}

/// Where a command listens: on this machine alone.
struct ListenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where to listen, on this machine; default: 127.0.0.1 and a free port.",
            valueName: "address"
        ),
        transform: PlayAddress.parse
    )
    var listen: PlayAddress?
}

extension PlaySpeed {
    /// Reads `max`, or a factor from 0.001 to 1,000,000.
    static func parse(_ text: String) throws -> PlaySpeed {
        if text == "max" { return .max }
        guard let factor = Double(text), factor >= 0.001, factor <= 1_000_000 else {
            throw ValidationError("--speed is a number such as 1 or 20, or max")
        }
        return .times(factor)
    }
}
