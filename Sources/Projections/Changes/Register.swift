import EventLog

/// A value without a version of its own: the last event in log order wins. What happened to it is kept whole, so every
/// event that changed it can be replayed, and those that repeated it need not be.
struct Register<Value: Codable & Hashable & Sendable>: Codable, Sendable {
    /// A value, or its absence, since an event. Two neighbours never hold the same.
    struct Entry: Codable, Sendable {
        var event: EventReference
        var value: Value?
    }

    private(set) var entries: [Entry] = []

    init() {}

    /// The value that stands; `nil` where there is none, or none any more.
    var value: Value? { entries.last?.value }

    /// The value that stands or, once that is removed, stood last.
    var lastValue: Value? { entries.last { $0.value != nil }?.value }

    /// Sets or (`nil`) removes the value; whether that changed it. What one event sets twice is one entry.
    @discardableResult
    mutating func set(_ value: Value?, at event: EventReference) -> Bool {
        let before = self.value
        if entries.last?.event.sequence == event.sequence { entries.removeLast() }
        if value != self.value { entries.append(Entry(event: event, value: value)) }
        return value != before
    }

    /// Forgets all but the newest entries, at least one.
    mutating func forget(allBut count: Int) {
        entries.removeFirst(max(0, entries.count - max(1, count)))
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        for entry in entries { sequences.insert(entry.event.sequence.rawValue) }
    }

    func snapshot(_ value: (Value) -> JSONValue) -> JSONValue {
        .array(
            entries.map { entry in
                .object(["event": entry.event.snapshot, "value": entry.value.map(value)])
            }
        )
    }
}
