import EventLog

extension Messages {
    /// As the messages of a source without rules and pins of its own, and without messages that stay for their age.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {
        retain(policy, names: names, CompactionDecision(head: .zero, clock: nil))
    }

    mutating func retain(_ policy: RetentionPolicy, names: Names, _ decision: CompactionDecision) {
        retain(policy.channels(at: nil), names: names, decision)
    }

    /// Keeps in each channel what the policy says of its live messages and tombstones, the newest messages that are
    /// neither, and all messages that moved from or to a kept one. Of the others only
    /// their drops stay (I13).
    ///
    /// Idempotent. Changes places, so `answers` is built anew.
    mutating func retain(_ policy: ChannelRetention, names: Names, _ decision: CompactionDecision) {
        keep(kept(by: policy, GroupedPlaces(self, names), names), decision)
    }

    /// Whether the message at each place is kept under a policy.
    func kept(by policy: ChannelRetention, _ places: GroupedPlaces, _ names: Names) -> [Bool] {
        var isKept = [Bool](repeating: false, count: store.count)
        for channel in places.channels {
            let rule = policy.rule(of: names.text(channel.id))
            let live = Array(places.places(in: .messages, of: channel))
            let deleted = Array(places.places(in: .deletedMessages, of: channel))
            for place in newest(rule.keep, of: live, names) { isKept[place] = true }
            for place in newest(rule.deleted, of: deleted, names) { isKept[place] = true }
            if let oldest = rule.oldest { keep(madeSince: oldest, of: live, &isKept) }
            keepPinned(of: live, rule, names, &isKept)
            keepPinned(of: deleted, rule, names, &isKept)
            if policy.keepsParents { keepParents(of: live.filter { isKept[$0] }, &isKept) }
        }
        for candidates in unknownPlaces() {
            let channel = candidates.first.map { store.key(at: $0).channel } ?? .none
            let rule = policy.rule(of: names.text(channel))
            for place in newestUnknown(rule.keep, of: candidates, names) { isKept[place] = true }
            keepPinned(of: candidates, rule, names, &isKept)
        }
        keepRelatives(&isKept)
        return isKept
    }

    /// Keeps the messages that were created at an instant or later; of one without a time of creation the first event counts.
    private func keep(madeSince oldest: Timestamp, of places: [Int], _ isKept: inout [Bool]) {
        for place in places where !isKept[place] {
            let record = store.record(at: place)
            let made = record.current?.saying.createdAt ?? record.entries.first?.event.recordedAt
            if let made, made >= oldest { isKept[place] = true }
        }
    }

    private func keepPinned(of places: [Int], _ rule: ChannelRetention.Rule, _ names: Names, _ isKept: inout [Bool]) {
        guard rule.isPinned || !rule.pinned.isEmpty else { return }
        for place in places where rule.isPinned || rule.pinned.contains(names.text(store.cells[place].id)) {
            isKept[place] = true
        }
    }

    /// Keeps the live messages that kept ones answer. The text of a deleted one is no part of a thread.
    private func keepParents(of kept: [Int], _ isKept: inout [Bool]) {
        for place in kept {
            guard let replyTo = store.replyTo(at: place),
                let parent = store.place(of: replyTo, channel: Int(store.cells[place].channel)),
                state(at: parent) == .live
            else { continue }
            isKept[parent] = true
        }
    }

    /// Drops the messages at the places where `isKept` is false; only what `compacted` has of them stays.
    mutating func keep(_ isKept: [Bool], _ decision: CompactionDecision) {
        assert(isKept.count == store.count, "every message is kept or dropped")
        guard isKept.contains(false) else { return }
        compacted.insert(
            isKept.indices.lazy.filter { !isKept[$0] }.map { place in
                (store.key(at: place), store.drop(at: place, decision).following(drop(at: place)))
            }
        )
        compacted.note(clock: decision.clock, decidedAt: decision.head.rawValue)
        store = store.kept { isKept[$0] }
        findAnswers()
    }

    /// Whether the message at a place answers one that is not known, or for whose place `isKept` is false. No other row
    /// changes when a compaction drops messages: rows show of other messages only the state of the one answered.
    func lacksParent(at place: Int, _ isKept: (Int) -> Bool) -> Bool {
        guard let replyTo = store.replyTo(at: place) else { return false }
        return store.place(of: replyTo, channel: Int(store.cells[place].channel)).map { !isKept($0) } ?? true
    }

    /// Forgets all messages but not which ones compactions dropped. The state can then not go on.
    mutating func removeMessages() {
        store = MessageStore()
        answers = AnswerTable()
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

    /// The last `count` of some messages of one channel in the remote's order, in any order.
    private func newest(_ count: Int, of candidates: [Int], _ names: Names) -> [Int] {
        if candidates.count <= count { return candidates }
        let sorted = candidates.map { orderedMessage(at: $0) }.sorted { OrderedMessage.precedes($0, $1, names) }
        return sorted.suffix(max(0, count)).map(\.place)
    }

    /// As `newest`, for messages that have no row. Those that only reactions named are small and may yet arrive: they
    /// stay. Those that moved away stay with their relatives.
    private func newestUnknown(_ count: Int, of candidates: [Int], _ names: Names) -> [Int] {
        let whole = candidates.filter { !store.hasEntries(at: $0) }
        let others = candidates.filter { store.hasEntries(at: $0) && store.relatives(at: $0).isEmpty }
        return whole + newest(count, of: others, names)
    }

    /// The places of the messages without a row, by channel.
    private func unknownPlaces() -> [[Int]] {
        var places = [[Int]](repeating: [], count: store.channels.count)
        for place in 0..<store.count where state(at: place) == .unknown {
            places[Int(store.cells[place].channel)].append(place)
        }
        return places.filter { !$0.isEmpty }
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
    func collectNeeded(into sequences: inout SequenceSet) {
        fates.collectNeeded(into: &sequences)
        var collector = SequenceCollector(sequences)
        for place in 0..<store.count { store.forEachSequence(at: place) { collector.insert($0) } }
        sequences = collector.finish()
    }
}
