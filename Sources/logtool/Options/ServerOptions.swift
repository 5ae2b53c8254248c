import ArgumentParser
import EventLog
import JetStream
import Shipping

/// What a server is told, and how it is checked. Tokens are named by place, never given by value (I14): a command line is seen by every user
/// of the machine.
struct AccessOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The environment variable that holds the token.", valueName: "variable"))
    var tokenEnv: String?

    @Option(
        help: ArgumentHelp("The file whose first line is the token, read anew for each use.", valueName: "file"),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Certificates in PEM to check servers against, in place of the system's.",
            valueName: "file"
        ),
        completion: .file()
    )
    var caFile: String?

    /// True if any is given.
    var isGiven: Bool { tokenEnv != nil || tokenFile != nil || caFile != nil }

    func validate() throws {
        if tokenEnv != nil && tokenFile != nil { throw ValidationError("give one of --token-env and --token-file") }
    }
}

/// What a server of trees or streams is told.
struct ServerOptions: ParsableArguments {
    @OptionGroup var access: AccessOptions

    @Option(
        help: ArgumentHelp("The file of credentials for a NATS server, as nsc writes it.", valueName: "file"),
        completion: .file()
    )
    var credentials: String?

    func validate() throws {
        if credentials != nil, access.tokenEnv != nil || access.tokenFile != nil {
            throw ValidationError("give one of --token-env, --token-file and --credentials")
        }
    }

    /// Whether any is given.
    var isGiven: Bool { access.isGiven || credentials != nil }

    /// A stream of a NATS server.
    ///
    /// - Throws: as `StreamAccess.courier`.
    func courier(at place: String, as end: CourierEnd, operation: String) throws -> any Courier {
        let stream = StreamAccess(
            place: place,
            tokenEnvironment: access.tokenEnv,
            tokenFile: access.tokenFile,
            credentials: credentials,
            trustFile: access.caFile
        )
        return try stream.courier(as: end, operation: operation)
    }
}
