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
        for slot in 0..<store.count where !kept.contains(store.key(at: slot)) { compacted.insert(store.key(at: slot)) }
        store = store.kept { kept.contains(store.key(at: $0)) }
        findAnswers()
    }

    /// Finds out anew which messages answer which, among those at the places for which `isMeant` is true.
    mutating func findAnswers(_ isMeant: (Int) -> Bool = { _ in true }) {
        answers = AnswerTable()
        for slot in 0..<store.count where isMeant(slot) {
            guard let replyTo = store.replyTo(at: slot) else { continue }
            answers.add(slot, to: MessageKey(channel: store.key(at: slot).channel, id: replyTo))
        }
    }

    private func newest(_ count: Int, _ wanted: State, in channel: EntityID, _ names: Names) -> [MessageKey] {
        var candidates = records(in: channel, being: wanted)
        // What only a reaction named is small, and may yet arrive: it stays. What moved away stays with its relatives.
        let whole = wanted == .unknown ? candidates.filter(\.entries.isEmpty) : []
        if wanted == .unknown { candidates.removeAll { $0.entries.isEmpty || !$0.relatives.isEmpty } }
        let sorted = candidates.sorted { OrderedMessage.precedes(OrderedMessage($0), OrderedMessage($1), names) }
        return (whole + sorted.suffix(max(0, count))).map(\.key)
    }

    /// A kept message owes a part of its history to the key that it had before.
    private func keepRelatives(of kept: inout Set<MessageKey>) {
        var pending = Array(kept)
        while let key = pending.popLast() {
            guard let slot = store.place(of: key) else { continue }
            for relative in store.relatives(at: slot)
            where store.place(of: relative) != nil && kept.insert(relative).inserted {
                pending.append(relative)
            }
        }
    }

    func collectNeeded(into sequences: inout Set<UInt64>) {
        fates.collectNeeded(into: &sequences)
        for slot in 0..<store.count {
            let record = store.record(at: slot)
            for entry in record.entries { sequences.insert(entry.event.sequence.rawValue) }
            for reaction in record.reactions { sequences.insert(reaction.sequence) }
            if let placedBy = record.placedBy { sequences.insert(placedBy) }
        }
    }
}
