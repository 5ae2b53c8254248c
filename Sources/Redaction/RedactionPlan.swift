import EventLog
import JSON
import Projections

/// The events whose payloads a redaction replaces, decided at one head, and the proof that nothing else changes.
struct RedactionPlan {
    private let scope: RedactionScope
    private let search: TokenSearch
    /// The head at which it was decided, and the state there.
    let decidedAt: SequenceNumber
    private let before: LogState
    private(set) var substitutes: [SequenceNumber: [UInt8]] = [:]
    private(set) var events: [RedactionResult.Event] = []
    /// The events in which a text stays, because it is an id or a word of the protocol there.
    private(set) var held: [SequenceNumber] = []
    /// Other things that have the same texts, which stay.
    private(set) var others: Set<EntityReference> = []
    /// Messages that answer one of the things, and may quote it.
    private var answers: Set<EntityReference> = []
    /// The facts of a compaction without the texts; `nil` if they need no change.
    private(set) var facts: [UInt8]?

    init(_ scope: RedactionScope, _ session: borrowing ReadSession) throws {
        (self.scope, search, decidedAt) = (scope, scope.substitutes.search, session.head)
        before = try Replay.logState(of: session)
        let sources = scope.things.map { Set($0.compactMap(\.parts.first)) }
        guard session.head > .zero else { return }
        let areTiny = scope.substitutes.tinyCount > 0
        let cover = scope.things == nil ? search : scope.substitutes.longSearch
        let newDecoder = try ChangeDecoder(withoutFactsOf: session)
        var decoder = try ChangeDecoder(for: session)
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            guard !event.isAct, sources?.contains(event.source.rawValue) ?? true else { return true }
            let envelope = event.envelope
            guard areTiny || event.withPayload({ search.occurs(in: $0) }) else {
                event.withPayload { decoder.pass(envelope, payload: $0) }
                return true
            }
            try session.check(event)
            let decoderBefore = decoder
            let payload = event.withPayload { Array($0) }
            let stated = payload.withUnsafeBytes { decoder.decode(envelope, payload: $0) }
            let redaction = PayloadRedaction(
                scope: scope,
                search: search,
                cover: cover,
                envelope: envelope,
                payload: payload,
                decoder: decoderBefore,
                newDecoder: newDecoder,
                stated: stated
            )
            take(redaction.result(), envelope.sequence)
            return true
        }
        let texts = scope.substitutes
        let isEverywhere = scope.things == nil
        facts = try Redactions.facts(session, substitutes) { text in
            guard isEverywhere || texts.isCopied(in: text, isNear: false) else { return text }
            return texts.replaced(in: text) ?? text
        }
    }

    private mutating func take(_ result: PayloadRedaction.Result, _ sequence: SequenceNumber) {
        if result.isHeld { held.append(sequence) }
        others.formUnion(result.others)
        answers.formUnion(result.answers)
        guard result.count > 0 else { return }
        substitutes[sequence] = result.payload
        events.append(RedactionResult.Event(sequence: sequence, places: result.count))
    }

    /// The rewrite that carries it out. Another rewrite or a decoder file that comes between stops it.
    func rewrite(act: DraftEvent) -> RewritePlan {
        var plan = RewritePlan(dropped: [], decidedAt: decidedAt, act: act, substitutes: substitutes)
        if let facts { plan.facts = [Replay.factName: facts] }
        plan.voidedBy = [Decoders.actKind, Compaction.actKind, Compaction.restorationKind, Redactions.actKind]
        return plan
    }

    // MARK: - Proof

    /// Folds the new generation and compares: only the texts may differ.
    ///
    /// - Throws: `EngineError` with code `no` if anything else would change.
    func prove(_ session: borrowing ReadSession) throws {
        if let event = try StatedTexts.eventStating(scope, session) {
            let other = others.map(\.description).min()
            let reason =
                other.map { "which is that of \($0), too: name that as well" }
                ?? "which is an id or a word of the protocol there as well"
            throw EngineError(
                "redact: event \(event) would still state the text, \(reason); nothing was written",
                code: .no
            )
        }
        let after = try Replay.logState(of: session, through: decidedAt)
        let others = StateDiff.differences(before, after).filter { !isExpected($0) }
        guard let first = others.first else { return }
        let fields = first.fields.map(\.name).joined(separator: ", ")
        let more = others.count > 1 ? " and \(others.count - 1) others" : ""
        let advice =
            scope.things == nil ? "" : "what shares a text with the named goes with it only if it is named, too; "
        throw EngineError(
            "redact: \(first.entity)\(more) would change (\(fields.isEmpty ? first.change.rawValue : fields)); \(advice)"
                + "nothing was written",
            code: .no
        )
    }

    /// Whether a difference is nothing but texts replaced.
    private func isExpected(_ difference: StateDifference) -> Bool {
        guard difference.change == .changed else { return false }
        if let things = scope.things, !things.contains(difference.entity) {
            guard answers.contains(difference.entity) else { return false }
            return difference.fields.allSatisfy { $0.name != "content" && isReplaced($0.a, by: $0.b) }
        }
        return difference.fields.allSatisfy { isReplaced($0.a, by: $0.b) }
    }

    /// Whether each string of a value stays or gave its texts away, and all else stays.
    private func isReplaced(_ old: JSONValue?, by new: JSONValue?) -> Bool {
        guard let old, let new else { return false }
        switch (old, new) {
        case (.string(let old), .string(let new)):
            if old.utf8.elementsEqual(new.utf8) || scope.substitutes.replaced(in: old) == new { return true }
            // A text that grew piece by piece, and one in another form, are not replaced as one text.
            return search.occurs(in: old) && !search.occurs(in: new)
        case (.array(let old), .array(let new)):
            return old.count == new.count && zip(old, new).allSatisfy { isReplaced($0, by: $1) }
        case (.object(let old), .object(let new)):
            // A name that is no member of a protocol may be a text as well.
            return old.members.count == new.members.count
                && zip(old.members, new.members).allSatisfy { old, new in
                    isReplaced(.string(old.name), by: .string(new.name)) && isReplaced(old.value, by: new.value)
                }
        default: return old == new
        }
    }
}
