import EventLog

extension Community {
    /// Nothing that stands goes; of a presence, which only ever flickers, the newest changes stay.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {
        for key in Array(registers.keys) where key.section == .presences {
            registers[key]?.forget(allBut: policy.messagesPerChannel)
        }
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        for register in registers.values { register.collectNeeded(into: &sequences) }
        for end in ends.values { sequences.insert(end.sequence.rawValue) }
        for frame in typing.values { sequences.insert(frame.sequence.rawValue) }
        if let event = readStates.event { sequences.insert(event.sequence.rawValue) }
        fates.collectNeeded(into: &sequences)
    }

    func snapshot(names: Names) -> JSONValue {
        .object([
            "registers": Self.snapshot(registers.filter { !$0.value.entries.isEmpty }, names) { register in
                register.snapshot { .object($0.members(names: names)) }
            },
            "ends": Self.snapshot(ends, names, \.snapshot),
            "typing": Self.snapshot(typing, names, \.snapshot),
            "read": readStates.event?.snapshot,
            "readStates": Self.snapshot(readStates.lastMessages, names) { .text($0.map { names.text($0) }) ?? .null },
            "fates": fates.snapshot(names: names),
        ])
    }

    /// `[[section, first, second, value], …]`, in order.
    private static func snapshot<Value>(
        _ table: [EntityKey: Value],
        _ names: Names,
        _ value: (Value) -> JSONValue
    ) -> JSONValue {
        let keys = Dictionary(grouping: table.keys, by: \.section)
        return .array(
            Section.allCases.flatMap { names.sorted(keys[$0] ?? []) }.compactMap { key in
                guard let entry = table[key] else { return nil }
                let (first, second) = (names.text(key.first), names.text(key.second))
                return .array([.string(key.section.rawValue), .string(first), .string(second), value(entry)])
            }
        )
    }

    /// Which channel is in which guild; all else is said by the events that are kept.
    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue {
        .object(["links": fates.facts(names: names)])
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        fates.load(facts: facts["links"], names: &names)
    }
}
