import EventLog
import JSON
import Kinds
import Projections

/// Whose texts are replaced, and which texts these are.
struct RedactionScope {
    /// The things, under all names that they had; `nil` to replace the texts wherever they stand.
    let things: Set<EntityReference>?
    /// Members of the things that were named beside those that are always replaced.
    let columns: Set<String>
    let substitutes: TextSubstitutes

    /// Whether a statement is about one of the things.
    func isOwn(_ statement: Statement) -> Bool {
        guard let things, let thing = statement.thing else { return false }
        return things.contains(thing)
    }

    /// Whether a statement is a message that answers one of the things.
    func isAnswer(_ statement: Statement) -> Bool {
        guard let things, let answered = statement.answered else { return false }
        return things.contains(answered)
    }

    /// Whether a text that stays would tell one that goes.
    func isKept(by text: String) -> Bool {
        things == nil ? substitutes.count(in: text) > 0 : substitutes.isCopied(in: text, isNear: true)
    }

    /// The fields of a statement in which texts are replaced: those of the things, what an answer quotes of them beside its own
    /// text, and all where no thing was named.
    func fields(of statement: Statement) -> [Statement.Field] {
        if things == nil { return statement.fields }
        if isOwn(statement) { return statement.redacted(columns) }
        return isAnswer(statement) ? statement.fields.filter { $0.name != "content" } : []
    }
}

/// Decides which texts of one payload are replaced, by what the event's decoder reads of each.
///
/// Each text that may have to go is marked, and the payload decoded anew: where the mark comes out shows whose text it is. A mark
/// that changes what is stated, apart from texts, stands where the text is an id or a word of the protocol, and there it stays.
struct PayloadRedaction {
    /// What becomes of one payload, and why.
    struct Result {
        let payload: [UInt8]
        /// How many places were replaced.
        let count: Int
        /// True if a text that was to go everywhere stays, because it is an id or a word of the protocol.
        let isHeld: Bool
        /// The other things whose texts stay, though they are the same.
        let others: Set<EntityReference>
        /// The messages that answer one of the things.
        let answers: Set<EntityReference>
    }

    let scope: RedactionScope
    let search: TokenSearch
    /// Finds the texts that go in other forms as well. A short one may be part of any word there.
    let cover: TokenSearch
    let envelope: Envelope
    let payload: [UInt8]
    /// As it was before the event.
    let decoder: ChangeDecoder
    /// A decoder that has seen no event: it knows no earlier frame that this one repeats, and no earlier list of which this one
    /// states only what differs.
    let newDecoder: ChangeDecoder
    /// What the event states.
    let stated: DecodedEvent

    /// Where a text stands: the number of the payload's text that holds it, and the number of the place in that.
    private struct Place: Hashable {
        let text: Int
        let number: Int
    }

    /// Whose text stands in a place.
    private enum Owner { case redacted, other, unread }

    /// The payload without the texts.
    func result() -> Result {
        var texts: [Int: String] = [:]
        var places: [Place] = []
        _ = PayloadTexts.replaced(in: payload, kind: envelope.kind, scope.substitutes, search) { number, text in
            let count = scope.substitutes.count(in: text)
            if count > 0 { texts[number] = text }
            places += (0..<count).map { Place(text: number, number: $0) }
            return nil
        }
        // A repeat states nothing, but is about the same things.
        let newlyStated = decoded(payload, by: newDecoder)
        let statements = Self.statements(of: stated)
        let all = statements + Self.statements(of: newlyStated)
        let isNear = scope.things == nil || all.contains { scope.isOwn($0) || scope.isAnswer($0) }
        let answers = Set(all.filter(scope.isAnswer).compactMap(\.thing))
        var found = Attribution()
        attribute(places[...], by: decoder, stated, to: &found)
        attribute(places.filter { found.owners[$0] == nil }[...], by: newDecoder, newlyStated, to: &found)
        let goes = Set(
            places.filter { place in
                switch found.owners[place] {
                case .redacted: true
                case .unread:
                    scope.things == nil || scope.substitutes.isCopied(in: texts[place.text] ?? "", isNear: isNear)
                case .other, nil: false
                }
            }
        )
        var result = goes.isEmpty ? payload : marked(goes) { $1 }
        var count = goes.count
        // Forms that stand in no text: other encodings, and payloads that are no text at all.
        if scope.things == nil || goes.count == places.count && isNear, let rest = covered(result, statements) {
            (result, count) = (rest, count + 1)
        }
        // Of a thing, the proof shows whether it still states a text.
        let isHeld = scope.things == nil && places.contains { found.owners[$0] == nil }
        return Result(payload: result, count: count, isHeld: isHeld, others: found.others, answers: answers)
    }

    /// The payload with what stands in some places replaced.
    private func marked(_ places: Set<Place>, by text: (Place, _ substitute: String) -> String) -> [UInt8] {
        PayloadTexts.replaced(in: payload, kind: envelope.kind, scope.substitutes, search) { number, whole in
            scope.substitutes.replaced(in: whole) { place, substitute in
                let place = Place(text: number, number: place)
                return places.contains(place) ? text(place, substitute) : nil
            }
        }
    }

    /// A payload in which each other form of a text is written over, byte by byte; `nil` if there is none, or if it would state
    /// something else.
    private func covered(_ payload: [UInt8], _ statements: [Statement]) -> [UInt8]? {
        let found = payload.withUnsafeBytes { cover.places(in: $0) }
        guard !found.isEmpty else { return nil }
        var covered = payload
        // A zero is half of a character in UTF-16.
        for place in found { for index in place where covered[index] != 0 { covered[index] = UInt8(ascii: "x") } }
        return areAlike(statements, Self.statements(of: decoded(covered, by: decoder))) ? covered : nil
    }

    private func areAlike(_ old: [Statement], _ new: [Statement]) -> Bool {
        old.count == new.count && zip(old, new).allSatisfy { $0.isAlike($1, but: search) }
    }

    // MARK: - Whose texts

    /// What decoding marked payloads shows.
    private struct Attribution {
        /// A place without an owner is no text.
        var owners: [Place: Owner] = [:]
        /// The other things whose texts stand in places.
        var others: Set<EntityReference> = []
        /// How often the payload may still be decoded. A hostile one may have a short text in thousands of ids.
        var probesLeft = 1_000

        mutating func note(_ place: Place, in statement: Statement, goes: Bool) {
            // What gives two fields goes if one of them must.
            if goes {
                owners[place] = .redacted
            } else if owners[place] != .redacted {
                owners[place] = .other
                if let thing = statement.thing { others.insert(thing) }
            }
        }
    }

    /// Finds the owners of some places: of all at once, or, if a mark among them changes what is stated, of each half.
    private func attribute(
        _ places: ArraySlice<Place>,
        by decoder: ChangeDecoder,
        _ stated: DecodedEvent,
        to found: inout Attribution
    ) {
        if places.isEmpty || found.probesLeft == 0 { return }
        found.probesLeft -= 1
        let event = decoded(marked(Set(places)) { place, _ in Self.mark(place) }, by: decoder)
        let statements = Self.statements(of: event)
        guard event.issues == stated.issues, areAlike(Self.statements(of: stated), statements) else {
            if places.count == 1 { return }
            let middle = places.startIndex + places.count / 2
            attribute(places[..<middle], by: decoder, stated, to: &found)
            attribute(places[middle...], by: decoder, stated, to: &found)
            return
        }
        for place in places { found.owners[place] = .unread }
        for statement in statements {
            let goes = Set(scope.fields(of: statement).map(\.name))
            for field in statement.fields {
                for place in field.value.strings.flatMap(Self.marks) {
                    found.note(place, in: statement, goes: goes.contains(field.name))
                }
            }
        }
    }

    private func decoded(_ payload: [UInt8], by decoder: ChangeDecoder) -> DecodedEvent {
        var decoder = decoder
        return payload.withUnsafeBytes { decoder.decode(envelope, payload: $0) }
    }

    static func statements(of event: DecodedEvent) -> [Statement] {
        event.changes.flatMap { Statement.all(of: $0, source: event.envelope.source) }
    }

    private static func mark(_ place: Place) -> String { "redactedplace\(place.text)x\(place.number)end" }

    private static func marks(in text: String) -> [Place] {
        text.matches(of: /redactedplace([0-9]+)x([0-9]+)end/).compactMap { match in
            guard let text = Int(match.output.1), let number = Int(match.output.2) else { return nil }
            return Place(text: text, number: number)
        }
    }
}
