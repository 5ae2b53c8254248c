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

    /// The most events that one act names.
    static let eventsMax = 100_000
    /// How often the log is rewritten while other writers append the texts again.
    private static let roundsMax = 5

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
        // The act stays for ever.
        for text in [request.by, request.why ?? ""] where scope.isKept(by: text) {
            throw EngineError("redact: the name or the reason would keep a text that goes: write another one")
        }
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
        // A redaction that was killed after its switch has left the originals behind.
        if !isDryRun { try store.removeLeftovers() }
        var result = RedactionResult(texts: textCount)
        for round in 1... {
            report("looking for the texts")
            let plan = try store.read { try RedactionPlan(scope, $0) }
            guard !plan.substitutes.isEmpty || plan.facts != nil else {
                if result.act == nil { throw nothing(plan) }
                break
            }
            report("proving that the rest stays the same")
            var rewrite = plan.rewrite(act: try act(of: plan, now: now))
            rewrite.isDryRun = isDryRun
            rewrite.scratch = scratch
            do {
                let done = try store.rewrite(rewrite) { try plan.prove($0) }
                result.add(plan)
                result.act = isDryRun ? nil : done.act
                // Another writer may have appended a text between the plan and the switch.
                if isDryRun || done.act.rawValue == plan.decidedAt.rawValue + 1 { break }
            } catch {
                // If a compaction or another act came between, the log is as that left it.
                guard round < Self.roundsMax, isVoid(plan) else { throw error }
                continue
            }
            if round == Self.roundsMax {
                throw EngineError(
                    "redact: other writers keep appending; all that the log held when this began is redacted: stop them and run it "
                        + "again"
                )
            }
        }
        report("searching what is left")
        result.scan = isDryRun ? nil : try RedactionScan(store, substitutes)
        return result
    }

    /// Whether an act has come since the plan was made.
    private func isVoid(_ plan: RedactionPlan) -> Bool {
        let acts = try? store.read { try $0.acts() }
        return acts?.contains { $0 > plan.decidedAt } ?? false
    }

    /// The error for a log in which nothing can be replaced.
    private func nothing(_ plan: RedactionPlan) -> EngineError {
        if let event = plan.held.first {
            return EngineError(
                "redact: in event \(event) the text is an id or a word of the protocol as well, and must stay; nothing was written",
                code: .no
            )
        }
        let others = plan.others.map(\.description).sorted()
        guard !request.entities.isEmpty, let other = others.first else {
            return EngineError("redact: no event has the text; nothing was written", code: .no)
        }
        let more = others.count > 1 ? " and \(others.count - 1) other things" : ""
        return EngineError(
            "redact: the events that have the text give it to \(other)\(more), too: name them as well; nothing was written",
            code: .no
        )
    }

    /// The act. It names the events, and tells nothing of the texts.
    private func act(of plan: RedactionPlan, now: Timestamp) throws -> DraftEvent {
        guard plan.substitutes.count <= Self.eventsMax else {
            throw EngineError(
                "redact: \(plan.substitutes.count) events have the text, and one act names at most \(Self.eventsMax); name fewer "
                    + "entities at a time"
            )
        }
        var json = JSONWriter()
        json.begin("{")
        json.name("by")
        json.string(request.by)
        if let why = request.why {
            json.name("why")
            json.string(why)
        }
        json.name("entities")
        json.value(.array(request.entities.map { .string($0.description) }))
        json.name("texts")
        json.number(textCount)
        json.name("redacted")
        json.begin("[")
        // The very text of a name is prescribed: docs/format.md.
        let names = plan.substitutes.sorted { $0.key < $1.key }.map {
            "{" + RewritePlan.name(ofSubstitute: $1, for: $0) + "}"
        }
        json.end("]")
        json.end("}")
        var payload = json.bytes
        payload.replaceSubrange(payload.count - 2..<payload.count - 2, with: names.joined(separator: ",").utf8)
        return DraftEvent(recordedAt: now, source: .logtool, kind: Redactions.actKind, payload: payload)
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

    /// The act; `nil` after a dry run, and if only what must stay has the text.
    public internal(set) var act: SequenceNumber?
    /// How many different texts were looked for.
    public let texts: Int
    /// The events whose payloads were replaced, in order.
    public private(set) var events: [Event] = []
    /// The events in which a text stays, because it is an id or a word of the protocol there.
    public private(set) var held: [SequenceNumber] = []
    /// The other things in whose texts the same stands, and stays, sorted.
    public private(set) var others: [EntityReference] = []
    /// Where the texts still are; `nil` after a dry run.
    public internal(set) var scan: RedactionScan?

    init(texts: Int) { self.texts = texts }

    mutating func add(_ plan: RedactionPlan) {
        events = (events + plan.events).sorted { $0.sequence < $1.sequence }
        held = plan.held
        others = plan.others.sorted { $0.description < $1.description }
    }
}
