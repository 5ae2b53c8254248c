import EventLog
import Projections

/// Replays a log to the state that a query asks for.
struct StateLoader {
    let store: EventStore
    /// Where to tell how far a long replay is; `nil` to say nothing.
    var progress: Progress?
    /// Whether people want no warnings.
    var isQuiet = false

    /// The state document of a query.
    func document(for query: StateQuery) throws -> JSONValue {
        var state = try workspace(for: query)
        return state.document(query.documentOptions)
    }

    /// The state itself.
    ///
    /// - Throws: `Failure` with exit code 1 where the log has no such source, or no event to leave out.
    func workspace(for query: StateQuery) throws -> Workspace {
        try store.read { session in
            let last = try sequence(of: query, in: session)
            return try Replay.workspace(
                of: session,
                through: last,
                options: query.replayOptions,
                progress: reporter(until: last)
            )
        }
    }

    /// What differs between two points of the log; the queries differ in their points alone.
    ///
    /// - Throws: as `workspace`.
    func differences(from first: StateQuery, to second: StateQuery) throws -> [StateDifference] {
        try store.read { session in
            let points = try [first, second].map { try sequence(of: $0, in: session) }
            return try Replay.differences(
                of: session,
                from: points[0],
                to: points[1],
                options: first.replayOptions,
                progress: reporter(until: max(points[0], points[1]))
            )
        }
    }

    /// What happened to the one thing that a reference means, oldest first.
    ///
    /// - Throws: as `EntityArgument.only`.
    func history(
        of entity: EntityReference,
        profile: Profile = .canonical
    ) throws -> (thing: EntityReference, entries: [HistoryEntry]) {
        try store.read { session in
            let options = StateQuery(profile: profile).replayOptions
            let progress = reporter(until: session.head)
            // The index of channels knows the canonical reading alone.
            if profile == .canonical,
                let entries = try Replay.indexedHistory(
                    ofMessage: entity,
                    of: session,
                    options: options,
                    progress: progress
                )
            {
                return (entity, entries)
            }
            let state = try Replay.workspace(of: session, options: options, progress: progress)
            let thing = try EntityArgument.only(entity, in: state, of: session)
            return (thing, try state.history(of: thing))
        }
    }

    /// The state of one channel.
    ///
    /// - Throws: `Failure` with exit code 1 where the state has nothing of such a channel, with 2 and the matches where
    ///   several fit.
    func channel(_ name: EntityReference, for query: StateQuery) throws -> ChannelState {
        let states = try store.read { session in
            let last = try sequence(of: query, in: session)
            return try Replay.channels(
                named: name,
                of: session,
                through: last,
                options: query.replayOptions,
                progress: reporter(until: session.head)
            )
        }
        guard let state = states.first else {
            throw Failure("find \"\(name)\": the state has nothing of such a channel", exitCode: Outcome.no)
        }
        if states.count == 1 { return state }
        let shown = states.map(\.reference.description).joined(separator: ", ")
        throw Failure("find \"\(name)\": several channels fit: \(shown)")
    }

    /// The last event of the state, with a word to people where a time lies before the first.
    private func sequence(of query: StateQuery, in session: borrowing ReadSession) throws -> SequenceNumber {
        try query.checkNames(in: session)
        let sequence = try query.point?.resolve(in: session) ?? session.head
        if !isQuiet, let notice = try PointNotice.text(for: query.point, resolvedTo: sequence, in: session) {
            StandardError.line("logtool: \(notice)")
        }
        return sequence
    }

    private func reporter(until last: SequenceNumber) -> ((SequenceNumber) -> Void)? {
        progress?.replayReporter(until: last)
    }

    /// The digest after every event, one after another. Events that the query leaves out are passed over.
    func forEachDigest(for query: StateQuery, _ body: @escaping (Envelope, Hash256) throws -> Void) throws {
        try store.read { session in
            let last = try sequence(of: query, in: session)
            try Replay.digests(of: session, through: last, options: query.replayOptions) { event, digest in
                try body(event, digest)
                return true
            }
        }
    }
}
