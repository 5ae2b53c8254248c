import ArgumentParser
import Projections

/// A rule of a policy, as options: what stays of each channel.
struct RetentionRuleOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many of the newest messages of each channel stay (500).", valueName: "n")
    )
    var keep: Int?

    @Option(
        help: ArgumentHelp(
            "Younger ones stay as well, by the time of the log's last event; 0d for none.",
            valueName: "duration"
        ),
        transform: Self.age
    )
    var keepWithin: Duration?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many of the newest deleted messages stay; else as many.", valueName: "n")
    )
    var deleted: Int?

    /// `--keep 0` is allowed: it keeps what the state needs besides messages.
    func validate() throws {
        if let keep, keep < 0 { throw ValidationError("--keep is a count: 0 or more") }
        if let deleted, deleted < 0 { throw ValidationError("--deleted is a count: 0 or more") }
    }

    var rule: RetentionPolicy.Rule { RetentionPolicy.Rule(keep: keep, keepWithin: keepWithin, deleted: deleted) }

    private static func age(_ text: String) throws -> Duration {
        let age = try DurationText.parse(text)
        guard age == .seconds(age.components.seconds) else { throw ValidationError("an age is in whole seconds") }
        return age
    }
}
