import EventLog

extension SourceState {
    /// Every part with its name in snapshots and facts, decoders first.
    var parts: [(name: String, part: any StatePart)] {
        [
            ("gateway", gateway), ("itemMessages", itemMessages), ("statusFiles", statusFiles),
            ("realtime", realtime), ("git", commits), ("cloudRecords", cloudRecords), ("recorderGaps", recorderGaps),
            ("channels", channels), ("messages", messages),
            ("community", community),
            ("items", items), ("sessions", sessions), ("prompts", prompts), ("rows", rows),
        ]
    }

    /// Which fold has the rows of a section.
    func fold(for section: Section) -> (any Fold)? {
        switch section {
        case .channels: channels
        case .messages, .deletedMessages: messages
        case .guilds, .members, .roles, .bans, .presences, .typing, .voiceStates, .readStates: community
        case .items: items
        case .sessions, .sessionAggregates: sessions
        case .prompts: prompts
        case .rows: rows
        case .issues: nil
        }
    }

    /// Drops what the policy drops, and what is over by the source's own clock.
    mutating func retain(_ policy: RetentionPolicy) {
        issues.retain()
        if let clock {
            gateway.connections.forgetEnded(at: clock)
            community.forgetPast(at: clock)
        }
        channels.retain(policy, names: context.names)
        messages.retain(policy, names: context.names)
        community.retain(policy, names: context.names)
        items.retain(policy, names: context.names)
        sessions.retain(policy, names: context.names)
        prompts.retain(policy, names: context.names)
        rows.retain(policy, names: context.names)
    }

    /// The whole state of the source, hidden parts included, as small values.
    func snapshot(into take: (JSONValue) -> Void) {
        take(
            .object([
                "source": .string(name.rawValue),
                "clock": .text(clock?.description),
                "issues": issues.snapshot,
                "issuesThrough": .string(String(issues.toldThrough)),
            ])
        )
        for (name, part) in parts {
            take(.string(name))
            part.snapshot(names: context.names, into: take)
        }
    }

    /// What no event in `kept` says of this source.
    func facts(keeping kept: Set<UInt64>) -> JSONValue {
        var object: JSONObject = [
            "source": .string(name.rawValue),
            "clock": clock.map { .int($0.microseconds) },
            "issues": issues.facts(keeping: kept),
            "issuesThrough": .string(String(issues.toldThrough)),
        ]
        for (name, part) in parts { object[name] = part.facts(keeping: kept, names: context.names) }
        return .object(object)
    }

    /// A state that knows the facts and has seen no event yet.
    init(facts: JSONObject, rules: ReadingRules) throws {
        guard let text = facts["source"]?.string, let source = try? SourceName(text) else {
            throw ProjectionError.facts("a source has no name")
        }
        self.init(name: source, rules: rules)
        clock = facts["clock"]?.number?.int64.map { Timestamp(microseconds: $0) }
        let toldThrough = facts["issuesThrough"]?.string.flatMap { UInt64($0) } ?? 0
        issues = try IssueList(facts: facts["issues"], toldThrough: toldThrough)
        try gateway.load(facts: facts["gateway"] ?? .null, names: &context.names)
        try itemMessages.load(facts: facts["itemMessages"] ?? .null, names: &context.names)
        try statusFiles.load(facts: facts["statusFiles"] ?? .null, names: &context.names)
        try realtime.load(facts: facts["realtime"] ?? .null, names: &context.names)
        try commits.load(facts: facts["git"] ?? .null, names: &context.names)
        try cloudRecords.load(facts: facts["cloudRecords"] ?? .null, names: &context.names)
        try recorderGaps.load(facts: facts["recorderGaps"] ?? .null, names: &context.names)
        try channels.load(facts: facts["channels"] ?? .null, names: &context.names)
        try messages.load(facts: facts["messages"] ?? .null, names: &context.names)
        try community.load(facts: facts["community"] ?? .null, names: &context.names)
        try items.load(facts: facts["items"] ?? .null, names: &context.names)
        try sessions.load(facts: facts["sessions"] ?? .null, names: &context.names)
        try prompts.load(facts: facts["prompts"] ?? .null, names: &context.names)
        try rows.load(facts: facts["rows"] ?? .null, names: &context.names)
    }
}
