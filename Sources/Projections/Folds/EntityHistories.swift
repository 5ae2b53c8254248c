import EventLog

/// An entry as a fold keeps it, which may be smaller than the entry that it gives.
protocol KeptHistoryEntry: Sendable {
    /// The saved form of an entry. It may hold only the differences from the entry before.
    associatedtype Saved: Codable = Self

    var sequence: SequenceNumber { get }
    /// The entry with all that is known of the entity after it.
    var entry: HistoryEntry { get }

    /// The entries at some places of a history, all of them in it. An entry may tell only what differs from the one before.
    static func entries(of history: [Self], in places: Range<Int>) -> [HistoryEntry]

    /// The saved form of a history, the oldest entry first.
    static func saved(_ history: [Self]) -> [Saved]
    static func history(of saved: [Saved]) -> [Self]
    /// The forms of a whole history: equal exactly if its entries are.
    static func normalForms(of history: [Self]) -> [JSONValue]
}

extension KeptHistoryEntry {
    static func entries(of history: [Self], in places: Range<Int>) -> [HistoryEntry] {
        history[places].map(\.entry)
    }

    static func normalForms(of history: [Self]) -> [JSONValue] { history.map { $0.entry.normalForm(fields: nil) } }
}

extension KeptHistoryEntry where Saved == Self {
    static func saved(_ history: [Self]) -> [Self] { history }
    static func history(of saved: [Self]) -> [Self] { saved }
}

extension HistoryEntry: KeptHistoryEntry {
    var entry: HistoryEntry { self }
}

/// The histories of one fold's entities, each oldest first.
///
/// An entity that is gone keeps its history, so its key stays known for ever.
struct EntityHistories<Kept: KeptHistoryEntry>: Sendable {
    private var entries: [EntityKey: [Kept]] = [:]

    init() {}

    /// The history of one entity; `nil` if it was never known.
    subscript(key: EntityKey) -> [HistoryEntry]? { entries[key].map { Kept.entries(of: $0, in: $0.indices) } }

    /// The entries at some places of an entity's history; places beyond its ends are left out.
    func entries(of key: EntityKey, in places: Range<Int>) -> ArraySlice<HistoryEntry> {
        guard let kept = entries[key] else { return [] }
        let places = places.clamped(to: kept.indices)
        Steps.count(places.count)
        return Kept.entries(of: kept, in: places)[...]
    }

    /// The entries of an entity as they are kept, oldest first; none if it was never known.
    func kept(of key: EntityKey) -> [Kept] { entries[key] ?? [] }

    /// The keys of all entities of a section that were ever known, by their ids.
    func keys(in section: Section, names: Names) -> [EntityKey] {
        entries.keys.filter { $0.section == section }.sorted { names.precedes($0, $1) }
    }

    /// True if no entity was ever known.
    var isEmpty: Bool { entries.isEmpty }

    /// Appends an entry to an entity's history.
    mutating func add(_ entry: consuming Kept, to key: EntityKey) {
        entries[key, default: []].append(entry)
    }

    /// Adds the sequences of all entries: histories have no facts, so replaying the kept events must give them again.
    func collectNeeded(into sequences: inout SequenceSet) {
        for history in entries.values {
            for entry in history { sequences.insert(entry.sequence.rawValue) }
        }
    }

    /// Gives one object for each entity, in the order of the ids.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        for key in entries.keys.sorted(by: { names.precedes($0, $1) }) {
            take(
                .object([
                    "section": .string(key.section.rawValue),
                    "first": .string(names.text(key.first)),
                    "second": .string(names.text(key.second)),
                    "entries": .array(Kept.normalForms(of: entries[key] ?? [])),
                ])
            )
        }
    }
}

extension EntityHistories: Codable {
    init(from decoder: any Decoder) throws {
        entries = try [EntityKey: [Kept.Saved]](from: decoder).mapValues(Kept.history(of:))
    }

    func encode(to encoder: any Encoder) throws { try entries.mapValues(Kept.saved).encode(to: encoder) }
}

extension Names {
    /// Whether a key precedes another one of the same section: by the ids' UTF-8 bytes.
    func precedes(_ left: EntityKey, _ right: EntityKey) -> Bool {
        left.first == right.first ? precedes(left.second, right.second) : precedes(left.first, right.first)
    }
}

extension HistoryEntry {
    /// Everything, for normal forms, or with other fields.
    func normalForm(fields other: JSONValue?) -> JSONValue {
        .object([
            "sequence": .string(sequence.description),
            "recordedAt": .string(recordedAt.description),
            "remoteTime": remoteTime.map(\.normalFormText),
            "change": .string(change),
            "by": .text(by),
            "kinds": .array(kinds.map(JSONValue.string)),
            "fields": other ?? .object(fields),
        ])
    }
}

extension Timestamp {
    /// Seconds and nanoseconds as text, for normal forms. The nanoseconds are not padded, so this is no decimal number:
    /// `1.5` means 5 ns.
    var normalFormText: JSONValue { .string("\(seconds).\(nanoseconds)") }
}
