package import EventLog
package import Projections

extension Profile {
    /// How many things of each kind every profile but `canonical` reads otherwise, in the order of the profiles. A thing counts
    /// once, whatever differs in it.
    ///
    /// Profiles that read the events by the same rules are counted once, and those without a rule about them not at all. Rows
    /// are compared, not digests: a reading may keep an order of its own that no document shows.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of the events.
    ///   - count: counts what a profile reads otherwise, given those of its rules that can apply to the events.
    package static func differences(
        among kinds: Set<EventKind>,
        count: (Profile, ReadingRules) throws -> [EntityReference.Kind: Int]
    ) rethrows -> [(profile: Profile, counts: [EntityReference.Kind: Int])] {
        var known: [ReadingRules: [EntityReference.Kind: Int]] = [.canonical: [:]]
        return try allCases.filter { $0 != .canonical }.map { profile in
            let rules = profile.rules.concerning(kinds)
            let counts = try known[rules] ?? count(profile, rules)
            known[rules] = counts
            return (profile, counts)
        }
    }
}
