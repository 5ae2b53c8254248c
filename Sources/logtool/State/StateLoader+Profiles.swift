import Clients
import EventLog
import Projections

extension StateLoader {
    /// How many things of each kind every profile but `canonical` reads otherwise at a point, the head for `nil`; in the order of
    /// the profiles. Memory: two states at a time.
    ///
    /// - Throws: as `logState`.
    func profileDifferences(at point: Point?) throws -> [(profile: Profile, counts: [EntityReference.Kind: Int])] {
        try store.read { session in
            let last = try sequence(of: StateQuery(point: point), in: session)
            let kinds = Set(try KnownNames(session).kindsBySource.values.joined())
            let progress = progress?.replayReporter(until: last)
            let options = StateQuery().replayOptions
            var canonical: LogState?
            return try Profile.differences(among: kinds) { profile, rules in
                try Replay.differenceCounts(of: rules, through: last, in: session, options: options) {
                    let meant =
                        try canonical
                        ?? Replay.logState(of: session, through: last, options: options, progress: progress)
                    canonical = meant
                    let own = StateQuery(profile: profile).replayOptions
                    return (meant, try Replay.logState(of: session, through: last, options: own, progress: progress))
                }
            }
        }
    }
}
