import EventLog

extension Messages {
    /// Keeps, of each channel, the newest live messages, the newest tombstones and the newest of those that stand
    /// nowhere, and whatever moved from or to a kept one. The others are known by id alone from then on.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {
        var kept: Set<MessageKey> = []
        for channel in channels(names) {
            for wanted in [State.live, .deleted, .unknown] {
                kept.formUnion(newest(policy.messagesPerChannel, wanted, in: channel, names))
            }
        }
        keepRelatives(of: &kept)
        for slot in records.indices {
            guard let key = records[slot]?.key, !kept.contains(key) else { continue }
            drop(slot, key)
        }
        answers = [:]
        for slot in records.indices {
            guard let key = records[slot]?.key, let parent = parent(of: key) else { continue }
            answers[parent, default: []].append(slot)
        }
        for (channel, slots) in slotsOfChannel { slotsOfChannel[channel] = slots.filter { records[$0] != nil } }
        slotsOfChannel = slotsOfChannel.filter { !$0.value.isEmpty }
    }

    private func newest(_ count: Int, _ wanted: State, in channel: EntityID, _ names: Names) -> [MessageKey] {
        var candidates = records(in: channel, being: wanted)
        // What only a reaction named is small, and may yet arrive: it stays. What moved away stays with its relatives.
        let whole = wanted == .unknown ? candidates.filter(\.entries.isEmpty) : []
        if wanted == .unknown { candidates.removeAll { $0.entries.isEmpty || !$0.relatives.isEmpty } }
        let sorted = candidates.sorted { MessageOrder.precedes($0, $1, names) }
        return (whole + sorted.suffix(max(0, count))).map(\.key)
    }

    /// A kept message owes a part of its history to the key that it had before.
    private func keepRelatives(of kept: inout Set<MessageKey>) {
        var pending = Array(kept)
        while let key = pending.popLast() {
            guard let slot = slots[key], let record = records[slot] else { continue }
            for relative in record.relatives where slots[relative] != nil && kept.insert(relative).inserted {
                pending.append(relative)
            }
        }
    }

    private mutating func drop(_ slot: Int, _ key: MessageKey) {
        records[slot] = nil
        slots[key] = nil
        compacted.insert(key)
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        fates.collectNeeded(into: &sequences)
        for case let record? in records {
            for entry in record.entries { sequences.insert(entry.event.sequence.rawValue) }
            for reaction in record.reactions { sequences.insert(reaction.sequence) }
            if let placedBy = record.placedBy { sequences.insert(placedBy) }
        }
    }
}
