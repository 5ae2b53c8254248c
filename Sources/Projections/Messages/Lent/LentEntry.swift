import EventLog

/// One entry of the history of a message, lent member by member. Its fields are those of the version that the event
/// brought; of any other change, the last known ones.
package struct LentEntry {
    let channel: LentValue
    let id: LentValue
    /// The place in the history, from 0.
    let number: Int
    let event: EventReference
    let change: String
    let remoteTime: LentValue
    let by: LentValue
    let version: LentVersion?
    let replyTo: LentValue
    /// What deleted the message; `nil` for other changes.
    let cause: String?
    /// `nil` for other changes than a move.
    let move: LentMove?
    /// `nil` unless the entry is a late version.
    let late: Late?

    /// A late version's place among those that had arrived, and whether it changed what is known (`LateVersion`).
    struct Late {
        let place: LateVersion.Place
        let isKnown: Bool
    }

    /// The fields of an entry, in order. The raw values are their names.
    enum Field: String, CaseIterable {
        case author, authorName, createdAt, editedAt, content, replyTo, tags, files, images, attachments, extra
        case cause, from, to
    }

    /// The value of a field.
    subscript(field: Field) -> LentValue {
        switch field {
        case .author: version?.author ?? .none
        case .authorName: version?.authorName ?? .none
        case .createdAt: version?.createdAt ?? .none
        case .editedAt: version?.editedAt ?? .none
        case .content: version?.content ?? .none
        case .replyTo: replyTo
        case .tags: version?.tags ?? .none
        case .files: version?.files ?? .none
        case .images: version?.images ?? .none
        case .attachments: version?.attachments ?? .none
        case .extra: version?.extra ?? .none
        case .cause: LentValue(cause)
        case .from: LentValue(move?.from)
        case .to: LentValue(move?.to)
        }
    }

    /// All fields.
    var fields: JSONObject {
        let members = Field.allCases.compactMap { field in
            self[field].json.map { JSONObject.Member(name: field.rawValue, value: $0) }
        }
        return JSONObject(distinct: members)
    }
}

/// The keys of a moved message. Indirect, because hardly an entry has one.
indirect enum LentMove {
    case move(from: JSONValue, to: JSONValue)

    var from: JSONValue {
        switch self {
        case .move(let from, _): from
        }
    }
    var to: JSONValue {
        switch self {
        case .move(_, let to): to
        }
    }
}

extension Messages {
    /// Lends the history of the message at a place, oldest first.
    ///
    /// - Parameter tip: As in `RowContext`.
    func forEachEntry(
        at place: Int,
        _ names: Names,
        tip: EventReference?,
        _ body: (LentEntry) throws -> Void
    ) rethrows {
        let cell = store.cells[place]
        let key = store.key(at: place)
        if !cell.form.isPacked || drop(at: place) != nil {
            let entries = toldEntries(at: place, tip: tip)
            let places = entries.latePlaces
            for (number, entry) in entries.enumerated() {
                let late = places[number].map { LentEntry.Late(place: $0, isKnown: entry.arrival == .lateAndKnown) }
                try body(LentEntry(entry, number, late, of: key, names))
            }
            return
        }
        // One entry is never late, and most messages have one.
        let lates = cell.last == 0 ? [:] : store.lateEntries(of: cell)
        var number = 0
        try store.forEachEntryInOrder(of: cell) { entry in
            try lend(entry, number, lates[number], of: key, names, body)
            number += 1
        }
    }

    /// Lends an entry of a packed message.
    @inline(__always)
    private func lend(
        _ entry: PackedEntry,
        _ number: Int,
        _ late: LentEntry.Late?,
        of key: MessageKey,
        _ names: Names,
        _ body: (LentEntry) throws -> Void
    ) rethrows {
        guard entry.happening.hasVersion else { return try body(LentEntry(entry, number, late, nil, of: key, names)) }
        try store.withVersion(entry.version) { try body(LentEntry(entry, number, late, $0, of: key, names)) }
    }
}

extension MessageStore {
    /// The late versions of a packed message, by the numbers of their entries. Cost: O(entries) if there are none.
    fileprivate func lateEntries(of cell: MessageCell) -> [Int: LentEntry.Late] {
        var arrivals = PackedArrivals()
        var found: [MessageRecord.Entry.Arrival] = []
        var versions: [PackedTime?] = []
        forEachEntryInOrder(of: cell) { entry in
            found.append(arrivals.next(entry))
            versions.append(entry.happening.isWrite ? entry.version.editedAt : nil)
        }
        let places = LateVersion.places(of: versions) { found[$0] != .inTime }
        return Dictionary(
            uniqueKeysWithValues: places.map { number, place in
                (number, LentEntry.Late(place: place, isKnown: found[number] == .lateAndKnown))
            }
        )
    }
}

extension LentEntry {
    fileprivate init(
        _ entry: MessageRecord.Entry,
        _ number: Int,
        _ late: Late?,
        of key: MessageKey,
        _ names: Names
    ) {
        (channel, id) = (LentValue(key.channel, names), LentValue(key.id, names))
        (self.number, event, self.late) = (number, entry.event, late)
        change = late == nil ? entry.happening.word : MessageRecord.Entry.word(ofLate: entry.revision?.version)
        (remoteTime, by) = (LentValue(entry.remoteTime?.description), LentValue(entry.by))
        version = entry.revision.map { .saying($0.saying) }
        replyTo = version?.replyTo.map { LentValue($0, names) } ?? .none
        switch entry.happening {
        case .deleted(let end): (cause, move) = (end.cause.rawValue, nil)
        case .moved(let from, let to):
            (cause, move) = (nil, .move(from: .object(from.members(names)), to: .object(to.members(names))))
        case .unselected(let end): (cause, move) = (end?.cause.rawValue, nil)
        case .created, .edited, .linked, .restored, .selected, .unreadable, .compacted: (cause, move) = (nil, nil)
        }
    }

    /// An entry of a packed message. A gateway's deletion has neither a time nor an author.
    @inline(__always)
    fileprivate init(
        _ entry: PackedEntry,
        _ number: Int,
        _ late: Late?,
        _ version: LentVersion?,
        of key: MessageKey,
        _ names: Names
    ) {
        (channel, id) = (LentValue(key.channel, names), LentValue(key.id, names))
        let happening = entry.happening.word.happening(at: entry.event)
        (self.number, event, self.late) = (number, entry.event, late)
        change =
            late == nil
            ? happening.word : MessageRecord.Entry.word(ofLate: entry.version.editedAt.timestamp)
        self.version = version
        replyTo = version?.replyTo.map { LentValue($0, names) } ?? .none
        move = nil
        if case .deleted(let end) = happening { cause = end.cause.rawValue } else { cause = nil }
        guard entry.happening.isWrite, let version else {
            (remoteTime, by) = (.none, .none)
            return
        }
        let editedAt = version.editedAt
        remoteTime = editedAt.exists ? editedAt : version.createdAt
        by = version.author
    }
}
