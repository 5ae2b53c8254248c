import EventLog

extension Messages {
    /// Keeps in each channel the newest live messages, the newest tombstones, the newest messages that are neither, and all
    /// messages that moved from or to a kept one. Of the others only the keys stay.
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

    /// Rebuilds `answers` from the messages at the places for which `isMeant` is true.
    mutating func findAnswers(_ isMeant: (Int) -> Bool = { _ in true }) {
        answers = AnswerTable()
        for slot in 0..<store.count where isMeant(slot) {
            guard let replyTo = store.replyTo(at: slot) else { continue }
            answers.add(slot, to: MessageKey(channel: store.key(at: slot).channel, id: replyTo))
        }
    }

    private func newest(_ count: Int, _ wanted: State, in channel: EntityID, _ names: Names) -> [MessageKey] {
        var candidates = records(in: channel, being: wanted)
        // Messages that only reactions named are small and may yet arrive: they stay. Those that moved away stay with their
        // relatives.
        let whole = wanted == .unknown ? candidates.filter(\.entries.isEmpty) : []
        if wanted == .unknown { candidates.removeAll { $0.entries.isEmpty || !$0.relatives.isEmpty } }
        let sorted = candidates.sorted { OrderedMessage.precedes(OrderedMessage($0), OrderedMessage($1), names) }
        return (whole + sorted.suffix(max(0, count))).map(\.key)
    }

    /// Adds the relatives of kept messages: a part of a kept message's history came from its earlier key.
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
