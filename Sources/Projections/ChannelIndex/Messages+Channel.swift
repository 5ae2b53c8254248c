import EventLog

/// One channel's messages, found without looking at others.
extension Messages {
    /// The ids of the live messages of a channel, in the remote's order.
    func liveIDs(in channel: EntityID, _ names: Names) -> [EntityID] {
        let places = places(in: channel, being: .live)
        if let sorted = sortedByNumber(places) { return sorted }
        return sortedLive(in: channel, names).map(\.key.id)
    }

    /// The ids of the deleted messages of a channel, by their bytes.
    func deletedIDs(in channel: EntityID, _ names: Names) -> [EntityID] {
        let ids = places(in: channel, being: .deleted).map { store.cells[$0].id }
        let numbers = ids.compactMap(\.number).sorted()
        // Numbers of as many digits stand in the order of their bytes.
        if numbers.count == ids.count, let least = numbers.first, let greatest = numbers.last,
            String(least).utf8.count == String(greatest).utf8.count
        {
            return numbers.compactMap(EntityID.init(number:))
        }
        return names.sorted(ids)
    }

    private func places(in channel: EntityID, being wanted: State) -> [Int] {
        store.places(in: channel).filter { state(at: $0) == wanted }
    }

    /// The ids in the order of their numbers; `nil` where the remote's order is another one.
    private func sortedByNumber(_ places: [Int]) -> [EntityID]? {
        var numbers: [UInt64] = []
        numbers.reserveCapacity(places.count)
        for place in places {
            let cell = store.cells[place]
            let isByID = cell.form == .packed || store.records[Int(cell.last)].current?.order == .byID
            guard isByID, let number = cell.id.number else { return nil }
            numbers.append(number)
        }
        return numbers.sorted().compactMap(EntityID.init(number:))
    }

    /// Writes the row of a packed message as the document has it, `source` and `sequence` included.
    func writeRow(
        of section: Section,
        packedAt place: Int,
        _ source: SourceState,
        to writer: inout CanonicalWriter
    ) {
        // The members that the digest's row lacks come after all of its own.
        guard writeDigestRow(of: section, packedAt: place, to: &writer, source.context.names) else { return }
        writer.dropLast()
        if section == .deletedMessages {
            writer.raw(",\"sequence\":\"")
            writer.number(deletionSequence(at: place))
            writer.raw("\"")
        }
        writer.raw(",\"source\":")
        writer.raw(JSONValue.string(source.name.rawValue).canonicalText)
        writer.raw("}")
    }

    /// The event that a deleted packed message was deleted by.
    private func deletionSequence(at place: Int) -> UInt64 {
        let cell = store.cells[place]
        if cell.standing != .deleted, let fate = fates.fate(of: store.channels[Int(cell.channel)].id) {
            return fate.event.sequence.rawValue
        }
        var sequence = cell.happening.sequence
        var last = cell.last
        // The first deletion by name counts; entries are linked from the newest on.
        while last > 0 {
            let entry = store.entries[Int(last) - 1]
            if entry.happening.word == .deleted { sequence = entry.happening.sequence }
            last = entry.previous
        }
        if cell.happening.word == .deleted { sequence = cell.happening.sequence }
        return sequence
    }
}
