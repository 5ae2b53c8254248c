package import EventLog
package import Kinds

/// The log and the state that a cache was made of: the rows of its meta table (I30). Decides whether a cache can be
/// followed or must be made anew.
package struct CacheMeta: Equatable, Sendable {
    /// The version of the meta table and of the program's own cache. Raise it with every change of `OwnSchema`.
    package static let version = 5
    private static let tableStart = "table:"
    private static let decoderStart = "decoder:"
    /// The part that names the decoders that a program had registered.
    private static let registeredName = "decoder:registered"
    /// What the value of `format` begins with, in caches of all versions.
    package static let formatStart = "eventlog.cache/"
    /// The value of `format` in a cache that this version makes.
    package static let format = "\(formatStart)\(version)"

    /// The log's identity, in hex.
    package let identity: String
    /// The last event in the cache's rows.
    package private(set) var sequence: SequenceNumber
    /// The digest of the state, in hex.
    package private(set) var digest: String
    /// The instant at which the cache judges what passes with time, as text: the state's clock.
    package private(set) var asOf: String
    package let profile: String
    /// Identifies the schema; another one needs another cache.
    package let schema: String
    /// The versions of everything that made the rows: `table:NAME` with a hash, `decoder:NAME` with a version. The
    /// names include the prefix, as in the table.
    package let parts: [String: String]

    /// Describes a state of the log with this identity. Brings the state's digest up to date.
    ///
    /// - Parameters:
    ///   - profile: The name of the reading that the state follows.
    ///   - tables: For each table, a hash of what makes its rows.
    package init(
        of state: inout LogState,
        identity: [UInt8],
        profile: String,
        schema: String,
        tables: [String: String] = [:]
    ) {
        self.identity = Self.text(ofIdentity: identity)
        (sequence, digest, asOf) = (state.sequence, state.digest().hex, Self.asOf(state).description)
        (self.profile, self.schema) = (profile, schema)
        var parts: [String: String] = [:]
        for (name, hash) in tables { parts[Self.tableStart + name] = hash }
        for decoder in DecoderVersion.allCases { parts[Self.decoderStart + decoder.rawValue] = "\(decoder.number)" }
        let registered = state.decoders.registered.fingerprint
        if !registered.isEmpty { parts[Self.registeredName] = registered }
        self.parts = parts
    }

    /// Reads the rows of a meta table by name; `nil` if they are of another version, or one is missing.
    package init?(_ values: [String: String]) {
        guard values["format"] == Self.format, let identity = values["identity"], let digest = values["digest"],
            let sequence = values["sequence"].flatMap({ UInt64($0) }), let asOf = values["as_of"],
            let profile = values["profile"], let schema = values["schema"]
        else { return nil }
        (self.identity, self.sequence, self.digest) = (identity, SequenceNumber(sequence), digest)
        (self.asOf, self.profile, self.schema) = (asOf, profile, schema)
        parts = values.filter { $0.key.hasPrefix(Self.tableStart) || $0.key.hasPrefix(Self.decoderStart) }
    }

    /// The rows of the meta table, in a fixed order.
    package var values: [(name: String, value: String)] {
        [
            ("format", Self.format), ("identity", identity), ("sequence", sequence.description), ("digest", digest),
            ("as_of", asOf), ("profile", profile), ("schema", schema),
        ] + parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Describes a later state of the same log. O(changed rows), for the digest.
    package mutating func advance(to state: inout LogState) {
        (sequence, digest, asOf) = (state.sequence, state.digest().hex, Self.asOf(state).description)
    }

    /// The hash of what makes a table's rows; `nil` if the rows must not be copied.
    package func hash(ofTable name: String) -> String? { parts[Self.tableStart + name] }

    /// The decoders whose version has changed since the rows were made.
    package var changedDecoders: [DecoderVersion] {
        DecoderVersion.allCases.filter { parts[Self.decoderStart + $0.rawValue] != "\($0.number)" }
    }

    /// A log's identity, in hex.
    package static func text(ofIdentity identity: [UInt8]) -> String {
        identity.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether the cache can follow a log: the log reaches the cache's sequence, and after it no compaction was decided, no text
    /// was redacted and no decoder file was put in force, and the same decoders are registered. The caller compares the
    /// identity.
    package func canContinue(in session: borrowing ReadSession) -> Bool {
        guard session.decidedAt <= sequence, sequence <= session.head else { return false }
        guard parts[Self.registeredName] ?? "" == RegisteredDecoders(of: session).fingerprint else { return false }
        let acts = try? [Decoders.changedAt(in: session), Redactions.newest(in: session)]
        return acts?.allSatisfy { $0 <= sequence } ?? false
    }

    /// The instant at which a cache judges what passes with time: the state's clock.
    package static func asOf(_ state: borrowing LogState) -> Timestamp { state.clock ?? Timestamp(seconds: 0) }
}
