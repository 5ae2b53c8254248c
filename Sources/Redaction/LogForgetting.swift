public import EventLog
import JSON
import Projections

/// Forgets people: everything that they wrote is replaced for ever, and their names and ids give way to pseudonyms.
///
/// A redaction of everything that they wrote (`LogRedaction`): the rest folds as before with the ids renamed, which is proved before
/// anything takes effect. It ends with a certificate of what was searched afterwards.
///
/// ```swift
/// let forgetting = try LogForgetting(of: log, LogForgetting.Request(people: ["135653857714900992"], by: "ada"))
/// let result = try forgetting.run(now: now)
/// ```
public struct LogForgetting {
    /// Who is forgotten, and who asks for it.
    public struct Request: Sendable {
        /// Ids, or names that only one person has.
        public var people: [String]
        /// Only in this source; `nil` for all.
        public var source: SourceName?
        /// Who asks for it.
        public var by: String
        /// Why.
        public var why: String?

        /// Makes a request.
        public init(people: [String], source: SourceName? = nil, by: String, why: String? = nil) {
            (self.people, self.source, self.by, self.why) = (people, source, by, why)
        }
    }

    /// Nobody, or more than one person, is called so.
    public struct UnknownPerson: Error, Sendable {
        /// Who was asked for.
        public let wanted: String
        /// The ids of those who are called so, sorted; empty where nobody is.
        public let ids: [String]
        /// Everybody whom the log knows, by id, with a name.
        public let known: [String: String]
        /// The last act that forgot somebody, who may be the one that is asked for: no act tells whom. `nil` without one.
        public let act: Act?
    }

    /// An act that forgot people.
    public struct Act: Sendable {
        /// Where the log has it.
        public let sequence: SequenceNumber
        /// When it was recorded.
        public let recordedAt: Timestamp
        /// The pseudonyms of the people.
        public let pseudonyms: [String]
    }

    private let store: EventStore
    private let request: Request
    private let people: People

    /// Finds who is meant, and what they wrote: up to three passes over the log.
    ///
    /// - Throws: `UnknownPerson`; `EngineError` if the name or the reason of the act would keep what goes, and with code `no` for a
    ///   pseudonym; `EventLogError` if the log cannot be read.
    public init(of store: EventStore, _ request: Request) throws {
        (self.store, self.request) = (store, request)
        people = try store.read { try People(request, $0) }
        try RedactionRounds.check(people.scope, by: request.by, why: request.why)
    }

    /// Removes what a killed rewrite left beside the log, in which the originals may be. To be called before somebody is looked for:
    /// the log may have forgotten them before it was killed.
    ///
    /// - Throws: `EventLogError` with code `locked` while another rewrite runs.
    public static func removeLeftovers(of store: EventStore) throws { try store.removeLeftovers() }

    /// How many different texts, names and ids go.
    public var textCount: Int { people.scope.substitutes.texts.count }

    /// Forgets the people, or finds out what that would do.
    ///
    /// Cost: two folds of the log, whose states are in memory together, with the new payloads and all texts; about eight passes over
    /// its events, and a copy of it; as much disk as the log for a while. Appends wait only while the last events are copied.
    ///
    /// - Parameters:
    ///   - now: When the act is recorded.
    ///   - isDryRun: Whether to leave the log unchanged. The figures come from a real rewrite, which is thrown away.
    ///   - scratch: An empty folder for a dry run's rewrite; `nil` for the log's own folder, which must then be writable.
    ///   - report: Called before each step, with what it does.
    /// - Throws: `EngineError` with code `no` if something else would change; the log is unchanged then. `EventLogError`.
    public func run(
        now: Timestamp,
        isDryRun: Bool = false,
        scratch: String? = nil,
        _ report: @escaping (String) -> Void = { _ in }
    ) throws -> ForgettingResult {
        var people = people
        var rounds = RedactionRounds(store: store, scope: people.scope, by: request.by, why: request.why)
        rounds.forgotten = people.pseudonyms
        let done = try rounds.run(now: now, isDryRun: isDryRun, scratch: scratch, report) { scope, session in
            try people.renew(request, session)
            scope = people.scope
        }
        people.scope = rounds.scope
        report("searching what is left")
        var result = ForgettingResult(
            redaction: done,
            pseudonyms: people.pseudonyms,
            messageCount: people.messageCount,
            by: request.by,
            why: request.why,
            at: now
        )
        result.archives = ArchiveFile.paths(beside: store.path)
        if !isDryRun {
            result.scan = try ForgettingScan(store, people.scope.substitutes, done, archives: result.archives)
        }
        return result
    }
}

/// Who is forgotten, and what goes.
private struct People {
    var scope: RedactionScope
    /// The pseudonym of each of them, in the order in which they were named.
    let pseudonyms: [String]
    private(set) var messageCount: Int
    /// The numbers of the people, by id.
    private let numbers: [String: Int]
    private let wanted: Set<String>
    private var names: Pseudonyms

    init(_ request: LogForgetting.Request, _ session: borrowing ReadSession) throws {
        var search = PersonSearch(for: Set(request.people), of: request.source)
        try search.read(session)
        let acts = try Self.acts(in: session)
        let ids = try request.people.map { try Self.id(of: $0, search, acts) }
        wanted = Set(ids)
        if wanted != search.wanted {
            search = PersonSearch(for: wanted, of: request.source)
            try search.read(session)
        }
        var names = try Pseudonyms(after: session)
        var numbers: [String: Int] = [:]
        for id in ids where numbers[id] == nil { numbers[id] = names.person() }
        (self.names, self.numbers) = (names, numbers)
        var seen: Set<String> = []
        pseudonyms = ids.filter { seen.insert($0).inserted }.map { Pseudonyms.id($0, of: numbers[$0] ?? 0) }
        messageCount = search.messages.count
        scope = RedactionScope(
            things: search.messages,
            columns: [],
            substitutes: TextSubstitutes(),
            people: ForgottenPeople(ids: search.ids, shared: search.shared)
        )
        scope = try added(search, session)
    }

    /// The id that a text means: it is one, or the name of one person.
    private static func id(of wanted: String, _ search: PersonSearch, _ acts: [LogForgetting.Act]) throws -> String {
        let isID = search.ids.values.contains { $0.contains(wanted) }
        let called = isID ? [wanted] : search.called[wanted] ?? []
        guard called.count == 1, let id = called.first else {
            throw LogForgetting.UnknownPerson(
                wanted: wanted,
                ids: called.sorted(),
                known: search.known,
                act: acts.last
            )
        }
        if let act = acts.first(where: { $0.pseudonyms.contains(id) }) {
            throw EngineError(
                "forget: \"\(wanted)\" is the pseudonym of somebody whom act \(act.sequence) has forgotten",
                code: .no
            )
        }
        return id
    }

    /// The acts that forgot people, in the order of the log.
    private static func acts(in session: borrowing ReadSession) throws -> [LogForgetting.Act] {
        guard session.head > .zero else { return [] }
        var acts: [LogForgetting.Act] = []
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            guard event.kind == Redactions.actKind else { return true }
            let forgotten = event.withPayload { try? JSONValue.parse($0)["forgotten"]?.array }
            let pseudonyms = (forgotten ?? [])?.compactMap(\.string) ?? []
            if !pseudonyms.isEmpty {
                acts.append(
                    LogForgetting.Act(
                        sequence: event.sequence,
                        recordedAt: event.recordedAt,
                        pseudonyms: pseudonyms
                    )
                )
            }
            return true
        }
        return acts
    }

    /// Adds what came since: texts and names. The pseudonyms stay.
    mutating func renew(_ request: LogForgetting.Request, _ session: borrowing ReadSession) throws {
        var search = PersonSearch(for: wanted, of: request.source)
        try search.read(session)
        scope = try added(search, session)
    }

    /// The scope with what a search has found.
    private mutating func added(_ search: PersonSearch, _ session: borrowing ReadSession) throws -> RedactionScope {
        var substitutes = scope.substitutes
        for (id, number) in numbers.sorted(by: { $0.key < $1.key }) {
            let isLong = ForgottenPeople.isTelling(id)
            substitutes.add(
                id,
                as: Pseudonyms.isNumber(id) ? .number(isLong: isLong) : .name,
                substitute: Pseudonyms.id(id, of: number)
            )
        }
        let first = numbers.values.min() ?? 1
        for name in search.names where substitutes.index(of: name) == nil {
            let pseudonym = names.name(
                of: search.owner[name].flatMap { numbers[$0] } ?? first,
                besides: Set(pseudonyms)
            )
            substitutes.add(name, as: .name, substitute: pseudonym)
        }
        for text in search.texts { substitutes.add(text, as: .written) }
        substitutes.number(besides: try StatedTexts.givenNumbers(in: session))
        messageCount = max(messageCount, search.messages.count)
        return RedactionScope(
            things: search.messages.union(scope.things ?? []),
            columns: [],
            substitutes: substitutes,
            people: ForgottenPeople(
                ids: (scope.people?.ids ?? [:]).merging(search.ids) { $0.union($1) },
                shared: search.shared
            )
        )
    }
}

/// The result of forgetting, or of a dry run of it.
public struct ForgettingResult: Sendable {
    /// The redaction: its acts, the events whose payloads were replaced, and what stays.
    public let redaction: RedactionResult
    /// The pseudonym of each person, in the order of the request.
    public let pseudonyms: [String]
    /// How many messages they wrote, deleted ones included.
    public let messageCount: Int
    /// Who asked for it.
    public let by: String
    /// Why.
    public let why: String?
    /// When.
    public let at: Timestamp
    /// The archives beside the log.
    public internal(set) var archives: [String] = []
    /// The search after the switch; `nil` after a dry run.
    public internal(set) var scan: ForgettingScan?

    /// The places that no rewrite can change: an id, a name or a text in an envelope.
    public var heldParts: [RedactionScan.Hit] { redaction.heldParts }
    /// Whether facts of a compaction keep an id or a name.
    public var areFactsHeld: Bool { redaction.areFactsHeld }
    /// How many events hold others' texts with the same texts or names, which stay.
    public var otherEventCount: Int { redaction.otherEvents.count }

    /// Whether nothing of the people is left in the log and in the archives beside it; false before a scan.
    public var isComplete: Bool {
        guard let scan else { return false }
        return scan.hits.isEmpty && scan.fileHitCount == 0 && scan.archiveHitCount == 0 && redaction.held.isEmpty
            && heldParts.isEmpty && !areFactsHeld
    }
}
