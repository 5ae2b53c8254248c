import ArgumentParser

/// Where `proxy` and `observe` listen, and what they are called in the log.
struct ServingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where to listen; default: port 4000 (proxy) or 4001 (observe) of this machine; 0: any free one.",
            valueName: "address"
        )
    )
    var listen: String?

    @Flag(help: "Listen on any address, and answer to any host name.")
    var allowRemote = false

    @Option(name: .customLong("as"), help: ArgumentHelp("The source's name in the log.", valueName: "name"))
    var name: String?

    /// The address: the one that is given, else a port of this machine.
    ///
    /// - Throws: `ValidationError` for what is no address, and for one of elsewhere that is not allowed.
    func address(defaultPort: Int) throws -> ListenAddress {
        try ListenAddress(listen ?? "127.0.0.1:\(defaultPort)", allowsRemote: allowRemote)
    }

    func validate() throws {
        // Acts alone have this source (I1).
        if name == "logtool" { throw ValidationError("the source name \"logtool\" is reserved") }
        _ = try address(defaultPort: 0)
    }
}
