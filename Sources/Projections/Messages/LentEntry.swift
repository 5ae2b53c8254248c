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
    func forEachEntry(at place: Int, _ names: Names, _ body: (LentEntry) throws -> Void) rethrows {
        let cell = store.cells[place]
        let key = store.key(at: place)
        if cell.form != .packed {
            for (number, entry) in store.record(at: place).entries.enumerated() {
                try body(LentEntry(entry, number, of: key, names))
            }
            return
        }
        var number = 0
        try store.forEachEntryInOrder(of: cell) { entry in
            try lend(entry, number, of: key, names, body)
            number += 1
        }
    }

    /// Lends an entry of a packed message.
    @inline(__always)
    private func lend(
        _ entry: PackedEntry,
        _ number: Int,
        of key: MessageKey,
        _ names: Names,
        _ body: (LentEntry) throws -> Void
    ) rethrows {
        guard entry.happening.hasVersion else { return try body(LentEntry(entry, number, nil, of: key, names)) }
        try store.withVersion(entry.version) { try body(LentEntry(entry, number, $0, of: key, names)) }
    }
}

extension LentEntry {
    fileprivate init(_ entry: MessageRecord.Entry, _ number: Int, of key: MessageKey, _ names: Names) {
        (channel, id) = (LentValue(key.channel, names), LentValue(key.id, names))
        (self.number, event, change) = (number, entry.event, entry.happening.word)
        (remoteTime, by) = (LentValue(entry.remoteTime?.description), LentValue(entry.by))
        version = entry.revision.map { .saying($0.saying) }
        replyTo = version?.replyTo.map { LentValue($0, names) } ?? .none
        switch entry.happening {
        case .deleted(let end): (cause, move) = (end.cause.rawValue, nil)
        case .moved(let from, let to):
            (cause, move) = (nil, .move(from: .object(from.members(names)), to: .object(to.members(names))))
        case .created, .edited, .linked, .restored, .unreadable: (cause, move) = (nil, nil)
        }
    }

    /// An entry of a packed message. A gateway's deletion has neither a time nor an author.
    @inline(__always)
    fileprivate init(
        _ entry: PackedEntry,
        _ number: Int,
        _ version: LentVersion?,
        of key: MessageKey,
        _ names: Names
    ) {
        (channel, id) = (LentValue(key.channel, names), LentValue(key.id, names))
        let happening = entry.happening.word.happening(at: entry.event)
        (self.number, event, change) = (number, entry.event, happening.word)
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
