import EventLog

extension Messages {
    /// One hash stands for all messages, as there may be millions. `answers` is left out: it follows from the messages.
    func normalForm(names: Names, into take: (JSONValue) -> Void) {
        take(.string(store.normalFormHash(names).hex))
        take(
            .object([
                "compacted": compactedFacts(names),
                "circles": circles.normalForm,
                "fates": fates.normalForm(names: names),
            ])
        )
    }

    /// The retained messages need no fact: `collectNeeded` names every event that they consist of.
    func facts(keeping kept: Set<UInt64>, names: Names) -> JSONValue {
        .object(["compacted": compactedFacts(names), "circles": circles.facts, "links": fates.facts(names: names)])
    }

    /// Ids of compacted messages that are no texts are passed over. The other errors are
    /// `ProjectionError.damagedFacts`.
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
