import EventLog
import Projections

/// What is asked of a replay.
struct StateQuery {
    var point: Point?
    var profile = Profile.canonical
    var asOf: Timestamp?
    var sections: Set<Section>?
    var source: SourceName?
    var without: Set<SequenceNumber> = []
    /// Whether a point before the last compaction is answered from what is left.
    var retained = false

    /// Which events are folded.
    var replayOptions: ReplayOptions {
        var options = ReplayOptions()
        options.profile = profile
        options.sources = source.map { [$0] }
        options.without = without
        options.retained = retained
        return options
    }

    /// What goes into the document.
    var documentOptions: DocumentOptions {
        var options = DocumentOptions()
        options.asOf = asOf
        options.sections = sections
        options.profile = profile
        return options
    }
}

/// Replays a log to the state that a query asks for.
struct StateLoader {
    let store: EventStore

    /// The state document of a query.
    func document(for query: StateQuery) throws -> JSONValue {
        var state = try workspace(for: query)
        return state.document(query.documentOptions)
    }

    /// The state itself.
    func workspace(for query: StateQuery) throws -> Workspace {
        try store.read { try Self.workspace(for: query, in: $0) }
    }

    /// The state itself, of a session that is open.
    static func workspace(for query: StateQuery, in session: borrowing ReadSession) throws -> Workspace {
        try Replay.workspace(
            of: session,
            through: query.point?.resolve(in: session),
            options: query.replayOptions
        )
    }

    /// The state after every event, one after another. Events that the query leaves out are passed over.
    func forEachState(for query: StateQuery, _ body: @escaping (Envelope, inout Workspace) throws -> Void) throws {
        try store.read { session in
            _ = try Replay.workspace(
                of: session,
                through: query.point?.resolve(in: session),
                options: query.replayOptions
            ) { envelope, state in
                try body(envelope, &state)
                return true
            }
        }
    }
}
