public import EventLog
import JSON
public import Projections

/// Replaces texts of a log for ever, in every event that has them.
///
/// A substitute payload states the same as the original of the same things, with `(redacted)` in place of each text; two texts
/// that differ have substitutes that differ. So everything else folds as before, which is proved before anything takes
/// effect. The originals and their salts are gone afterwards, and leaf hashes and earlier proofs of other events hold.
///
/// ```swift
/// let redaction = try LogRedaction(of: log, LogRedaction.Request(entities: [message], by: "ada"))
/// let result = try redaction.run(now: now)
/// ```
public struct LogRedaction {
    /// Who asks for a redaction, why, and of which entities or texts.
    public struct Request: Sendable {
        /// Messages, items, sessions, prompts and rows, each named in full.
        public var entities: [EntityReference]
        /// Members of the entities that are replaced beside the text itself; of a row, its columns.
        public var columns: [String]
        /// Texts that are replaced wherever they stand.
        public var texts: [String]
        /// Who asks for it.
        public var by: String
        /// Why.
        public var why: String?

        /// Makes a request.
        public init(
            entities: [EntityReference] = [],
            columns: [String] = [],
            texts: [String] = [],
            by: String,
            why: String? = nil
        ) {
            (self.entities, self.columns, self.texts, self.by, self.why) = (entities, columns, texts, by, why)
        }
    }

    private let store: EventStore
    private let request: Request
    private let scope: RedactionScope

    /// Finds the texts of the entities in the log: a pass over all events.
    ///
    /// - Throws: `EngineError` for a thing that has no texts, or none that can be replaced; `EventLogError` if the log cannot be
    ///   read.
    public init(of store: EventStore, _ request: Request) throws {
        (self.store, self.request) = (store, request)
        scope = try store.read { try StatedTexts.scope(of: request, in: $0) }
        try RedactionRounds.check(scope, by: request.by, why: request.why)
    }

    /// How many different texts go.
    public var textCount: Int { substitutes.texts.count }

    var substitutes: TextSubstitutes { scope.substitutes }

    /// Redacts the log, or finds out what a redaction would do.
    ///
    /// Cost: two folds of the log, whose states are in memory together, at most four more passes over its events, and a copy of
    /// it; as much disk as the log for a while. Appends wait only while the last events are copied.
    ///
    /// - Parameters:
    ///   - now: When the act is recorded.
    ///   - isDryRun: Whether to leave the log unchanged. The figures come from a real rewrite, which is thrown away.
    ///   - scratch: An empty folder for a dry run's rewrite; `nil` for the log's own folder, which must then be writable.
    ///   - report: Called before each step, with what it does.
    /// - Throws: `EngineError` with code `no` if the log has none of the texts, or if something else would change; the log is
    ///   unchanged then. `EventLogError`.
    public func run(
        now: Timestamp,
        isDryRun: Bool = false,
        scratch: String? = nil,
        _ report: @escaping (String) -> Void = { _ in }
    ) throws -> RedactionResult {
        var rounds = RedactionRounds(store: store, scope: scope, by: request.by, why: request.why)
        rounds.entities = request.entities
        var result = try rounds.run(now: now, isDryRun: isDryRun, scratch: scratch, report) { _, _ in }
        report("searching what is left")
        result.scan = isDryRun ? nil : try RedactionScan(store, substitutes)
        return result
    }
}

/// What a redaction did, or would do.
public struct RedactionResult: Sendable {
    /// An event whose payload was replaced.
    public struct Event: Sendable {
        /// The event.
        public let sequence: SequenceNumber
        /// How many places in it were replaced.
        public let places: Int
    }

    /// The act, the last one of several; `nil` after a dry run, and if only what must stay has the text.
    public internal(set) var act: SequenceNumber?
    /// All acts, in order: more than one where one cannot name all events, or where texts came meanwhile.
    public internal(set) var acts: [SequenceNumber] = []
    /// How many different texts were looked for.
    public internal(set) var texts: Int
    /// The events whose payloads were replaced, in order.
    public private(set) var events: [Event] = []
    /// The events in which a text stays, because it is an id or a word of the protocol there.
    public private(set) var held: [SequenceNumber] = []
    /// The other things in whose texts the same stands, and stays, sorted.
    public private(set) var others: [EntityReference] = []
    /// The events with other things' texts that stay, and the numbers of these texts.
    private(set) var otherEvents: Set<SequenceNumber> = []
    private(set) var otherTexts: Set<Int> = []
    /// Parts of envelopes that have an id, a name or a text of who is forgotten.
    private(set) var heldParts: [RedactionScan.Hit] = []
    /// Whether facts of a compaction have one.
    private(set) var areFactsHeld = false
    /// Where the texts still are; `nil` after a dry run.
    public internal(set) var scan: RedactionScan?

    init(texts: Int) { self.texts = texts }

    mutating func add(_ plan: RedactionPlan, stating: [SequenceNumber]) {
        events = (events + plan.events).sorted { $0.sequence < $1.sequence }
        held = Set(plan.held + stating).sorted()
        others = plan.others.sorted { $0.description < $1.description }
        (otherEvents, otherTexts) = (plan.otherEvents, plan.otherTexts)
        (heldParts, areFactsHeld) = (plan.heldParts, plan.areFactsHeld)
    }
}
