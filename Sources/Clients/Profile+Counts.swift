package import EventLog
package import Projections

extension Profile {
    /// How many things of each kind every profile but `canonical` reads otherwise, in the order of the profiles. A thing counts
    /// once, whatever differs in it.
    ///
    /// Profiles that read the events by the same rules are folded once, and those without a rule about them not at all. Rows
    /// are compared, not digests: a reading may keep an order of its own that no document shows. Memory: two states at a time.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of the events.
    ///   - canonical: the state of the events by the canonical reading.
    ///   - fold: folds the events as a profile reads them.
    package static func differences(
        among kinds: Set<EventKind>,
        from canonical: LogState,
        fold: (Profile) throws -> LogState
    ) rethrows -> [(profile: Profile, counts: [EntityReference.Kind: Int])] {
        var known: [ReadingRules: [EntityReference.Kind: Int]] = [.canonical: [:]]
        return try allCases.filter { $0 != .canonical }.map { profile in
            let rules = profile.rules.concerning(kinds)
            if let counts = known[rules] { return (profile, counts) }
            let things = Set(StateDiff.differences(canonical, try fold(profile)).map(\.entity))
            let counts = Dictionary(things.map { ($0.kind, 1) }, uniquingKeysWith: +)
            known[rules] = counts
            return (profile, counts)
        }
    }
}
