import EventLog

/// What events with ids of their own did, so that it can be taken back, and what waits for the message that it names.
///
/// Such an event counts once. What was taken back before it came never counts.
struct DecoderRelations: Codable, Sendable {
    /// What an event did.
    enum Deed: Codable, Sendable {
        case message(MessageKey, author: EntityID?)
        case edit(MessageKey, version: Timestamp)
        case reaction(MessageKey, emoji: String, user: EntityID)
        /// Taken back: nothing any more.
        case nothing
        /// Taken back before it came.
        case refused
    }

    private struct Told: Codable, Sendable {
        let deed: Deed
        let sequence: UInt64
    }

    private struct Entry: Codable, Sendable {
        var deed: Deed
        /// The last event that decided the deed.
        let sequence: UInt64
        /// The event with the id, if a later one took it back.
        var first: UInt64?
        /// Whether it waited for its message, whose event then carried it out.
        var hasWaited = false
        /// What a compaction's facts told of the event, which is no longer in the log, if a later event took it back.
        var told: Told?
        /// Whether facts alone tell of it.
        var isTold = false
    }

    /// An edit or a reaction whose message is not known yet.
    enum Waiting: Codable, Sendable {
        case edit(MessageWrite, author: EntityID?)
        case reaction(MessageKey, emoji: String, user: EntityID)
    }

    /// A reaction, whatever event put it on its message.
    private struct Reaction: Hashable {
        let key: MessageKey
        let emoji: ExactText
        let user: EntityID

        init?(_ deed: Deed?) {
            guard case .reaction(let key, let emoji, let user)? = deed else { return nil }
            (self.key, self.emoji, self.user) = (key, ExactText(emoji), user)
        }
    }

    private struct WaitingEntry: Codable, Sendable {
        let id: EntityID
        let waiting: Waiting
        let sequence: UInt64
    }

    private var entries: [EntityID: Entry] = [:]
    private var waiting: [EntityID: [WaitingEntry]] = [:]
    /// How many events say each reaction: it goes with the last of them that is taken back. Follows from `entries`, so it is not
    /// saved.
    private var reactionCounts: [Reaction: Int] = [:]

    private enum CodingKeys: CodingKey { case entries, waiting }

    init() {}

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        entries = try members.decode([EntityID: Entry].self, forKey: .entries)
        waiting = try members.decode([EntityID: [WaitingEntry]].self, forKey: .waiting)
        for entry in entries.values { count(entry.deed, by: 1) }
    }

    private mutating func count(_ deed: Deed?, by change: Int) {
        guard let reaction = Reaction(deed) else { return }
        let count = (reactionCounts[reaction] ?? 0) + change
        reactionCounts[reaction] = count > 0 ? count : nil
    }

    /// Whether an event that was not taken back says a reaction.
    func isSaid(_ key: MessageKey, emoji: String, user: EntityID) -> Bool {
        Reaction(.reaction(key, emoji: emoji, user: user)).map { reactionCounts[$0] != nil } ?? false
    }

    private mutating func set(_ entry: Entry, of id: EntityID) {
        count(entries[id]?.deed, by: -1)
        count(entry.deed, by: 1)
        entries[id] = entry
    }

    /// Whether an event with the id counts no more: it was seen, or taken back.
    func knows(_ id: EntityID) -> Bool { entries[id] != nil }

    /// Whether an event with the id came.
    func hasSeen(_ id: EntityID) -> Bool {
        switch entries[id]?.deed {
        case nil, .refused?: false
        case .message?, .edit?, .reaction?, .nothing?: true
        }
    }

    /// What the event with an id did; `nil` if it is not known.
    func deed(of id: EntityID) -> Deed? { entries[id]?.deed }

    mutating func note(_ deed: Deed, by id: EntityID, at sequence: UInt64) {
        set(Entry(deed: deed, sequence: sequence), of: id)
    }

    /// Notes that an event came before the message that it names, if a compaction's facts tell of a later event that stated
    /// it. It waited when all events were there, so that every compaction keeps it alike.
    mutating func noteOrder(of id: EntityID, at sequence: UInt64, before message: EntityID) {
        guard let entry = entries[message], entry.isTold, entry.sequence > sequence else { return }
        entries[id]?.hasWaited = true
    }

    /// Keeps an edit or a reaction until its message comes.
    mutating func wait(_ waiting: Waiting, by id: EntityID, for message: EntityID, at sequence: UInt64) {
        self.waiting[message, default: []].append(WaitingEntry(id: id, waiting: waiting, sequence: sequence))
        entries[id]?.hasWaited = true
    }

    /// Gives what waits for a message, in the order in which it came, but for what was taken back.
    mutating func takeWaiting(for message: EntityID) -> [Waiting] {
        let list = waiting.removeValue(forKey: message) ?? []
        Steps.count(list.count)
        return list.filter { if case .nothing? = entries[$0.id]?.deed { false } else { true } }.map(\.waiting)
    }

    /// Takes back what the event with an id did, and gives it; `nil` if it is not known, and then it never will count. Once
    /// it is taken back nothing changes: the event that did so is the one that a compaction must keep.
    mutating func retract(_ id: EntityID, at sequence: UInt64) -> Deed? {
        let known = entries[id]
        switch known?.deed {
        case .nothing?, .refused?: return known?.deed
        case .message?, .edit?, .reaction?, nil: break
        }
        let first = hasSeen(id) ? known?.first ?? known?.sequence : nil
        let entry = Entry(
            deed: hasSeen(id) ? .nothing : .refused,
            sequence: sequence,
            first: first,
            hasWaited: known?.hasWaited ?? false,
            told: known?.told ?? known.flatMap { $0.isTold ? Told(deed: $0.deed, sequence: $0.sequence) : nil }
        )
        set(entry, of: id)
        return known?.deed
    }

    // MARK: - Compactions

    /// What waits, by the message that it waits for, for normal forms: the ids of the events in order.
    func waitingForm(_ names: Names) -> JSONValue {
        let lists = waiting.filter { !$0.value.isEmpty }.map { (names.text($0.key), $0.value) }
            .sorted { ExactText.precedes($0.0, $1.0) }
        return .array(
            lists.map { message, list in .array([.string(message), .array(list.map { .string(names.text($0.id)) })]) }
        )
    }

    /// The events that wait, and those that were taken back with those that took them back: what they did and undid is told
    /// in histories. What the others did is kept as facts.
    func collectNeeded(into sequences: inout SequenceSet) {
        for entry in entries.values {
            if entry.hasWaited { sequences.insert(entry.sequence) }
            guard case .nothing = entry.deed, !entry.isTold else { continue }
            sequences.insert(entry.sequence)
            if entry.told == nil, let first = entry.first { sequences.insert(first) }
        }
        for list in waiting.values { for entry in list { sequences.insert(entry.sequence) } }
    }

    /// One fact for each event that is not kept, or for each, by its id.
    func facts(keeping kept: SequenceSet, names: Names, all: Bool) -> [JSONValue] {
        let entries = entries.filter { all || $0.value.told != nil || !kept.contains($0.value.sequence) }
            .map { (id: names.text($0.key), entry: $0.value) }.sorted { ExactText.precedes($0.id, $1.id) }
        return entries.map { id, entry in
            var fact: [JSONValue] = [.string(id)]
            // What took it back is kept, and does so again.
            let (deed, sequence) =
                all ? (entry.deed, 0) : (entry.told?.deed ?? entry.deed, entry.told?.sequence ?? entry.sequence)
            if !all { fact.append(.string(String(sequence))) }
            switch deed {
            case .message(let key, let author):
                fact += [.string("message"), .string(names.text(key.channel)), .string(names.text(key.id))]
                if let author { fact.append(.string(names.text(author))) }
            case .edit(let key, let version):
                fact += [
                    .string("edit"), .string(names.text(key.channel)), .string(names.text(key.id)), version.normalForm,
                ]
            case .reaction(let key, let emoji, let user):
                fact += [
                    .string("reaction"), .string(names.text(key.channel)), .string(names.text(key.id)), .string(emoji),
                    .string(names.text(user)),
                ]
            case .nothing: fact.append(.string("nothing"))
            case .refused: fact.append(.string("refused"))
            }
            return .array(fact)
        }
    }

    mutating func load(facts: JSONValue?, names: inout Names) throws {
        for fact in facts?.array ?? [] {
            let parts = fact.array ?? []
            let texts = parts.map { $0.string }
            guard parts.count >= 3, let id = texts[0], let sequence = texts[1].flatMap({ UInt64($0) }),
                let word = texts[2]
            else {
                throw ProjectionError.facts("a relation has another form")
            }
            let key =
                parts.count >= 5 ? MessageKey(channel: names.id(texts[3] ?? ""), id: names.id(texts[4] ?? "")) : nil
            let deed: Deed
            switch (word, key, parts.count) {
            case ("nothing", _, _): deed = .nothing
            case ("refused", _, _): deed = .refused
            case ("message", let key?, _):
                deed = .message(key, author: parts.count > 5 ? names.id(texts[5] ?? "") : nil)
            case ("edit", let key?, 6...):
                guard let version = Timestamp(normalForm: parts[5]) else {
                    throw ProjectionError.facts("an edit has no version")
                }
                deed = .edit(key, version: version)
            case ("reaction", let key?, 7...):
                deed = .reaction(key, emoji: texts[5] ?? "", user: names.id(texts[6] ?? ""))
            default: throw ProjectionError.facts("a relation has another form")
            }
            set(Entry(deed: deed, sequence: sequence, isTold: true), of: names.id(id))
        }
    }
}
