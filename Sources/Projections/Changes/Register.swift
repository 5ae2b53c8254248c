import EventLog

/// A value without a version of its own: the last event in log order wins. The register keeps the whole history, so
/// every event that changed the value can be replayed, and events that repeated it can be dropped.
///
/// Events must come in log order. Two registers behave alike exactly if their entries are equal.
struct Register<Value: Codable & Hashable & Sendable>: Codable, Sendable {
    /// A value, or its absence, since an event. Neighbours always differ.
    struct Entry: Codable, Sendable {
        var event: EventReference
        var value: Value?
    }

    /// Oldest first. The first entry has a value, unless older ones were forgotten.
    private(set) var entries: [Entry] = []

    init() {}

    /// The current value; `nil` if it was never set or was removed.
    var value: Value? { entries.last?.value }

    /// The current value or, if it was removed, the last one.
    var lastValue: Value? { entries.last { $0.value != nil }?.value }

    /// Sets the value or, with `nil`, removes it. Returns whether the value changed. An event that sets the value twice
    /// leaves one entry, and none if it sets it back.
    @discardableResult
    mutating func set(_ value: Value?, at event: EventReference) -> Bool {
        let before = self.value
        if entries.last?.event.sequence == event.sequence { entries.removeLast() }
        if value != self.value { entries.append(Entry(event: event, value: value)) }
        return value != before
    }

    /// Forgets all but the newest entries, at least one. The current value stays.
    mutating func forget(allBut count: Int) {
        entries.removeFirst(max(0, entries.count - max(1, count)))
    }

    func collectNeeded(into sequences: inout SequenceSet) {
        for entry in entries { sequences.insert(entry.event.sequence.rawValue) }
    }

    func normalForm(_ value: (Value) -> JSONValue) -> JSONValue {
        .array(
            entries.map { entry in
                .object(["event": entry.event.normalForm, "value": entry.value.map(value)])
            }
        )
    }
}
