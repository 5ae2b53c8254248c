import EventLog

extension Community {
    /// Drops old changes of presences, which change all the time. Current values stay, and so do all changes of
    /// everything else.
    mutating func retain(_ policy: RetentionPolicy, names: Names) {
        for key in Array(registers.keys) where key.section == .presences {
            registers[key]?.forget(allBut: policy.messagesPerChannel)
        }
    }

    /// `forgetPast` drops presences that have not changed for this long (30 days).
    static let presenceSeconds: Int64 = 30 * 86_400
    /// `forgetPast` keeps so many users' presences, the latest, and as much typing: all that a screen can show, and a bound for
    /// a remote that makes users up.
    static let usersMax = 10_000

    /// Forgets typing that has ended, presences that have not changed for `presenceSeconds`, and those of users who are offline:
    /// of others no more than `usersMax` stay (I27).
    ///
    /// - Parameter clock: the source's own clock, never the machine's (I10).
    mutating func forgetPast(at clock: Timestamp) {
        let isOver = { (event: EventReference) in TypingChange.end(ofTypingAt: event.recordedAt) <= clock }
        // Everything up to one sequence is forgotten, so that events applied again are recognised by sequence alone.
        let lastingTyping = typing.values.filter { !isOver($0) }.map(\.sequence.rawValue).min()
        // Up to the event before the oldest that lasts. Typing that is over but began after it stays until the next
        // compaction, and so does its end.
        let begun = typing.values.map(\.sequence) + typingEnds.values.map(\.began.sequence)
        let last = lastingTyping.map { $0 - 1 } ?? begun.map(\.rawValue).max() ?? 0
        typingForgotten = max(typingForgotten, last, Self.sequence(before: Self.usersMax, of: begun))
        typing = typing.filter { $0.value.sequence.rawValue > typingForgotten }
        typingEnds = typingEnds.filter { $0.value.began.sequence.rawValue > typingForgotten }
        func lasts(_ register: Register<CommunityValue>) -> Bool {
            guard let last = register.entries.last, last.value != Self.offline else { return false }
            let end = last.event.recordedAt.seconds.addingReportingOverflow(Self.presenceSeconds)
            return end.overflow || end.partialValue > clock.seconds
        }
        // A register without an entry means nothing.
        let presences = registers.filter { $0.key.section == .presences && !$0.value.entries.isEmpty }
        let lasting = presences.filter { lasts($0.value) }
        let sequences = lasting.values.compactMap { $0.entries.last?.event.sequence }
        let oldest = Self.sequence(before: Self.usersMax, of: sequences)
        for (key, register) in presences {
            let isLate = register.entries.last.map { $0.event.sequence.rawValue > oldest } ?? false
            if lasting[key] == nil || !isLate { registers[key] = nil }
        }
    }

    /// Nobody shows more of a user who is offline than of one of whom nothing is known.
    private static let offline = CommunityValue.presence(ExactText("offline"))

    /// The sequence up to which all but the `count` last of some events lie; 0 if there are no more.
    private static func sequence(before count: Int, of events: [SequenceNumber]) -> UInt64 {
        events.count <= count ? 0 : events.map(\.rawValue).sorted()[events.count - count - 1]
    }

    /// Adds the events of all registers, of deletions for ever, of typing that counts or was ended, and of the read states.
    func collectNeeded(into sequences: inout SequenceSet) {
        for register in registers.values { register.collectNeeded(into: &sequences) }
        for end in ends.values { sequences.insert(end.sequence.rawValue) }
        for frame in typing.values { sequences.insert(frame.sequence.rawValue) }
        for end in typingEnds.values {
            sequences.insert(end.began.sequence.rawValue)
            sequences.insert(end.ended.sequence.rawValue)
        }
        if let event = readStates.event { sequences.insert(event.sequence.rawValue) }
        fates.collectNeeded(into: &sequences)
    }

    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        take(
            .object([
                "typingForgotten": .string(String(typingForgotten)),
                "read": readStates.event?.normalForm,
                "fates": fates.normalForm(names: names),
            ])
        )
        // A register that was first set to `nil` has no entries. It means nothing, and no event is kept for it.
        Self.addNormalForms("register", registers.filter { !$0.value.entries.isEmpty }, names, into: take) { register in
            register.normalForm { .object($0.members(names: names)) }
        }
        Self.addNormalForms("end", ends, names, into: take, \.normalForm)
        Self.addNormalForms("typing", typing, names, into: take, \.normalForm)
        Self.addNormalForms("typingEnd", typingEnds, names, into: take) {
            .array([$0.began.normalForm, $0.ended.normalForm])
        }
        Self.addNormalForms("readState", readStates.lastMessages, names, into: take) {
            .text($0.map { names.text($0) }) ?? .null
        }
    }

    /// `[word, section, first, second, value]` for each entry, in order.
    private static func addNormalForms<Value>(
        _ word: String,
        _ table: [EntityKey: Value],
        _ names: Names,
        into take: (JSONValue) -> Void,
        _ value: (Value) -> JSONValue
    ) {
        let keys = Dictionary(grouping: table.keys, by: \.section)
        for key in Section.allCases.flatMap({ names.sorted(keys[$0] ?? []) }) {
            guard let entry = table[key] else { continue }
            let parts = [word, key.section.rawValue, names.text(key.first), names.text(key.second)]
            take(.array(parts.map { .string($0) } + [value(entry)]))
        }
    }

    /// The links from channels to guilds, and `typingForgotten`. The kept events contain everything else.
    func facts(keeping kept: SequenceSet, names: Names) -> JSONValue {
        .object(["links": fates.facts(names: names), "typingForgotten": .string(String(typingForgotten))])
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        fates.load(facts: facts["links"], names: &names)
        typingForgotten = facts["typingForgotten"]?.string.flatMap { UInt64($0) } ?? 0
    }
}
