import ArgumentParser
import EventLog
import Projections

/// `logtool profiles`: whose readings there are, and where they depart from the canonical one.
struct ProfilesCommand: ParsableCommand, ExplainedCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "List the profiles and their rules, or how much of a log each reads otherwise.",
        usage: "logtool profiles [LOG] [options]",
        discussion: """
            A profile is a set of reading rules, one for each way in which a client departs from what the remote meant. \
            docs/profiles.md says which divergence is behind each, and which scenario shows it. Any set of rules reads with \
            replay --rules.
            """
    )

    static let examples = [
        Example("logtool profiles", "the profiles and their rules"),
        Example("logtool profiles bug.eventlog", "how many things each client shows otherwise"),
        Example("logtool replay bug.eventlog --rules createAlwaysAdds,voiceIsNotShown", "a reading of one's own"),
    ]

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "log"), completion: .directory)
    var log: String?

    @OptionGroup var point: PointOptions
    @OptionGroup var lists: JSONListOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if log == nil, point.at != nil { throw ValidationError("--at goes with a log") }
    }

    func run() throws {
        let rows = try log.map(compared) ?? Profile.allCases.map(Self.listed)
        let output = output.standardOutput
        switch lists.form {
        case .document: try output.line(JSONValue.array(rows).lines)
        case .lines: for row in rows { try output.line(row.text) }
        case .text: for row in rows { try print(row, to: output) }
        }
        try output.flush()
    }

    /// A profile with its rules in their order.
    private static func listed(_ profile: Profile) -> JSONValue {
        let rules = ReadingRule.allCases.filter { profile.rules.contains($0) }
        return .object([
            "profile": .string(profile.rawValue), "rules": .array(rules.map { .string("\($0)") }),
        ])
    }

    /// How many things each profile reads otherwise than `canonical`.
    private func compared(_ path: String) throws -> [JSONValue] {
        let store = try LogOptions.open(path, isQuiet: output.quiet)
        let progress = output.progress("replaying")
        defer { progress.end() }
        let loader = StateLoader(store: store, progress: progress, isQuiet: output.quiet)
        let canonical = try loader.document(for: StateQuery(point: point.at))
        return try Profile.allCases.filter { $0 != .canonical }.map { profile in
            let own = try loader.document(for: StateQuery(point: point.at, profile: profile))
            let things = Set(StateDiff.differences(canonical, own).map(\.entity))
            var kinds = JSONObject()
            for (kind, count) in Dictionary(grouping: things, by: \.kind.rawValue).sorted(by: { $0.key < $1.key }) {
                kinds[kind] = .int(count.count)
            }
            return .object([
                "profile": .string(profile.rawValue), "entities": .int(things.count), "kinds": .object(kinds),
            ])
        }
    }

    private func print(_ row: JSONValue, to output: StandardOutput) throws {
        let name = row["profile"]?.string ?? ""
        guard let count = row["entities"]?.number else {
            try output.line(output.style.text(name, .heading))
            for rule in row["rules"]?.array ?? [] { try output.line("  " + (rule.string ?? "")) }
            return
        }
        let kinds = (row["kinds"]?.object?.members ?? []).map { "\($0.value.number?.text ?? "0") \($0.name)" }
        let shown = kinds.isEmpty ? "" : "  (\(kinds.joined(separator: ", ")))"
        let padding = String(repeating: " ", count: max(0, 20 - name.count))
        try output.line("\(name)\(padding)\(count.text)\(shown)")
    }
}
