import EventLog

extension Messages {
    func snapshot(names: Names, into take: (JSONValue) -> Void) {
        let places = (0..<store.count).sorted { store.key(at: $0).precedes(store.key(at: $1), names) }
        for place in places { take(store.record(at: place).snapshot(names: names)) }
        take(
            .object([
                "compacted": compactedFacts(names),
                "circles": circles.snapshot,
                "fates": fates.snapshot(names: names),
            ])
        )
    }

    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue {
        .object(["compacted": compactedFacts(names), "circles": circles.facts, "links": fates.facts(names: names)])
    }

    mutating func load(facts: JSONValue, names: inout Names) throws {
        guard !facts.isNull else { return }
        guard let channels = facts["compacted"]?.array else {
            throw ProjectionError.facts("messages have no `compacted`")
        }
        for fact in channels {
            guard let pair = fact.array, pair.count == 2, let channel = pair[0].string, let ids = pair[1].array else {
                throw ProjectionError.facts("the compacted messages of a channel have another form")
            }
            let handle = names.id(channel)
            for id in ids.compactMap(\.string) { compacted.insert(MessageKey(channel: handle, id: names.id(id))) }
        }
        try circles.load(facts["circles"])
        fates.load(facts: facts["links"], names: &names)
    }

    /// `[[channel, [id, …]], …]`, sorted.
    private func compactedFacts(_ names: Names) -> JSONValue {
        let channels = Dictionary(grouping: compacted, by: \.channel)
        return .array(
            channels.keys.sorted { names.precedes($0, $1) }.map { channel in
                let ids = (channels[channel] ?? []).map(\.id).sorted { names.precedes($0, $1) }
                return .array([.string(names.text(channel)), .array(ids.map { .string(names.text($0)) })])
            }
        )
    }
}

extension MessageKey {
    func precedes(_ other: MessageKey, _ names: Names) -> Bool {
        channel == other.channel ? names.precedes(id, other.id) : names.precedes(channel, other.channel)
    }
}

extension MessageRecord {
    fileprivate func snapshot(names: Names) -> JSONValue {
        var members = key.members(names)
        members["standing"] = standing.snapshot
        members["current"] = current?.snapshot(names: names)
        members["entries"] = .array(entries.map { $0.snapshot(names: names) })
        members["reactions"] = .array(sortedReactions(names).map { $0.snapshot(names: names) })
        members["placedBy"] = placedBy.map { .string(String($0)) }
        members["relatives"] = .array(relatives.sorted { $0.precedes($1, names) }.map { .object($0.members(names)) })
        return .object(members)
    }

    private func sortedReactions(_ names: Names) -> [Reaction] {
        reactions.sorted {
            $0.emoji == $1.emoji
                ? names.precedes($0.user, $1.user)
                : $0.emoji.string.utf8.lexicographicallyPrecedes($1.emoji.string.utf8)
        }
    }
}

extension MessageRecord.Reaction {
    fileprivate func snapshot(names: Names) -> JSONValue {
        .array([.string(emoji.string), .string(names.text(user)), .bool(isPresent), .string(String(sequence))])
    }
}

extension MessageRecord.Standing {
    fileprivate var snapshot: JSONValue {
        switch self {
        case .nowhere: .string("nowhere")
        case .live: .string("live")
        case .deleted(let end): end.snapshot
        }
    }
}

extension MessageRecord.End {
    fileprivate var snapshot: JSONValue {
        .object([
            "cause": .string(cause.rawValue),
            "forever": .bool(permanence == .forever),
            "at": deletedAt?.snapshot,
            "by": .text(deletedBy),
            "since": since.snapshot,
        ])
    }
}

extension MessageRecord.Entry {
    fileprivate func snapshot(names: Names) -> JSONValue {
        var members: JSONObject = ["event": event.snapshot, "change": .string(happening.word)]
        members["revision"] = revision?.snapshot(names: names)
        members["new"] = .bool(isNewRevision)
        members["replaced"] = isReplaced ? .bool(true) : nil
        members["time"] = remoteTime?.snapshot
        members["by"] = .text(by)
        switch happening {
        case .deleted(let end): members["end"] = end.snapshot
        case .moved(let from, let to):
            members["from"] = .object(from.members(names))
            members["to"] = .object(to.members(names))
        case .created, .edited, .linked, .restored: break
        }
        return .object(members)
    }
}
