import EventLog
import Projections

/// Which log and which of its states a cache holds: the rows of its meta table.
struct CacheMeta: Equatable, Sendable {
    /// What `format` is in a cache that this version makes.
    static let format = "eventlog.cache/\(CacheSchema.ownVersion)"

    /// The log's identity, in hex.
    let identity: String
    var sequence: SequenceNumber
    /// The digest of the state, in hex.
    var digest: String
    /// What passes with time is judged at this instant.
    var asOf: String
    let profile: String
    /// What tells the schema and map from others.
    let schema: String

    /// What `state` is of a log.
    init(of state: inout Workspace, identity: String, profile: Profile, schema: String) {
        self.identity = identity
        (sequence, digest, asOf) = (state.sequence, state.digest().hex, Self.asOf(state).description)
        (self.profile, self.schema) = (profile.rawValue, schema)
    }

    /// What the meta table of a cache says; `nil` where it has none, or one of another version.
    init?(_ connection: SQLiteConnection, table: String) {
        guard let rows = try? connection.rows("SELECT name, value FROM \(table.quotedSQL) LIMIT 100") else {
            return nil
        }
        var values: [String: String] = [:]
        for row in rows {
            if case (.text(let name)?, .text(let value)?) = (row.first, row.last) { values[name] = value }
        }
        guard values["format"] == Self.format, let identity = values["identity"], let digest = values["digest"],
            let sequence = values["sequence"].flatMap({ UInt64($0) }), let asOf = values["as_of"],
            let profile = values["profile"], let schema = values["schema"]
        else { return nil }
        (self.identity, self.sequence, self.digest) = (identity, SequenceNumber(sequence), digest)
        (self.asOf, self.profile, self.schema) = (asOf, profile, schema)
    }

    /// The instant that a cache's rows are judged at: the state's clock.
    static func asOf(_ state: borrowing Workspace) -> Timestamp { state.clock ?? Timestamp(seconds: 0) }

    /// Writes all of it, in the transaction that is under way.
    func write(to connection: SQLiteConnection, table: String) throws {
        let rows = [
            ("format", Self.format), ("identity", identity), ("sequence", sequence.description), ("digest", digest),
            ("as_of", asOf), ("profile", profile), ("schema", schema),
        ]
        let insertion = try connection.statement("INSERT OR REPLACE INTO \(table.quotedSQL) VALUES (?, ?)")
        for (name, value) in rows { try insertion.run([.text(name), .text(value)]) }
    }
}
