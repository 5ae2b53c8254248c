import EventLog

extension Messages {
    /// Keeps in each channel the newest live messages, the newest tombstones, the newest messages that are neither, and
    /// all messages that moved from or to a kept one. Of the others only the keys stay (I13).
    ///
    /// Idempotent. Changes places, so `answers` is built anew.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {
        var isKept = [Bool](repeating: false, count: store.count)
        for channel in channels(names) {
            for wanted in [State.live, .deleted, .unknown] {
                for place in newest(policy.messagesPerChannel, wanted, in: channel, names) { isKept[place] = true }
            }
        }
        keepRelatives(&isKept)
        for place in 0..<store.count where !isKept[place] { compacted.insert(store.key(at: place)) }
        store = store.kept { isKept[$0] }
        findAnswers()
    }

    /// Rebuilds `answers` from the messages at the places for which `isMeant` is true. Finds the current answers only,
    /// in order of arrival of the answering messages.
    mutating func findAnswers(_ isMeant: (Int) -> Bool = { _ in true }) {
        answers = AnswerTable()
        for place in 0..<store.count where isMeant(place) {
            guard let replyTo = store.replyTo(at: place) else { continue }
            answers.add(place, to: MessageKey(channel: store.key(at: place).channel, id: replyTo))
        }
    }

    /// The last `count` messages of a channel in a state, in the remote's order, and those that stay whatever their
    /// number.
    private func newest(_ count: Int, _ wanted: State, in channel: EntityID, _ names: Names) -> [Int] {
        var candidates = places(in: channel, being: wanted)
        // Messages that only reactions named are small and may yet arrive: they stay. Those that moved away stay with
        // their relatives.
        let whole = wanted == .unknown ? candidates.filter { !store.hasEntries(at: $0) } : []
        if wanted == .unknown {
            candidates.removeAll { !store.hasEntries(at: $0) || !store.relatives(at: $0).isEmpty }
        }
        if candidates.count <= count { return whole + candidates }
        let sorted = candidates.map { orderedMessage(at: $0) }.sorted { OrderedMessage.precedes($0, $1, names) }
        return whole + sorted.suffix(max(0, count)).map(\.place)
    }

    /// Adds the relatives of kept messages: a part of a kept message's history came from its earlier key.
    private func keepRelatives(_ isKept: inout [Bool]) {
        var pending = isKept.indices.filter { isKept[$0] && !store.relatives(at: $0).isEmpty }
        while let place = pending.popLast() {
            for relative in store.relatives(at: place) {
                guard let other = store.place(of: relative), !isKept[other] else { continue }
                isKept[other] = true
                pending.append(other)
            }
        }
    }

    /// The circles need no event: `ReplyCircles` stores its issues as facts.
    func collectNeeded(into sequences: inout Set<UInt64>) {
        fates.collectNeeded(into: &sequences)
        for place in 0..<store.count { store.forEachSequence(at: place) { sequences.insert($0) } }
    }
}
