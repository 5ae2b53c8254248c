import ArgumentParser

/// Options of every live source.
struct LiveSourceOptions: ParsableArguments {
    @Flag(help: "Go on until interrupted.")
    var follow = false

    @OptionGroup var access: AccessOptions

    /// True if any of these options is given.
    var isGiven: Bool { follow || access.isGiven }
}

/// The base of REST routes as people give it.
enum RESTArgument {
    /// The word for no routes.
    static let none = "none"

    /// The base that sources take: empty for none.
    static func base(_ text: String) -> String { text == none ? "" : text }
}

/// Options of a gateway or realtime source. Frames bring changes; the REST routes give the whole state that closes gaps.
struct RESTSourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The base of the REST routes, or none; default: /api/v1 or /rest/v1 on the same server.",
            valueName: "url"
        )
    )
    var rest: String?

    /// For servers without the routes.
    @Flag(help: "Take no REST snapshots, as --rest none: what was missed stays missing.")
    var noRest = false

    var isGiven: Bool { rest != nil || noRest }

    /// The base for a source; `nil` for the same server's, empty for none.
    var base: String? { noRest ? "" : rest.map(RESTArgument.base) }

    func validate() throws {
        if noRest && rest != nil { throw ValidationError("give one of --rest and --no-rest") }
    }
}

/// Options of a gateway source.
struct GatewaySourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The intents of a Discord gateway; also makes the REST routes Discord's.", valueName: "n")
    )
    var intents: UInt64?

    @Option(
        help: ArgumentHelp("The URL that makes access tokens of the refresh token in --refresh-file.", valueName: "url")
    )
    var refreshURL: String?

    @Option(
        help: ArgumentHelp("The file with the refresh token; the new one is written there.", valueName: "file"),
        completion: .file()
    )
    var refreshFile: String?

    var isGiven: Bool { intents != nil || refreshURL != nil || refreshFile != nil }

    func validate() throws {
        if (refreshURL == nil) != (refreshFile == nil) {
            throw ValidationError("--refresh-url and --refresh-file go together")
        }
    }
}

/// Options of a realtime source. At least one table, because the service sends rows of named tables alone.
struct RealtimeSourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A table: notes, public.notes or notes:user_id=eq.7; may be given often.",
            valueName: "table"
        )
    )
    var table: [String] = []

    @Option(help: ArgumentHelp("The environment variable that holds the project's key.", valueName: "variable"))
    var apiKeyEnv: String?

    var isGiven: Bool { !table.isEmpty || apiKeyEnv != nil }
}
