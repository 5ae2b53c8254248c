import ArgumentParser

/// Options of the live sources of any app. A text to send may name the token by `{token}`, never hold it (I14).
struct AnyAppSourceOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "ws: send this on each connection; {token} stands for the token; may be given often.",
            valueName: "text"
        )
    )
    var send: [String] = []

    @Option(help: ArgumentHelp("ws: the subprotocol to ask for.", valueName: "name"))
    var subprotocol: String?

    @Option(
        help: ArgumentHelp("http: ask again so often, until interrupted.", valueName: "duration"),
        transform: DurationText.parse
    )
    var every: Duration?

    /// Why the options do not fit a kind of source; `nil` if they do.
    func fault(forKind kind: String) -> String? {
        if kind != "ws", !send.isEmpty || subprotocol != nil { return "--send and --subprotocol go with ws only" }
        if kind != "http", every != nil { return "--every goes with http only" }
        return nil
    }
}
