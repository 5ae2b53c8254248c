import EventLog

/// One channel's messages, found without visiting those of others.
extension Messages {
    /// The places of the live messages of a channel, in the remote's order.
    func livePlaces(in channel: EntityID, _ names: Names) -> [Int] {
        let places = places(in: channel, being: .live)
        return sortedByNumber(places) ?? orderedLive(in: channel, names).map(\.place)
    }

    /// The places of the deleted messages of a channel, by the bytes of their ids.
    func deletedPlaces(in channel: EntityID, _ names: Names) -> [Int] {
        let places = places(in: channel, being: .deleted)
        let numbered = numbered(places)
        // Numbers with the same count of digits are in the order of their bytes.
        if numbered.count == places.count, let least = numbered.first, let greatest = numbered.last,
            least.number.digitCount == greatest.number.digitCount
        {
            return numbered.map(\.place)
        }
        return places.sorted { names.precedes(store.cells[$0].id, store.cells[$1].id) }
    }

    private func places(in channel: EntityID, being wanted: State) -> [Int] {
        var places: [Int] = []
        if wanted == .live { places.reserveCapacity(store.count) }
        var next = store.channel(channel).map { store.channels[$0].first } ?? 0
        while next > 0 {
            let place = Int(next) - 1
            if state(at: place) == wanted { places.append(place) }
            next = store.cells[place].next
        }
        return places
    }

    /// The places whose ids are numbers, in the order of these.
    private func numbered(_ places: [Int]) -> [(number: UInt64, place: Int)] {
        var numbered: [(number: UInt64, place: Int)] = []
        numbered.reserveCapacity(places.count)
        for place in places {
            if let number = store.cells[place].id.number { numbered.append((number, place)) }
        }
        numbered.sort { $0.number < $1.number }
        return numbered
    }

    /// The places in the order of their ids as numbers; `nil` if an id is none, or the remote's order is another.
    private func sortedByNumber(_ places: [Int]) -> [Int]? {
        var (last, isSorted) = (UInt64(0), true)
        for place in places {
            let cell = store.cells[place]
            let isByID = cell.form == .packed || store.records[Int(cell.last)].current?.order == .byID
            guard isByID, let number = cell.id.number else { return nil }
            isSorted = isSorted && last <= number
            last = number
        }
        // Messages mostly arrive in this order.
        return isSorted ? places : numbered(places).map(\.place)
    }

    /// Writes the row of a packed message as the document has it: with a deletion's `sequence`, and with `end`, which
    /// closes every row.
    func writeRow(
        of section: Section,
        packedAt place: Int,
        end: [UInt8],
        to writer: inout CanonicalWriter,
        _ names: Names
    ) {
        assert(store.cells[place].form == .packed, "only packed messages are written from their cell")
        // In canonical order, the members that the digest's row lacks come after all of its own.
        guard writeDigestRow(of: section, packedAt: place, to: &writer, names) else { return }
        writer.dropLast()
        if section == .deletedMessages {
            writer.raw(",\"sequence\":\"")
            writer.number(deletionSequence(at: place))
            writer.raw("\"")
        }
        writer.raw(end)
    }

    /// The sequence of the event that deleted a packed message.
    private func deletionSequence(at place: Int) -> UInt64 {
        let cell = store.cells[place]
        if cell.standing != .deleted, let fate = fates.fate(of: store.channels[Int(cell.channel)].id) {
            return fate.event.sequence.rawValue
        }
        var sequence: UInt64 = 0
        // The first deletion by name counts. Entries come newest first, so it is the last one found.
        store.forEachEntry(of: cell) { if $0.happening.word == .deleted { sequence = $0.happening.sequence } }
        return sequence
    }
}
