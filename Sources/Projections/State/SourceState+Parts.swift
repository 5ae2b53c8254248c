import EventLog

extension SourceState {
    /// The fold with the rows of a section; `nil` for issues.
    func fold(for section: Section) -> (any Fold)? { parts.fold(for: section) }

    /// Applies a retention policy to the messages.
    ///
    /// - Parameter decision: The log's head and clock.
    mutating func retainMessages(_ policy: RetentionPolicy, _ decision: CompactionDecision) {
        parts.messages.retain(policy.channels(of: name, at: decision.clock), names: context.names, decision)
    }

    /// Applies a retention policy to everything but the messages, and drops what has ended by the source's own clock
    /// (I27). Depends on the state alone, so every compaction of it drops the same.
    mutating func retainOthers(_ policy: RetentionPolicy) {
        issues.retain()
        if let clock {
            parts.gateway.connections.forgetEnded(at: clock)
            parts.community.forgetPast(at: clock)
        }
        parts.retainOthers(policy, names: context.names)
    }

    /// The whole state of the source, hidden parts included, as small values, so that no document of all messages is
    /// held in memory.
    func normalForm(into take: (JSONValue) -> Void) {
        take(
            .object([
                "source": .string(name.rawValue),
                "clock": .text(clock?.description),
                "remoteClock": remoteClock?.normalForm,
                "issues": issues.normalForm,
                "issuesThrough": .string(String(issues.toldThrough)),
            ])
        )
        for (name, part) in parts.all {
            take(.string(name))
            part.normalForm(names: context.names, into: take)
        }
    }

    /// Writes the facts of this source that no event in `kept` contains: one object, with a member for each part, in
    /// canonical form.
    func writeFacts(keeping kept: SequenceSet, to writer: inout CanonicalWriter) {
        var own: JSONObject = [
            "source": .string(name.rawValue),
            "clock": clock.map { .int($0.microseconds) },
            "remoteClock": remoteClock?.normalForm,
            "issues": issues.facts(keeping: kept),
            "issuesThrough": .string(String(issues.toldThrough)),
        ]
        let parts = Dictionary(uniqueKeysWithValues: parts.all.map { ($0.name, $0.part) })
        for name in parts.keys { own[name] = .null }
        writer.object(own) { name, writer in
            guard let part = parts[name] else { return false }
            part.writeFacts(keeping: kept, names: context.names, to: &writer)
            return true
        }
    }

    /// A state made of facts, before any event. Its handles are new.
    ///
    /// - Throws: `ProjectionError.damagedFacts`.
    init(facts: JSONObject, rules: ReadingRules) throws {
        guard let text = facts["source"]?.string, let source = try? SourceName(text) else {
            throw ProjectionError.facts("a source has no name")
        }
        self.init(name: source, rules: rules)
        clock = facts["clock"]?.number?.int64.map { Timestamp(microseconds: $0) }
        // The facts of earlier programs have none.
        toldRemoteClock = Timestamp(normalForm: facts["remoteClock"])
        let toldThrough = facts["issuesThrough"]?.string.flatMap { UInt64($0) } ?? 0
        issues = try IssueList(facts: facts["issues"], toldThrough: toldThrough)
        try parts.load(facts: facts, names: &context.names)
    }
}
