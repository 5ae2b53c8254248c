import EventLog
import JSON
import Kinds
import Projections

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
        /// True if a text that was to go everywhere, or an id or a name, stays because it is part of an id or a word of the
        /// protocol.
        var isHeld = false
        /// The other things whose texts stay, though they are the same.
        var others: Set<EntityReference> = []
        /// The numbers of the texts, ids and names that stay in others' texts.
        var otherTexts: Set<Int> = []
        /// The messages that answer one of the things.
        var answers: Set<EntityReference> = []
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
    /// As `decoder`, of a log in which the people have their pseudonyms.
    let renamed: ChangeDecoder

    /// Whose text stands in a place.
    private enum Owner { case redacted, other, unread }

    /// The payload without the texts.
    func result() -> Result {
        // A repeat states nothing, but is about the same things.
        let newlyStated = decoded(payload, by: newDecoder)
        let statements = Self.statements(of: stated)
        let all = statements + Self.statements(of: newlyStated)
        let marks = marks(all)
        let places = marks.places
        let isNear = all.contains { scope.isNear($0, of: envelope.source) }
        let answers = Set(all.filter(scope.isAnswer).compactMap(\.thing))
        var found = attribution(places, marks, newlyStated)
        rename(places, marks, to: &found)
        let goes = Set(
            places.filter { place in
                switch found.owners[place] {
                case .redacted: true
                case .unread: isUnreadGoing(marks, place, isNear: isNear)
                case .other, nil: false
                }
            }
        )
        var result = goes.isEmpty ? payload : marked(goes, marks) { $1 }
        var count = goes.count
        // Forms that stand in no text: other encodings, and payloads that are no text at all.
        if scope.things == nil || goes.count == places.count && (isNear || scope.people != nil),
            let rest = covered(result)
        {
            (result, count) = (rest, count + 1)
        }
        let others = places.filter { found.owners[$0] == .other }.compactMap { marks[$0]?.match.text }
        return Result(
            payload: result,
            count: count,
            isHeld: places.contains { found.owners[$0] == nil && isHeld(marks, $0) },
            others: found.others,
            otherTexts: Set(others),
            answers: answers
        )
    }

    /// Finds whose the texts are that stand in some places.
    private func attribution(
        _ places: [PlaceMarks.Place],
        _ marks: PlaceMarks,
        _ newlyStated: DecodedEvent
    ) -> Attribution {
        var found = Attribution()
        // Where both decoders read the same, the one that has seen nothing costs less to copy. A repeat with marks is none.
        let isSame = stated.issues == newlyStated.issues && stated.all == newlyStated.all
        let isRepeat = stated.all.isEmpty && stated.issues.isEmpty
        if scope.people != nil, isSame || isRepeat {
            attribute(places[...], marks, by: newDecoder, newlyStated, to: &found)
            return found
        }
        attribute(places[...], marks, by: decoder, stated, to: &found)
        let open = places.filter { found.owners[$0] == nil }
        attribute(open[...], marks, by: newDecoder, newlyStated, to: &found)
        // What the one reads as an id, such as the path of a file that is gone, the other may not read at all.
        if scope.people != nil { for place in open where found.owners[place] == .unread { found.owners[place] = nil } }
        return found
    }

    /// The places that may have to go.
    private func marks(_ statements: [Statement]) -> PlaceMarks {
        func marks(loose: Set<Int>) -> PlaceMarks {
            PlaceMarks(in: payload, envelope.kind, scope.substitutes, search, loose: loose)
        }
        let found = marks(loose: [])
        guard scope.people != nil else { return found }
        // A short text or id that is only a part of what the payload has is looked for in the events that state it.
        let texts = statements.filter(scope.isOwn).flatMap { scope.fields(of: $0) }.flatMap(\.value.strings)
        let ids = statements.flatMap(\.people).filter {
            scope.people?.ids[envelope.source.rawValue]?.contains($0) == true
        }
        let loose = Set((texts + ids).compactMap { scope.substitutes.index(of: $0) })
            .subtracting(found.places.compactMap { found[$0]?.match.text })
        return loose.isEmpty ? found : marks(loose: loose)
    }

    /// Finds the ids that are people's only together: who may edit or take back a message is compared with who wrote it, so a mark
    /// alone changes what is stated. With the pseudonym, after a log in which everything before has it, nothing else may change.
    private func rename(_ places: [PlaceMarks.Place], _ marks: PlaceMarks, to found: inout Attribution) {
        guard let people = scope.people, let ids = people.ids[envelope.source.rawValue] else { return }
        let open = places.filter { place in
            guard found.owners[place] == nil, let match = marks[place] else { return false }
            return match.match.isWhole && ids.contains(match.original)
        }
        guard !open.isEmpty else { return }
        let names = Dictionary(
            uniqueKeysWithValues: ids.compactMap { id in
                scope.substitutes.index(of: id).map { (scope.substitutes.substitute(of: $0), id) }
            }
        )
        let known = Set(places.filter { found.owners[$0] == .redacted }).union(open)
        let event = decoded(marked(known, marks) { $1 }, by: renamed)
        let (old, new) = (Self.statements(of: stated), Self.statements(of: event))
        guard event.issues == stated.issues, old.count == new.count else { return }
        let isAlike = zip(old, new).allSatisfy { old, new in
            var new = new
            new.people = new.people.map { names[$0] ?? $0 }
            if let row = new.thing, row.kind == .row {
                new.thing = EntityReference(kind: .row, parts: row.parts.map { names[$0] ?? $0 })
            }
            return old.isAlike(new, but: search)
        }
        if isAlike { for place in open { found.owners[place] = .redacted } }
    }

    /// Whether a match goes that no decoder reads.
    private func isUnreadGoing(_ marks: PlaceMarks, _ place: PlaceMarks.Place, isNear: Bool) -> Bool {
        guard let found = marks[place], scope.things != nil else { return true }
        switch found.match.role {
        case .text, .written: return scope.substitutes.isCopied(in: found.whole, isNear: isNear)
        case .number(let isLong): return isLong || found.match.isMention
        case .name: return isNear || found.match.isMention || found.match.range.count >= TextForms.longBytes
        }
    }

    /// Whether a match that cannot go must be told. Of a thing, the proof shows whether it still states a text; a short id that
    /// is all of another thing's id is no person.
    private func isHeld(_ marks: PlaceMarks, _ place: PlaceMarks.Place) -> Bool {
        guard scope.things != nil else { return true }
        guard scope.people != nil, let match = marks[place]?.match, match.role.isOfPerson else { return false }
        return match.role == .number(isLong: true) || match.role == .name && !match.isWhole
            || match.range.count >= TextForms.longBytes
    }

    /// The payload with what stands in some places replaced.
    private func marked(
        _ places: Set<PlaceMarks.Place>,
        _ marks: PlaceMarks,
        by text: (PlaceMarks.Place, _ substitute: String) -> String?
    ) -> [UInt8] {
        PayloadTexts.replaced(in: payload, kind: envelope.kind, scope.substitutes, search) { number, whole in
            scope.substitutes.replaced(in: whole, loose: marks.loose) { place, _, substitute in
                let place = PlaceMarks.Place(text: number, number: place)
                return places.contains(place) ? text(place, substitute) : nil
            }
        }
    }

    /// A payload in which each other form of a text is written over, byte by byte; `nil` if there is none, or if it would state
    /// something else.
    private func covered(_ payload: [UInt8]) -> [UInt8]? {
        let found = payload.withUnsafeBytes { cover.places(in: $0) }
        guard !found.isEmpty else { return nil }
        var covered = payload
        // A zero is half of a character in UTF-16.
        for place in found { for index in place where covered[index] != 0 { covered[index] = UInt8(ascii: "x") } }
        let (old, new) = (decoded(payload, by: decoder), decoded(covered, by: decoder))
        return areAlike(Self.statements(of: old), Self.statements(of: new), nil) ? covered : nil
    }

    /// Whether two lists of statements say the same, but for the values of fields, and for marks of people.
    private func areAlike(_ old: [Statement], _ new: [Statement], _ marks: PlaceMarks?) -> Bool {
        old.count == new.count
            && zip(old, new).allSatisfy { old, new in
                let new = scope.people == nil ? new : marks.map { $0.unmarked(new) } ?? new
                return old.isAlike(new, but: search)
            }
    }

    // MARK: - Whose texts

    /// What decoding marked payloads shows.
    private struct Attribution {
        /// A place without an owner is no text.
        var owners: [PlaceMarks.Place: Owner] = [:]
        /// The other things whose texts stand in places.
        var others: Set<EntityReference> = []
        /// How often the payload may still be decoded. A hostile one may have a short text in thousands of ids.
        var probesLeft = 1_000

        mutating func note(_ place: PlaceMarks.Place, in statement: Statement, goes: Bool) {
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
        _ places: ArraySlice<PlaceMarks.Place>,
        _ marks: PlaceMarks,
        by decoder: ChangeDecoder,
        _ stated: DecodedEvent,
        to found: inout Attribution
    ) {
        if places.isEmpty || found.probesLeft == 0 { return }
        found.probesLeft -= 1
        let event = decoded(marked(Set(places), marks) { place, _ in marks.mark(place) }, by: decoder)
        let statements = Self.statements(of: event)
        guard event.issues == stated.issues, areAlike(Self.statements(of: stated), statements, marks) else {
            if places.count == 1 { return }
            let middle = places.startIndex + places.count / 2
            attribute(places[..<middle], marks, by: decoder, stated, to: &found)
            attribute(places[middle...], marks, by: decoder, stated, to: &found)
            return
        }
        for place in places { found.owners[place] = .unread }
        for statement in statements { note(statement, marks, to: &found) }
    }

    /// Notes whose the marks are that came out in a statement.
    private func note(_ statement: Statement, _ marks: PlaceMarks, to found: inout Attribution) {
        let original = scope.people == nil ? statement : marks.unmarked(statement)
        for (text, before) in zip(statement.people, original.people) {
            for place in marks.places(in: text) {
                let goes = marks[place]?.original == before && isPerson(before, in: original)
                found.note(place, in: original, goes: goes)
            }
        }
        let goes = Set(scope.fields(of: original).map(\.name))
        for (field, before) in zip(statement.fields, original.fields) {
            for place in field.value.strings.flatMap(marks.places(in:)) {
                guard let match = marks[place]?.match else { continue }
                let isGoing = goes.contains(field.name)
                found.note(
                    place,
                    in: original,
                    goes: scope.goes(match, in: before, of: original, envelope.source, isGoing: isGoing)
                )
            }
        }
    }

    /// Whether an id that a statement names is that of one of the people.
    private func isPerson(_ id: String, in statement: Statement) -> Bool {
        guard scope.people?.ids[envelope.source.rawValue]?.contains(id) == true else { return false }
        return statement.thing?.kind != .row || ForgottenPeople.isTelling(id)
    }

    private func decoded(_ payload: [UInt8], by decoder: ChangeDecoder) -> DecodedEvent {
        var decoder = decoder
        return payload.withUnsafeBytes { decoder.decode(envelope, payload: $0) }
    }

    static func statements(of event: DecodedEvent) -> [Statement] {
        event.all.flatMap { Statement.all(of: $0, source: event.envelope.source) }
    }
}
