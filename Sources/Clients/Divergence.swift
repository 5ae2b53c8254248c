package import Projections

/// One way in which a client departs from what the remote meant (I16): what it does, the rules that model it, its
/// source, and the scenarios that show it. A profile reads by the rules of its divergences.
///
/// `docs/profiles.md` has the same rows, and `logtool profiles` prints them.
package struct Divergence: Sendable {
    /// The numbers of the known divergences and bugs behind it; in parentheses if no divergence is on record. Of a reading of
    /// any app, each app with the numbers of its bugs.
    let reference: String
    /// What the client does, as a sentence whose subject is the client.
    package let client: String
    /// The rules that model it; empty if the client reads as `canonical` does.
    package let rules: [ReadingRule]
    /// The folders of `Fixtures/events` that show it.
    package let scenarios: [String]

    package init(_ reference: String, _ client: String, _ rules: [ReadingRule], _ scenarios: [String]) {
        self.reference = reference
        self.client = client
        self.rules = rules
        self.scenarios = scenarios
    }

    /// The app and its evidence: known divergences and bugs by number, else the client's code.
    package func source(of profile: Profile) -> String {
        if profile.app == Profile.anyApp { return "\(profile.app): as bug \(reference)" }
        let names = reference.split { "(),".contains($0) }.map { $0.split(separator: " ").joined(separator: " ") }
        let bugs = names.filter { Self.isBug($0) }
        let divergences = names.filter { Self.isDivergence($0) }
        var parts: [String] = []
        if !divergences.isEmpty { parts.append("divergence \(divergences.joined(separator: ", "))") }
        if !bugs.isEmpty { parts.append("bug \(bugs.joined(separator: ", "))") }
        if parts.isEmpty { parts = ["the client's code"] }
        return "\(profile.app): \(parts.joined(separator: "; "))"
    }

    /// The row of the table in `docs/profiles.md`.
    package var row: String {
        let quoted = { (names: [String]) in names.map { "`\($0)`" }.joined(separator: ", ") }
        let reading = rules.isEmpty ? "(as `canonical`)" : quoted(rules.map { "\($0)" })
        return "| \(reference) | \(client) | \(reading) | \(quoted(scenarios)) |"
    }

    /// The bug lists number their entries VC-B, VC-S, PL-B, B and C; the lists of divergences use VC-D, PL-D, D, S and
    /// V.
    private static func isBug(_ name: String) -> Bool {
        ["VC-B", "VC-S", "PL-B", "B", "C"].contains { isNumbered(name, $0) }
    }

    private static func isDivergence(_ name: String) -> Bool {
        ["VC-D", "PL-D", "D", "S", "V"].contains { isNumbered(name, $0) }
    }

    /// True if a name is a prefix and digits, with or without words behind them (`VC-D02 to VC-D13`).
    private static func isNumbered(_ name: String, _ prefix: String) -> Bool {
        name.hasPrefix(prefix) && name.dropFirst(prefix.count).first?.isNumber == true
    }
}
