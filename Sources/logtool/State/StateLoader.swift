import Clients
import EventLog
import Projections

/// Replays a log to the state of a query. Each method reads in one session, so in one prefix of the log (I6).
///
/// Kept states are used and made as the query says (I19). It never writes to the log itself.
struct StateLoader {
    let store: EventStore
    /// Shows how far a replay is; `nil` for no progress.
    var progress: Progress?
    /// True suppresses the notice about times before the first event.
    var isQuiet = false

    /// The state document of a query. In memory as a whole; `logState` with `writeLines` needs the state alone.
    func document(for query: StateQuery) throws -> JSONValue {
        var state = try logState(for: query)
        return state.document(query.documentOptions)
    }

    /// The state of a query.
    ///
    /// - Throws: `Failure` with exit code 1 if the log has no such source, or no event to leave out.
    func logState(for query: StateQuery) throws -> LogState {
        try store.read { session in
            let last = try sequence(of: query, in: session)
            return try Replay.logState(
                of: session,
                through: last,
                options: query.replayOptions,
                progress: reporter(until: last)
            )
        }
    }

    /// The state to search for a text: that of the channels alone whose histories can hold it, where the payloads tell which these
    /// are, else the whole state. Both hold it in the same histories.
    ///
    /// - Parameter filter: names the text; without one the whole state is given.
    /// - Throws: as `logState`.
    func state(holding filter: HistoryFilter, for query: StateQuery) throws -> LogState {
        let channels = try store.read { session in
            try Replay.channels(
                holding: filter,
                in: session,
                options: query.replayOptions,
                progress: reporter(until: session.head)
            )
        }
        return try channels ?? logState(for: query)
    }

    /// The state of the channels alone that the last events changed, from enough of them on; `nil` if the whole state must be
    /// searched (`Replay.channels(ofLastEventsIn:)`).
    func stateOfLastEvents(
        for query: StateQuery,
        isEnough: (LogState, _ point: SequenceNumber) throws -> Bool
    ) throws -> LogState? {
        try store.read { session in
            try Replay.channels(
                ofLastEventsIn: session,
                options: query.replayOptions,
                progress: reporter(until: session.head),
                isEnough: isEnough
            )
        }
    }

    /// Keeps the digest of a state of the query beside the log, if it is the state at the head. Failures change nothing:
    /// the digest is made again (I17).
    func keepDigest(of state: inout LogState, for query: StateQuery) {
        try? store.read { try Replay.keepDigest(of: &state, in: $0, options: query.replayOptions) }
    }

    /// The differences between two points of the log, which may be in either order; the queries must differ in their
    /// points alone.
    ///
    /// - Throws: as `logState`.
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

    /// The history of the one thing that a reference names, oldest first; of a message that a compaction dropped, what came since.
    /// A message in the index of channels costs the events of its channel, anything else a replay.
    ///
    /// - Parameter ofEvents: Whether to give only what events prove that the state has.
    /// - Throws: as `EntityArgument.only`.
    func history(
        of entity: EntityReference,
        profile: Profile = .canonical,
        ofEvents: Bool = false
    ) throws -> (thing: EntityReference, entries: [HistoryEntry], isDropped: Bool) {
        try store.read { session in
            let options = StateQuery(profile: profile).replayOptions
            let progress = reporter(until: session.head)
            // The index of channels covers the canonical reading only.
            if profile == .canonical,
                let message = try Replay.indexedMessage(entity, of: session, options: options, progress: progress)
            {
                return (message.reference, message.history, false)
            }
            let state = try Replay.logState(of: session, options: options, progress: progress)
            if let dropped = try EntityArgument.dropped(entity, in: state, of: session) {
                let entries = try Compaction.history(of: dropped, in: state, session)
                if !entries.isEmpty { return (dropped.entity, entries, true) }
            }
            let thing = try EntityArgument.only(entity, in: state, of: session)
            let history = try state.history(of: thing)
            if ofEvents { return (thing, history.filter { $0.change != HistoryEntry.compacted }, false) }
            return (thing, try Compaction.told(history, of: thing, in: state, session), false)
        }
    }

    /// The state of one channel, folded from its own events where the index allows that (I21).
    ///
    /// - Throws: `Failure` with exit code 1 if the state has no such channel; with exit code 2 and the matches if
    ///   several fit.
    func channel(_ name: EntityReference, for query: StateQuery) throws -> ChannelState {
        var states = try channels(named: name, for: query)
        if states.isEmpty {
            // No id: perhaps a name, which only the whole state tells.
            states = try channels(named: try ChannelArgument.only(name, in: try logState(for: query)), for: query)
        }
        guard let state = states.first else {
            throw Failure("find \"\(name)\": the state has nothing of such a channel", exitCode: Outcome.no)
        }
        if states.count == 1 { return state }
        let shown = states.map(\.reference.description).joined(separator: ", ")
        throw Failure("find \"\(name)\": several channels fit: \(shown)")
    }

    private func channels(named name: EntityReference, for query: StateQuery) throws -> [ChannelState] {
        try store.read { session in
            let last = try sequence(of: query, in: session)
            return try Replay.channels(
                named: name,
                of: session,
                through: last,
                options: query.replayOptions,
                progress: reporter(until: session.head)
            )
        }
    }

    /// The last event of the state. Unless `isQuiet`, a notice on standard error points out a time before the first
    /// event.
    ///
    /// - Throws: `Failure` for unknown names, `ProjectionError` (exit 1) for a point beyond the head.
    func sequence(of query: StateQuery, in session: borrowing ReadSession) throws -> SequenceNumber {
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

    /// Calls `body` with every event in order and the digest after it. Events that the query leaves out are skipped.
    /// Cost: O(changed) for each digest (I12).
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
