import EventLog

/// What happened to each entity of one fold, oldest first.
struct EntityHistories: Codable, Sendable {
    private var entries: [EntityKey: [HistoryEntry]] = [:]

    /// The history of one entity; `nil` where it was never heard of.
    subscript(key: EntityKey) -> [HistoryEntry]? { entries[key] }

    /// Everything of a section that was ever heard of, by its ids.
    func keys(in section: Section, names: Names) -> [EntityKey] {
        entries.keys.filter { $0.section == section }.sorted { names.precedes($0, $1) }
    }

    /// Whether nothing was ever heard of.
    var isEmpty: Bool { entries.isEmpty }

    /// Adds what an event changed.
    mutating func add(_ entry: HistoryEntry, to key: EntityKey) {
        entries[key, default: []].append(entry)
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        for history in entries.values {
            for entry in history { sequences.insert(entry.sequence.rawValue) }
        }
    }

    /// One object an entity, in the order of their ids.
    func snapshot(names: Names, into take: (JSONValue) -> Void) {
        for key in entries.keys.sorted(by: { names.precedes($0, $1) }) {
            take(
                .object([
                    "section": .string(key.section.rawValue),
                    "first": .string(names.text(key.first)),
                    "second": .string(names.text(key.second)),
                    "entries": .array((entries[key] ?? []).map(\.snapshotValue)),
                ])
            )
        }
    }
}

extension Names {
    /// Whether the row of one key stands before that of another of the same section.
    func precedes(_ left: EntityKey, _ right: EntityKey) -> Bool {
        left.first == right.first ? precedes(left.second, right.second) : precedes(left.first, right.first)
    }
}

extension HistoryEntry {
    fileprivate var snapshotValue: JSONValue {
        .object([
            "sequence": .string(sequence.description),
            "recordedAt": .string(recordedAt.description),
            "remoteTime": remoteTime.map(\.snapshotValue),
            "change": .string(change),
            "by": .text(by),
            "kinds": .array(kinds.map(JSONValue.string)),
            "fields": .object(fields),
        ])
    }
}

extension Timestamp {
    /// The instant to the nanosecond, for snapshots and facts.
    var snapshotValue: JSONValue { .string("\(seconds).\(nanoseconds)") }
}
