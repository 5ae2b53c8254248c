package import EventLog

/// Which log and which of its states a cache holds: the rows of its meta table.
package struct CacheMeta: Equatable, Sendable {
    /// The version of the meta table and of the program's own cache. Raise it with every change of `OwnSchema`.
    package static let version = 2
    private static let tableStart = "table:"
    private static let decoderStart = "decoder:"
    /// What `format` is in a cache that this version makes.
    package static let format = "eventlog.cache/\(version)"

    /// The log's identity, in hex.
    package let identity: String
    package private(set) var sequence: SequenceNumber
    /// The digest of the state, in hex.
    package private(set) var digest: String
    /// What passes with time is judged at this instant.
    package private(set) var asOf: String
    package let profile: String
    /// What tells the schema from others.
    package let schema: String
    /// What the rows are made by: `table:NAME` with a hash, `decoder:NAME` with a version.
    package let parts: [String: String]

    /// Describes `state`, which is of the log with this identity.
    ///
    /// - Parameter tables: What each table is made by.
    package init(
        of state: inout Workspace,
        identity: [UInt8],
        profile: Profile,
        schema: String,
        tables: [String: String] = [:]
    ) {
        self.identity = Self.text(ofIdentity: identity)
        (sequence, digest, asOf) = (state.sequence, state.digest().hex, Self.asOf(state).description)
        (self.profile, self.schema) = (profile.rawValue, schema)
        var parts: [String: String] = [:]
        for (name, hash) in tables { parts[Self.tableStart + name] = hash }
        for decoder in DecoderVersion.allCases { parts[Self.decoderStart + decoder.rawValue] = "\(decoder.number)" }
        self.parts = parts
    }

    /// Reads the rows of a meta table by name; `nil` where they are of another version.
    package init?(_ values: [String: String]) {
        guard values["format"] == Self.format, let identity = values["identity"], let digest = values["digest"],
            let sequence = values["sequence"].flatMap({ UInt64($0) }), let asOf = values["as_of"],
            let profile = values["profile"], let schema = values["schema"]
        else { return nil }
        (self.identity, self.sequence, self.digest) = (identity, SequenceNumber(sequence), digest)
        (self.asOf, self.profile, self.schema) = (asOf, profile, schema)
        parts = values.filter { $0.key.hasPrefix(Self.tableStart) || $0.key.hasPrefix(Self.decoderStart) }
    }

    /// The rows of the meta table.
    package var values: [(name: String, value: String)] {
        [
            ("format", Self.format), ("identity", identity), ("sequence", sequence.description), ("digest", digest),
            ("as_of", asOf), ("profile", profile), ("schema", schema),
        ] + parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Describes a later state of the same log.
    package mutating func advance(to state: inout Workspace) {
        (sequence, digest, asOf) = (state.sequence, state.digest().hex, Self.asOf(state).description)
    }

    /// What a table is made by; `nil` where its rows may be copied nowhere.
    package func hash(ofTable name: String) -> String? { parts[Self.tableStart + name] }

    /// The decoders that have another version now than when the rows were made.
    package var changedDecoders: [DecoderVersion] {
        DecoderVersion.allCases.filter { parts[Self.decoderStart + $0.rawValue] != "\($0.number)" }
    }

    /// A log's identity, in hex.
    package static func text(ofIdentity identity: [UInt8]) -> String {
        identity.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether a log can continue the cache: it holds the cache's sequence, and no later compaction was decided.
    package func canContinue(in session: borrowing ReadSession) -> Bool {
        session.decidedAt <= sequence && sequence <= session.head
    }

    /// The instant that a cache's rows are judged at: the state's clock.
    package static func asOf(_ state: borrowing Workspace) -> Timestamp { state.clock ?? Timestamp(seconds: 0) }
}
