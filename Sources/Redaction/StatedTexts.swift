import EventLog
import JSON
import Projections

/// Finds what a log states of the things whose texts are redacted.
enum StatedTexts {
    /// The scope of a request: the texts that it names, or all texts that its things ever had, and all names of the things.
    ///
    /// - Throws: `EngineError` for a thing without texts and for a row without columns; `EventLogError`.
    static func scope(of request: LogRedaction.Request, in session: borrowing ReadSession) throws -> RedactionScope {
        guard !request.entities.isEmpty else {
            var substitutes = TextSubstitutes()
            for text in request.texts { substitutes.add(text) }
            substitutes.number(besides: try givenNumbers(in: session))
            return RedactionScope(things: nil, columns: [], substitutes: substitutes)
        }
        var names = Set(request.entities)
        while true {
            let found = try Search(names: names, columns: Set(request.columns), session)
            // A thing that moved had another name before. This pass did not take the events of that name.
            guard found.names == names else {
                names = found.names
                continue
            }
            try found.check(request)
            var substitutes = found.substitutes
            substitutes.number(besides: try givenNumbers(in: session))
            return RedactionScope(things: names, columns: Set(request.columns), substitutes: substitutes)
        }
    }

    /// The numbers of the substitutes that the log has.
    static func givenNumbers(in session: borrowing ReadSession) throws -> Set<Int> {
        var numbers: Set<Int> = []
        guard try Redactions.newest(in: session) > .zero else { return numbers }
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            if event.holding == .redacted {
                numbers.formUnion(event.withPayload { TextSubstitutes.numbers(in: $0) })
            }
            return true
        }
        return numbers
    }

    /// The events up to a point that state one of the texts of a scope as one of its things has them, or name one of its people, in
    /// order. Of things, the first one alone.
    static func eventsStating(
        _ scope: RedactionScope,
        _ session: borrowing ReadSession,
        through last: SequenceNumber
    ) throws -> [SequenceNumber] {
        guard let sources = scope.sources else { return [] }
        // What no payload has, no decoder of ours can state; one of a file may join it. Short texts of a person stand in many.
        let decoders = try Decoders(inForce: session)
        let areJoined = try sources.contains { decoders.rules(of: try SourceName($0)) != nil }
        let isSearched = scope.people == nil && scope.substitutes.tinyCount == 0 && !areJoined
        guard try !isSearched || isInPayload(scope.substitutes.search, of: sources, session) else { return [] }
        var found: [SequenceNumber] = []
        // The act that names the substitutes is still to come.
        try forEachChange(of: sources, session, checks: false) { change, decoded, _ in
            let envelope = decoded.envelope
            // What came since is looked at in the next round.
            if envelope.sequence > last { return false }
            let isStated = Statement.all(of: change, source: envelope.source).contains { statement in
                if let people = scope.people, people.names(statement, of: envelope.source) { return true }
                return scope.isOwn(statement)
                    && scope.fields(of: statement).contains { scope.substitutes.occur(in: $0.value) }
            }
            if isStated, found.last != envelope.sequence { found.append(envelope.sequence) }
            return found.isEmpty || scope.people != nil
        }
        return found
    }

    /// Whether a payload of some sources may have one of the texts.
    private static func isInPayload(
        _ search: TokenSearch,
        of sources: Set<String>,
        _ session: borrowing ReadSession
    ) throws -> Bool {
        var isFound = false
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            guard !event.isAct, sources.contains(event.source.rawValue) else { return true }
            isFound = event.withPayload { search.occurs(in: $0) }
            return !isFound
        }
        return isFound
    }

    /// Decodes the events of some sources in order, until `body` returns false.
    ///
    /// - Parameters:
    ///   - checks: Whether each event is compared with its leaf hash.
    ///   - repeats: Whether to give also what an event would state as the first one. Of a compacted log the frame may be gone that it
    ///     repeats.
    private static func forEachChange(
        of sources: Set<String>,
        _ session: borrowing ReadSession,
        checks: Bool,
        repeats: Bool = false,
        _ body: (DecodedChange, DecodedEvent, _ hasItemsAcrossLists: Bool) -> Bool
    ) throws {
        var decoder = try ChangeDecoder(for: session)
        let newDecoder = try ChangeDecoder(withoutFactsOf: session)
        guard session.head > .zero else { return }
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            guard !event.isAct, sources.contains(event.source.rawValue) else { return true }
            if checks { try session.check(event) }
            let envelope = event.envelope
            return event.withPayload { payload in
                var events = [decoder.decode(envelope, payload: payload)]
                if repeats {
                    var decoder = newDecoder
                    events.append(decoder.decode(envelope, payload: payload))
                }
                let hasItemsAcrossLists = decoder.hasItemsAcrossLists(envelope)
                return events.allSatisfy { event in event.all.allSatisfy { body($0, event, hasItemsAcrossLists) } }
            }
        }
    }

    /// What one pass over the log finds.
    private struct Search {
        /// All names of the things.
        private(set) var names: Set<EntityReference>
        private(set) var substitutes = TextSubstitutes()
        private let columns: Set<String>
        /// The source and id of each item that was named.
        private let items: Set<[String]>
        /// The members that the log states of each thing, in their order.
        private var members: [EntityReference: [String]] = [:]

        init(names: Set<EntityReference>, columns: Set<String>, _ session: borrowing ReadSession) throws {
            (self.names, self.columns) = (names, columns)
            items = Set(names.filter { $0.kind == .item }.map(Self.withoutList))
            let isCompacted = session.decidedAt > .zero
            let sources = Set(names.compactMap(\.parts.first))
            try StatedTexts.forEachChange(of: sources, session, checks: true, repeats: isCompacted) {
                change,
                event,
                hasItemsAcrossLists in
                take(change, event, hasItemsAcrossLists)
                return true
            }
        }

        private static func withoutList(_ item: EntityReference) -> [String] {
            [item.parts.first, item.parts.last].compactMap { $0 }
        }

        private mutating func take(_ change: DecodedChange, _ event: DecodedEvent, _ hasItemsAcrossLists: Bool) {
            let source = event.envelope.source
            if case .messageMoved(let from, let to, _, _) = change {
                let both = [from, to].map {
                    EntityReference(kind: .message, parts: [source.rawValue, $0.channel, $0.id])
                }
                if both.contains(where: names.contains) { names.formUnion(both) }
            }
            for statement in Statement.all(of: change, source: source) {
                guard let thing = statement.thing else { continue }
                if hasItemsAcrossLists, thing.kind == .item, items.contains(Self.withoutList(thing)) {
                    names.insert(thing)
                }
                guard names.contains(thing) else { continue }
                for field in statement.fields where members[thing]?.contains(field.name) != true {
                    members[thing, default: []].append(field.name)
                }
                for text in statement.texts(columns).flatMap(\.value.strings) {
                    for text in event.pieces(of: text) { substitutes.add(text) }
                }
            }
        }

        /// - Throws: `EngineError` if a thing has no texts, or a column is none of its members.
        func check(_ request: LogRedaction.Request) throws {
            for thing in request.entities {
                let known = members[thing] ?? []
                if thing.kind == .row, request.columns.isEmpty {
                    throw EngineError(
                        "redact \(thing): name the columns whose texts go, with --column: \(known.joined(separator: ", "))"
                    )
                }
                guard [.message, .item, .session, .prompt, .row].contains(thing.kind) else {
                    throw EngineError(
                        "redact \(thing): only messages, items, sessions, prompts and rows can be named; for another text use --match"
                    )
                }
            }
            let all = Set(members.values.joined())
            if let column = request.columns.first(where: { !all.contains($0) }) {
                throw EngineError(
                    "redact: nothing that was named has a member \"\(column)\"; there are \(all.sorted().joined(separator: ", "))"
                )
            }
            guard substitutes.texts.isEmpty else { return }
            let names = request.entities.map(\.description).joined(separator: ", ")
            throw EngineError(
                "redact \(names): the log holds no text of it, or none that is not redacted; nothing was written",
                code: .no
            )
        }
    }
}
