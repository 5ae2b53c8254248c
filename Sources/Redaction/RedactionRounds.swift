import EventLog
import JSON
import Projections

/// Rewrites a log without the texts of a scope, again while other writers append them, and records the acts.
struct RedactionRounds {
    let store: EventStore
    var scope: RedactionScope
    let by: String
    let why: String?
    var entities: [EntityReference] = []
    /// The pseudonyms of who is forgotten.
    var forgotten: [String] = []
    /// The most events that one act names: with 100,000 it has about 11 MB.
    var eventsMax = 100_000

    /// How often the log is rewritten while other writers append the texts again.
    private static let roundsMax = 5

    init(store: EventStore, scope: RedactionScope, by: String, why: String?) {
        (self.store, self.scope, self.by, self.why) = (store, scope, by, why)
    }

    /// - Throws: `EngineError` for a name or a reason that has a text that goes. The act stays for ever.
    static func check(_ scope: RedactionScope, by: String, why: String?) throws {
        for text in [by, why ?? ""] where scope.isKept(by: text) {
            throw EngineError(
                "\(scope.verb): the name or the reason would keep what goes: write another one, with --by or --why"
            )
        }
    }

    /// Redacts the log, or finds out what a redaction would do.
    ///
    /// - Parameters:
    ///   - renew: Called before each round but the first, to add to the scope what came meanwhile.
    /// - Throws: `EngineError` with code `no` if the log has none of the texts, or if something else would change; the log is
    ///   unchanged then. `EventLogError`.
    mutating func run(
        now: Timestamp,
        isDryRun: Bool,
        scratch: String?,
        _ report: (String) -> Void,
        renewing renew: (inout RedactionScope, borrowing ReadSession) throws -> Void
    ) throws -> RedactionResult {
        // A redaction that was killed after its switch has left the originals behind.
        if !isDryRun { try store.removeLeftovers() }
        var result = RedactionResult(texts: scope.substitutes.texts.count)
        for round in 1... {
            report("looking for the texts")
            let plan = try store.read { session in
                if round > 1 { try renew(&scope, session) }
                return try RedactionPlan(scope, session)
            }
            guard !plan.substitutes.isEmpty || plan.facts != nil else {
                if result.act == nil { throw nothing(plan) }
                break
            }
            report("proving that the rest stays the same")
            let acts = acts(of: plan, now: now)
            var rewrite = plan.rewrite(acts: acts.dropLast(), last: acts[acts.count - 1])
            rewrite.isDryRun = isDryRun
            rewrite.scratch = scratch
            do {
                var stating: [SequenceNumber] = []
                let done = try store.rewrite(rewrite) { stating = try plan.prove($0) }
                result.add(plan, stating: stating)
                result.texts = scope.substitutes.texts.count
                if isDryRun { break }
                result.act = done.act
                result.acts += acts.indices.map { SequenceNumber(done.act.rawValue - UInt64(acts.count - 1 - $0)) }
                // Another writer may have appended a text between the plan and the switch.
                if done.act.rawValue == plan.decidedAt.rawValue + UInt64(acts.count) { break }
            } catch {
                // If a compaction or another act came between, the log is as that left it.
                guard round < Self.roundsMax, isVoid(plan) else { throw error }
                continue
            }
            if round == Self.roundsMax {
                throw EngineError(
                    "\(scope.verb): other writers keep appending; all that the log held when this began is gone: stop them and "
                        + "run it again"
                )
            }
        }
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
                "\(scope.verb): in event \(event) the text is an id or a word of the protocol as well, and must stay; nothing was "
                    + "written",
                code: .no
            )
        }
        let others = plan.others.map(\.description).sorted()
        guard !entities.isEmpty, let other = others.first else {
            return EngineError("\(scope.verb): no event has the text; nothing was written", code: .no)
        }
        let more = others.count > 1 ? " and \(others.count - 1) other things" : ""
        return EngineError(
            "redact: the events that have the text give it to \(other)\(more), too: name them as well; nothing was written",
            code: .no
        )
    }

    /// The acts. They name the events, and tell nothing of the texts, nor of a person's id and names.
    private func acts(of plan: RedactionPlan, now: Timestamp) -> [DraftEvent] {
        let names = plan.substitutes.sorted { $0.key < $1.key }
        let pieces = stride(from: 0, to: max(names.count, 1), by: eventsMax).map { start in
            names[start..<min(start + eventsMax, names.count)]
        }
        return pieces.map { act(naming: $0, now: now) }
    }

    private func act(naming events: ArraySlice<(key: SequenceNumber, value: [UInt8])>, now: Timestamp) -> DraftEvent {
        var json = JSONWriter()
        json.begin("{")
        json.name("by")
        json.string(by)
        if let why {
            json.name("why")
            json.string(why)
        }
        json.name("entities")
        json.value(.array(entities.map { .string($0.description) }))
        if !forgotten.isEmpty {
            json.name("forgotten")
            json.value(.array(forgotten.map { .string($0) }))
        }
        json.name("texts")
        json.number(scope.substitutes.texts.count)
        json.name("redacted")
        json.begin("[")
        // The very text of a name is prescribed: docs/format.md.
        let names = events.map { "{" + RewritePlan.name(ofSubstitute: $0.value, for: $0.key) + "}" }
        json.end("]")
        json.end("}")
        var payload = json.bytes
        payload.replaceSubrange(payload.count - 2..<payload.count - 2, with: names.joined(separator: ",").utf8)
        return DraftEvent(recordedAt: now, source: .logtool, kind: Redactions.actKind, payload: payload)
    }
}
