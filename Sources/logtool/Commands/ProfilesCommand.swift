import ArgumentParser
import Clients
import EventLog
import Projections

/// `logtool profiles`: lists the profiles, and where they depart from the canonical reading.
///
/// Without a log it prints what `docs/profiles.md` contains, from the same tables (`Divergence`). With a log it counts,
/// and so shows which clients a log concerns at all.
struct ProfilesCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "List the profiles and their rules, or how much of a log each reads otherwise.",
        usage: "logtool profiles [LOG] [options]",
        discussion: """
            A profile is a set of reading rules, one for each way in which a client departs from what the remote meant. Below each \
            rule stands what the client does, and which known divergence or bug of its app says so; of a variant (NAME@…), what it \
            does beside NAME. docs/profiles.md also names the scenarios that show it. Any set of rules reads with replay --rules.
            """
    )

    static let examples = [
        Example("logtool profiles", "the profiles, their rules, and what each is about"),
        Example("logtool profiles bug.eventlog", "how many things each client shows otherwise"),
        Example("logtool replay bug.eventlog --rules createAlwaysAdds,voiceIsNotShown", "a reading of one's own"),
    ]

    /// Not `LogOptions`: the list of profiles needs no log.
    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String?

    @OptionGroup var point: PointOptions
    @OptionGroup var decoders: DecoderOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if log == nil, point.at != nil { throw ValidationError("--at goes with a log") }
    }

    /// Prints one row a profile, whichever list it is. A comparison leaves `canonical` out, as it is what the others
    /// are compared with.
    func run() throws {
        let rows = try log.map(compared) ?? Profile.allCases.map(Self.listed)
        let output = output.standardOutput
        switch lists.form {
        case .document: try output.line(JSONValue.array(rows).lines)
        case .lines: for row in rows { try output.line(row.text) }
        case .text:
            let width = Profile.allCases.map(\.rawValue.count).max() ?? 0
            for row in rows { try print(row, width, to: output) }
        }
        try output.flush()
    }

    /// A profile with its rules, in order, and the divergences behind them; those of its base first.
    private static func listed(_ profile: Profile) -> JSONValue {
        let rules = ReadingRule.allCases.filter { profile.rules.contains($0) }
        let rows = (profile.isVariant ? profile.base.divergences : []) + profile.divergences
        return .object([
            "profile": .string(profile.rawValue), "rules": Self.names(of: rules),
            "divergences": .array(
                rows.map { row in
                    .object([
                        "client": .string(row.client), "rules": Self.names(of: row.rules),
                        "source": .string(row.source(of: profile)),
                        "scenarios": .array(row.scenarios.map { .string($0) }),
                    ])
                }
            ),
        ])
    }

    private static func names(of rules: [ReadingRule]) -> JSONValue {
        .array(rules.map { .string("\($0)") })
    }

    /// How many things each profile reads differently from `canonical`.
    private func compared(_ path: String) throws -> [JSONValue] {
        let store = try decoders.used(in: LogOptions.open(path, isQuiet: output.quiet), isQuiet: output.quiet)
        let progress = output.progress("replaying")
        defer { progress.end() }
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        return try loader.profileDifferences(at: point.at).map { profile, counts in
            var kinds = JSONObject()
            // Sorted, because the order of a dictionary changes from run to run.
            for (kind, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                kinds[kind.rawValue] = .int(count)
            }
            return .object([
                "profile": .string(profile.rawValue), "entities": .int(counts.values.reduce(0, +)),
                "kinds": .object(kinds),
            ])
        }
    }

    /// Prints a row of either list as text. Only rows of a comparison have counts; they stand below each other behind
    /// names of at most `width` characters.
    private func print(_ row: JSONValue, _ width: Int, to output: StandardOutput) throws {
        let name = row["profile"]?.string ?? ""
        guard let count = row["entities"]?.number else {
            try output.line(output.style.text(name, .heading))
            return try printRules(of: Profile(rawValue: name) ?? .canonical, to: output)
        }
        let kinds = (row["kinds"]?.object?.members ?? []).map { "\($0.value.number?.text ?? "0") \($0.name)" }
        let shown = kinds.isEmpty ? "" : "  (\(kinds.joined(separator: ", ")))"
        try output.line("\(DisplayText.padded(name, to: width))  \(count.text)\(shown)")
    }

    /// Prints each rule with its divergences; for a variant, only those that its base lacks.
    private func printRules(of profile: Profile, to output: StandardOutput) throws {
        let rows = profile.divergences
        if profile.isVariant { try output.line("  as \(profile.base.rawValue), and:") }
        for rule in ReadingRule.allCases {
            let own = rows.filter { $0.rules.contains(rule) }
            guard !own.isEmpty else { continue }
            try output.line("  \(rule)")
            for row in own {
                try output.line("    \(row.client) " + output.style.text("(\(row.source(of: profile)))", .quiet))
            }
        }
    }
}
