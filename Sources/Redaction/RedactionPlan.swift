import EventLog
import JSON
import Projections

/// The events whose payloads a redaction replaces, decided at one head, and the proof that nothing else changes.
struct RedactionPlan {
    let scope: RedactionScope
    let search: TokenSearch
    private let cover: TokenSearch
    /// The head at which it was decided, and the state there.
    let decidedAt: SequenceNumber
    let before: LogState
    private(set) var substitutes: [SequenceNumber: [UInt8]] = [:]
    private(set) var events: [RedactionResult.Event] = []
    /// The events in which a text stays, because it is an id or a word of the protocol there.
    private(set) var held: [SequenceNumber] = []
    /// Parts of envelopes that have an id, a name or a text of somebody who is forgotten.
    private(set) var heldParts: [RedactionScan.Hit] = []
    /// Other things that have the same texts, which stay.
    private(set) var others: Set<EntityReference> = []
    /// The events with others' texts that stay, and the numbers of these texts.
    private(set) var otherEvents: Set<SequenceNumber> = []
    private(set) var otherTexts: Set<Int> = []
    /// Messages that answer one of the things, and may quote it.
    private(set) var answers: Set<EntityReference> = []
    /// The facts of a compaction without the texts; `nil` if they need no change.
    private(set) var facts: [UInt8]?
    /// Whether the facts have an id or a name where it must stay.
    private(set) var areFactsHeld = false

    init(_ scope: RedactionScope, _ session: borrowing ReadSession) throws {
        (self.scope, decidedAt) = (scope, session.head)
        search = scope.people == nil ? scope.substitutes.search : scope.substitutes.peopleSearch
        cover =
            scope.people != nil
            ? scope.substitutes.coverSearch : scope.things == nil ? search : scope.substitutes.longSearch
        before = try Replay.logState(of: session)
        guard session.head > .zero else { return }
        // The pseudonyms of what the facts know are needed to read the events behind them; the substitutes' marks come later.
        let renamed = scope.people == nil ? nil : try Redactions.facts(session, [:]) { replaced(fact: $0) }
        try decide(session, renamed: renamed)
        facts = try Redactions.facts(session, substitutes) { replaced(fact: $0) }
    }

    /// - Parameter facts: Those of the log with pseudonyms; `nil` if they are the same.
    private mutating func decide(_ session: borrowing ReadSession, renamed facts: [UInt8]?) throws {
        let sources = scope.sources
        let areTiny = scope.people == nil && scope.substitutes.tinyCount > 0
        let newDecoder = try ChangeDecoder(withoutFactsOf: session)
        // Two decoders, one of them an event behind: a copy of one that goes on would copy what it remembers, for each event.
        var ahead = try ChangeDecoder(for: session)
        var behind = ahead
        // A third one reads what is left.
        var renamed = try facts.map { try ChangeDecoder(for: session, facts: $0) } ?? ahead
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            guard !event.isAct, sources?.contains(event.source.rawValue) ?? true else { return true }
            let envelope = event.envelope
            if scope.people != nil { look(at: envelope) }
            let isHit = areTiny || event.withPayload { search.occurs(in: $0) }
            guard isHit || scope.people != nil else {
                event.withPayload { ahead.pass(envelope, payload: $0) }
                event.withPayload { behind.pass(envelope, payload: $0) }
                return true
            }
            let stated = event.withPayload { ahead.decode(envelope, payload: $0) }
            if isHit || isNear(stated, event, newDecoder) {
                try session.check(event)
                let payload = event.withPayload { Array($0) }
                take(result(of: payload, stated, before: behind, renamed, newDecoder), envelope.sequence)
            }
            event.withPayload { behind.pass(envelope, payload: $0) }
            guard scope.people != nil else { return true }
            if let substitute = substitutes[envelope.sequence] {
                substitute.withUnsafeBytes { renamed.pass(envelope, payload: $0) }
            } else {
                event.withPayload { renamed.pass(envelope, payload: $0) }
            }
            return true
        }
    }

    /// Whether an event without a long text is about one of the things or people. A repeat states nothing, but is about the same.
    private func isNear(_ stated: DecodedEvent, _ event: borrowing EventView, _ newDecoder: ChangeDecoder) -> Bool {
        let isStated = PayloadRedaction.statements(of: stated).contains { scope.isNear($0, of: stated.envelope.source) }
        if isStated || !stated.all.isEmpty { return isStated }
        var decoder = newDecoder
        let again = event.withPayload { decoder.decode(stated.envelope, payload: $0) }
        return PayloadRedaction.statements(of: again).contains { scope.isNear($0, of: stated.envelope.source) }
    }

    private func result(
        of payload: [UInt8],
        _ stated: DecodedEvent,
        before decoder: ChangeDecoder,
        _ renamed: ChangeDecoder,
        _ newDecoder: ChangeDecoder
    ) -> PayloadRedaction.Result {
        PayloadRedaction(
            scope: scope,
            search: search,
            cover: cover,
            envelope: stated.envelope,
            payload: payload,
            decoder: decoder,
            newDecoder: newDecoder,
            stated: stated,
            renamed: renamed
        ).result()
    }

    private mutating func take(_ result: PayloadRedaction.Result, _ sequence: SequenceNumber) {
        if result.isHeld { held.append(sequence) }
        others.formUnion(result.others)
        if !result.otherTexts.isEmpty { otherEvents.insert(sequence) }
        otherTexts.formUnion(result.otherTexts)
        answers.formUnion(result.answers)
        guard result.count > 0 else { return }
        substitutes[sequence] = result.payload
        events.append(RedactionResult.Event(sequence: sequence, places: result.count))
    }

    /// Notes the parts of an envelope that have an id, a name or a long text. The leaf hash covers them, so they stay.
    private mutating func look(at envelope: Envelope) {
        func look(_ part: String, _ text: String) {
            let matches = scope.substitutes.matches(in: Array(text.utf8))
            let isTold = matches.contains { match in
                match.isMention || match.range.count >= TextForms.longBytes || match.role == .name
            }
            guard isTold || cover.occurs(in: text) else { return }
            heldParts.append(RedactionScan.Hit(sequence: envelope.sequence, part: part))
        }
        if let key = envelope.key { look("key", key.rawValue) }
        look("source", envelope.source.rawValue)
        for pair in envelope.attributes.pairs { look("attribute \(pair.name)", pair.value) }
    }

    /// A string of the facts without the texts. An id or a name goes where it is all of the string and no other thing has it.
    private mutating func replaced(fact text: String) -> String {
        let texts = scope.substitutes
        guard let people = scope.people else {
            let isCopied = scope.things == nil || texts.isCopied(in: text, isNear: false)
            return isCopied ? texts.replaced(in: text) ?? text : text
        }
        return texts.replaced(in: text) { _, match, substitute in
            if !match.role.isOfPerson { return match.range.count >= TextForms.longBytes ? substitute : nil }
            if match.role == .number(isLong: false) { return nil }
            if match.isWhole, !people.shared.contains(text) { return substitute }
            areFactsHeld = true
            return nil
        } ?? text
    }

    /// The rewrite that carries it out. Another rewrite or a decoder file that comes between stops it.
    ///
    /// - Parameter acts: In order; the last one is that of the rewrite.
    func rewrite(acts: [DraftEvent], last: DraftEvent) -> RewritePlan {
        var plan = RewritePlan(dropped: [], decidedAt: decidedAt, act: last, substitutes: substitutes)
        plan.earlierActs = acts
        if let facts { plan.facts = [Replay.factName: facts] }
        plan.voidedBy = [Decoders.actKind, Compaction.actKind, Compaction.restorationKind, Redactions.actKind]
        return plan
    }
}
