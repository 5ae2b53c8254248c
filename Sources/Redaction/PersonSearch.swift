import EventLog
import JSON
import Projections

/// Finds what a log states of the people who are forgotten: one pass over its events, and another one if an event names no author
/// of a message that later turns out to be theirs.
struct PersonSearch {
    /// Who is looked for.
    let wanted: Set<String>
    /// Only in this source; `nil` for all.
    let source: SourceName?

    /// The wanted texts that are ids, by source.
    private(set) var ids: [String: Set<String>] = [:]
    /// The ids of those who are called so, by the wanted name.
    private(set) var called: [String: Set<String>] = [:]
    /// The names of each person by id, for those who ask for somebody whom nobody knows.
    private(set) var known: [String: String] = [:]
    /// All messages that they wrote, under all names.
    private(set) var messages: Set<EntityReference> = []
    /// What they wrote, in the order of the log.
    private(set) var texts: [String] = []
    /// What they are called, in the order of the log.
    private(set) var names: [String] = []
    /// The id of whoever is called so.
    private(set) var owner: [String: String] = [:]
    /// The ids that other things have as well.
    private(set) var shared: Set<String> = []
    private var knownTexts: Set<ExactText> = []
    private var knownNames: Set<ExactText> = []
    /// Messages that an event stated without saying that one of them wrote it.
    private var unclear: Set<EntityReference> = []
    /// Messages of which a statement says who wrote them.
    private var stated: Set<EntityReference> = []
    /// Messages that only the event of a deletion says that one of them wrote.
    private var told: Set<EntityReference> = []

    /// - Parameter wanted: ids and names. Texts that differ in the composition of an accent alone are one.
    init(for wanted: Set<String>, of source: SourceName?) {
        (self.wanted, self.source) = (wanted, source)
    }

    /// Reads the log.
    ///
    /// - Throws: `EventLogError`, `ProjectionError`.
    mutating func read(_ session: borrowing ReadSession) throws {
        try pass(session)
        // Beside what a deletion names may be who deleted the message; who wrote it is what statements say, if there are any.
        let unstated = told.subtracting(stated)
        messages.formUnion(unstated)
        unclear.formUnion(unstated)
        while !unclear.isDisjoint(with: messages) {
            unclear = []
            try pass(session)
        }
    }

    private mutating func pass(_ session: borrowing ReadSession) throws {
        guard session.head > .zero else { return }
        var decoder = try ChangeDecoder(for: session)
        let newDecoder = try ChangeDecoder(withoutFactsOf: session)
        // Of a compacted log the frame may be gone that another one repeats.
        let repeats = session.decidedAt > .zero
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            guard !event.isAct, source.map({ $0 == event.source }) ?? true else { return true }
            let envelope = event.envelope
            event.withPayload { payload in
                var decoded = decoder.decode(envelope, payload: payload)
                if repeats, decoded.all.isEmpty {
                    var decoder = newDecoder
                    decoded = decoder.decode(envelope, payload: payload)
                }
                var isTheirs = false
                for change in decoded.changes where take(change, decoded) { isTheirs = true }
                for change in decoded.told where take(change, decoded, isTold: true) { isTheirs = true }
                if isTheirs { takeObjects(payload, envelope.source) }
            }
            return true
        }
    }

    /// Takes what a change states. Returns whether it names one of the people.
    ///
    /// - Parameter isTold: whether it is what a deletion states beside.
    private mutating func take(_ change: DecodedChange, _ event: DecodedEvent, isTold: Bool = false) -> Bool {
        let source = event.envelope.source
        if case .messageMoved(let from, let to, _, _) = change {
            let both = [from, to].map { EntityReference(kind: .message, parts: [source.rawValue, $0.channel, $0.id]) }
            if both.contains(where: messages.contains) { messages.formUnion(both) }
        }
        var isTheirs = false
        for statement in Statement.all(of: change, source: source) {
            note(statement)
            if takePeople(of: statement, source) { isTheirs = true }
            guard let thing = statement.thing, thing.kind == .message else { continue }
            let author = statement.author
            let isOwn = author.map { wanted.contains($0) } ?? false
            if !isTold, author != nil { stated.insert(thing) }
            if isTold {
                if isOwn { told.insert(thing) }
            } else if isOwn {
                messages.insert(thing)
            } else if author == nil, !messages.contains(thing) {
                unclear.insert(thing)
            }
            guard isOwn && !isTold || messages.contains(thing) else { continue }
            for text in statement.texts([]).flatMap(\.value.strings).flatMap(event.pieces)
            where knownTexts.insert(ExactText(text)).inserted {
                texts.append(text)
            }
            if isOwn, let name = statement.fields.first(where: { $0.name == "authorName" })?.value.string {
                add(name: name, of: author)
            }
        }
        return isTheirs
    }

    /// Notes ids that are those of other things, and who is called what.
    private mutating func note(_ statement: Statement) {
        if let thing = statement.thing, thing.kind != .row {
            for part in thing.parts.dropFirst() where wanted.contains(part) { shared.insert(part) }
        }
        let name = statement.fields.first { $0.name == "authorName" || $0.name == "nickname" }?.value.string
        guard let id = statement.thing?.kind == .message ? statement.author : statement.people.first else { return }
        if statement.thing?.kind == .row { return }
        if known[id] == nil { known[id] = name ?? id }
        if let name, name != id, wanted.contains(name) { called[name, default: []].insert(id) }
    }

    /// Takes the people of a statement. Returns whether one of the wanted is among them.
    private mutating func takePeople(of statement: Statement, _ source: SourceName) -> Bool {
        let isRow = statement.thing?.kind == .row
        var isTheirs = false
        for id in statement.people + [statement.author].compactMap({ $0 })
        where wanted.contains(id) && (!isRow || ForgottenPeople.isTelling(id)) {
            ids[source.rawValue, default: []].insert(id)
            isTheirs = true
        }
        if isRow, !isTheirs {
            let values = statement.fields.compactMap { $0.value.string ?? $0.value.number?.text }
            isTheirs = values.contains { wanted.contains($0) && ForgottenPeople.isTelling($0) }
            if isTheirs {
                for value in values where wanted.contains(value) { ids[source.rawValue, default: []].insert(value) }
            }
        }
        if isTheirs, statement.thing == nil,
            let name = statement.fields.first(where: { $0.name == "nickname" })?.value.string
        {
            add(name: name, of: statement.people.first)
        }
        return isTheirs
    }

    private mutating func add(name: String, of id: String?) {
        guard !name.isEmpty, !wanted.contains(name), knownNames.insert(ExactText(name)).inserted else { return }
        names.append(name)
        owner[name] = id
    }

    // MARK: - Names that no decoder reads

    /// Members of an object with a person's id that are the person's names. `name` counts only beside `id`: an object with a
    /// `user_id` may be anything of the person's.
    private static let nameMembers: Set = [
        "username", "user_name", "userName", "display_name", "displayName", "displayname", "global_name",
        "globalName", "nick", "nickname", "full_name", "fullName", "first_name", "firstName", "last_name", "lastName",
        "real_name", "realName", "login", "handle", "email",
    ]
    private static let (ownMembers, idMembers): (Set<String>, Set<String>) = (
        ["id", "_id", "uid"], ["id", "_id", "uid", "user_id", "userId"]
    )

    /// Takes the names from objects whose id is one of the people's, such as the author of a frame. Only where the id hardly is
    /// another thing's.
    private mutating func takeObjects(_ payload: UnsafeRawBufferPointer, _ source: SourceName) {
        guard let own = ids[source.rawValue]?.filter(ForgottenPeople.isTelling), !own.isEmpty,
            let value = try? JSONValue.parse(payload)
        else { return }
        takeObjects(value, own)
    }

    private mutating func takeObjects(_ value: JSONValue, _ own: Set<String>) {
        switch value {
        case .array(let elements): for element in elements { takeObjects(element, own) }
        case .object(let object):
            func id(_ names: Set<String>) -> String? {
                object.members.lazy.filter { names.contains($0.name) }
                    .compactMap { $0.value.string ?? $0.value.number?.text }.first(where: own.contains)
            }
            let (theirs, person) = (id(Self.idMembers), id(Self.ownMembers))
            for member in object.members {
                let isName =
                    theirs != nil && Self.nameMembers.contains(member.name) || person != nil && member.name == "name"
                if isName, let name = member.value.string { add(name: name, of: theirs) }
                takeObjects(member.value, own)
            }
        case .string, .number, .bool, .null: break
        }
    }
}
