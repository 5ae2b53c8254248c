import EventLog

extension Messages {
    /// Channel by channel in the order of the channels' ids, each in its own order. O(n log n) in the number of
    /// messages.
    func keys(in section: Section, names: Names) -> [EntityKey] {
        rowPlaces(in: section, names: names).map(\.key)
    }

    /// The keys of rows. Those of messages that have no row but a history of their own follow the deleted ones: of files
    /// that are no message any more, or not at this tip.
    func knownKeys(in section: Section, names: Names) -> [EntityKey] {
        knownPlaces(in: section, names: names).map(\.key)
    }

    /// `knownKeys` with the messages' places, without those at unwanted places.
    func knownPlaces(
        in section: Section,
        names: Names,
        where isWanted: (Int) -> Bool = { _ in true }
    ) -> [(key: EntityKey, place: Int)] {
        let places = rowPlaces(in: section, names: names, where: isWanted)
        guard section == .deletedMessages else { return places }
        let others = (0..<store.count).filter { isWanted($0) && hasHistoryAlone(at: $0) }
        if others.isEmpty { return places }
        return places + others.map { (key(at: $0), $0) }.sorted { names.precedes($0.0, $1.0) }
    }

    /// `keys` with the messages' places.
    private func rowPlaces(
        in section: Section,
        names: Names,
        where isWanted: (Int) -> Bool = { _ in true }
    ) -> [(key: EntityKey, place: Int)] {
        guard section.isOfMessages else { return [] }
        let places = GroupedPlaces(self, names)
        return places.channels.flatMap { channel in
            places.places(in: section, of: channel).filter(isWanted).map {
                (EntityKey(section, channel.id, store.cells[$0].id), $0)
            }
        }
    }

    /// The keys of messages that moved away, whose histories go on under other keys.
    func formerKeys(_ names: Names) -> [EntityKey] {
        names.sorted((0..<store.count).filter { hasMovedAway(at: $0) }.map { key(at: $0) })
    }

    /// Whether the message at a place has no row and a history that no other message goes on with.
    func hasHistoryAlone(at place: Int) -> Bool {
        state(at: place) == .unknown && store.hasEntries(at: place) && !hasMovedAway(at: place)
    }

    /// Whether the message at a place moved away. Only a record has.
    private func hasMovedAway(at place: Int) -> Bool {
        let cell = store.cells[place]
        return cell.form == .record && store.records[Int(cell.last)].hasMovedAway
    }

    private func key(at place: Int) -> EntityKey {
        let key = store.key(at: place)
        return EntityKey(.deletedMessages, key.channel, key.id)
    }

    /// A message has a row in one section at most; under the key of the other section the result is `nil`.
    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let place = place(of: key) else { return nil }
        return withRow(of: key.section, at: place, context.names, context.rules) { .object($0.object) }
    }

    /// The history is the same under both sections of messages, also of messages without a row; `nil` if the message is
    /// not known, or only from reactions.
    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        guard let entries = entries(for: key, context), !entries.isEmpty else { return nil }
        let places = entries.latePlaces
        return entries.enumerated().map { index, entry in
            entry.historyEntry(names: context.names, late: places[index])
        }
    }

    /// Makes only the entries at `places`, though a packed message is unpacked whole. Late versions have no numbers.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        guard let entries = entries(for: key, context) else { return [] }
        Steps.count(entries.count)
        return entries[places.clamped(to: entries.indices)].map { $0.historyEntry(names: context.names) }[...]
    }

    /// The entries of a message under either of its keys; `nil` for keys of other sections and unknown messages.
    private func entries(for key: EntityKey, _ context: RowContext) -> [MessageRecord.Entry]? {
        guard key.section == .messages || key.section == .deletedMessages else { return nil }
        return place(of: key).map { toldEntries(at: $0, tip: context.tip) }
    }
}

extension MessageKey {
    /// The members `channel` and `id`, as rows and entries of a move have them.
    func members(_ names: Names) -> JSONObject {
        ["channel": .string(names.text(channel)), "id": .string(names.text(id))]
    }
}

extension MessageRecord.Entry {
    /// The entry for people and scripts. For any other change than a version it contains the last known fields.
    ///
    /// - Parameter place: the number of a late version, if known.
    func historyEntry(names: Names, late place: LateVersion.Place? = nil) -> HistoryEntry {
        var fields = revision?.saying.members(names: names) ?? JSONObject()
        if arrival != .inTime {
            let known = arrival == .lateAndKnown ? fields : nil
            return HistoryEntry(
                at: event,
                change: Self.word(ofLate: revision?.version),
                remoteTime: remoteTime,
                by: by,
                fields: fields,
                late: LateVersion(number: place?.number ?? 0, of: place?.count ?? 0, known: known)
            )
        }
        switch happening {
        case .deleted(let end): fields["cause"] = .string(end.cause.rawValue)
        case .moved(let from, let to):
            fields["from"] = .object(from.members(names))
            fields["to"] = .object(to.members(names))
        case .unselected(let end): fields["cause"] = (end?.cause.rawValue).map { .string($0) }
        case .created, .edited, .linked, .restored, .selected, .unreadable, .compacted: break
        }
        return HistoryEntry(at: event, change: happening.word, remoteTime: remoteTime, by: by, fields: fields)
    }
}

extension MessageRecord.Entry {
    /// The word for a late version in `HistoryEntry.change`: what the remote did when it made the version, which the words of
    /// the others compare with what is known.
    static func word(ofLate version: Timestamp?) -> String { version == nil ? "created" : "edited" }
}

extension [MessageRecord.Entry] {
    /// The places of the late versions among the versions that had arrived, by index.
    var latePlaces: [Int: LateVersion.Place] {
        if !contains(where: { $0.arrival != .inTime }) { return [:] }
        return LateVersion.places(of: map { $0.isWrite ? $0.revision?.rank : nil }) { self[$0].arrival != .inTime }
    }
}

extension MessageRecord.Entry.Happening {
    /// The word for the change in `HistoryEntry.change`.
    var word: String {
        switch self {
        case .created: "created"
        case .edited: "edited"
        case .linked: "linked"
        case .restored: "restored"
        case .unreadable: "unreadable"
        case .moved: "moved"
        case .deleted: "deleted"
        case .selected: "selected"
        case .unselected: "unselected"
        case .compacted: "compacted"
        }
    }
}
