import Clients
import EventLog
import Projections

/// Keeps a cache current, step by step: builds it unless it is one of this log and schema, then writes the changes of new
/// events.
///
/// It holds the cache's lock: it alone writes the cache as long as it lives.
package struct CacheFollowing {
    /// What one step did.
    package enum Step {
        /// The cache was built anew.
        case built(BuiltCache)
        /// The changes of some events were written.
        case followed(CacheFollower.Batch)
    }

    private let rebuild: CacheRebuild
    private let place: CacheFolder
    private var follower: CacheFollower?
    /// A cache that was just built; its follower begins with the next step.
    private var built: (state: LogState, meta: CacheMeta, revision: LogRevision)?

    /// Locks the cache, and writes nothing yet.
    ///
    /// - Throws: `EngineError` with code `locked` if another rebuild holds the folder, with `refused` if the path holds
    ///   something that no rebuild made.
    package init(_ rebuild: CacheRebuild) throws {
        try rebuild.refuseForeign()
        self.rebuild = rebuild
        place = try rebuild.file.lock()
    }

    /// Builds the cache, or writes what the next events changed; `nil` if the cache holds all events.
    ///
    /// One read session covers one batch of at most `Replay.followedEventsMax` events, so that old pages of the log are not
    /// kept from reuse.
    ///
    /// - Throws: `EngineError` if a table has no columns that find a thing's rows again (`CacheFollower`); the errors of the log.
    package mutating func step() throws -> Step? {
        if let built = built.take() {
            follower = try rebuild.follower(built.state, built.meta, built.revision)
        }
        if follower == nil {
            // Before the state is folded, so that a compaction in between is noticed.
            let revision = try rebuild.revision()
            follower = try resumed(revision)
            if follower == nil { return .built(try build(revision)) }
        }
        var isCompacted = false
        let batch = try SQLiteConnection.telling("write the cache", rebuild.file.path) {
            try rebuild.store.read { session in
                isCompacted = try follower?.continues(in: session) == false
                return isCompacted ? nil : try follower?.step(session)
            }
        }
        if let batch { return .followed(batch) }
        guard isCompacted else { return nil }
        // A compaction drops things that no event touches, so no batch would remove their rows.
        follower = nil
        return try step()
    }

    private mutating func build(_ revision: LogRevision) throws -> BuiltCache {
        var state = try rebuild.state()
        // Before the swap: a cache that cannot be followed must not take the place of another.
        try rebuild.schema.map.checkCanBeFollowed(sourceCount: state.sourceNames.count)
        let meta = try rebuild.meta(of: &state, revision)
        let plan = RebuildPlan(whole: rebuild.schema.map, because: "there is no cache to go on with")
        let made = try rebuild.build(state, meta, revision, by: plan, holding: place)
        built = (state, meta, revision)
        return made
    }

    /// Continues from a cache of the same log, schema and profile; `nil` if there is none. The state is folded to the
    /// cache's sequence, mostly from a kept state.
    private func resumed(_ revision: LogRevision) throws -> CacheFollower? {
        let (file, schema) = (rebuild.file, rebuild.schema)
        guard try file.occupant() != .nothing, let known = try? SQLiteConnection(file.target, .reading, .reading),
            let meta = CacheMeta(known, table: schema.map.metaTable), meta.schema == schema.hash,
            meta.profile == rebuild.profile.rawValue
        else { return nil }
        guard try rebuild.store.read({ session in meta.canContinue(in: session) }) else { return nil }
        var state = try rebuild.state(at: Point(meta.sequence.description))
        // The digest included: a cache that holds something else is built anew.
        guard try rebuild.meta(of: &state, revision) == meta else { return nil }
        return try rebuild.follower(state, meta, revision)
    }
}
