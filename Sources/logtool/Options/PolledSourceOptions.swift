import ArgumentParser

/// Options of git, github, status and cloudkit sources. Tokens are given by place, never by value (I14): values on a
/// command line are seen by every user of the machine.
struct PolledSourceOptions: ParsableArguments {
    /// For a server of one's own, or a test's; default: the service's.
    @Option(help: ArgumentHelp("github, cloudkit: the base of the API.", valueName: "url"))
    var api: String?

    @Option(
        name: .customLong("pattern"),
        help: ArgumentHelp("status: which names; default: vibestatus-*.json; may be given often.", valueName: "glob")
    )
    var patterns: [String] = []

    @Option(
        help: ArgumentHelp("status: look so often instead of watching.", valueName: "duration"),
        transform: DurationText.parse
    )
    var poll: Duration?

    @Option(
        help: ArgumentHelp(
            "git, github, cloudkit: the pause between two looks; default: 10s, 10s, 5s.",
            valueName: "duration"
        ),
        transform: DurationText.parse
    )
    var interval: Duration?

    /// The app's token, beside the user's in `--token-file`.
    @Option(help: ArgumentHelp("cloudkit: the variable that holds the API token.", valueName: "variable"))
    var apiTokenEnv: String?

    @Option(help: ArgumentHelp("cloudkit: development or production.", valueName: "name"))
    var environment: String?

    /// Why the options do not fit a kind of source; `nil` if they do. Each option is listed with its kinds, so the
    /// message can name them.
    func fault(forKind kind: String) -> String? {
        let given: [(name: String, isGiven: Bool, kinds: Set<String>)] = [
            ("--api", api != nil, ["github", "cloudkit"]), ("--pattern", !patterns.isEmpty, ["status"]),
            ("--poll", poll != nil, ["status"]), ("--interval", interval != nil, ["git", "github", "cloudkit"]),
            ("--api-token-env", apiTokenEnv != nil, ["cloudkit"]),
            ("--environment", environment != nil, ["cloudkit"]),
        ]
        guard let wrong = given.first(where: { $0.isGiven && !$0.kinds.contains(kind) }) else { return nil }
        return "\(wrong.name) goes with \(wrong.kinds.sorted().joined(separator: " and ")) only"
    }
}
