import EventLog

/// One entry of the history of a message, lent member by member. Its fields are those of the version that the event
/// brought; of a deletion or move, the last known ones.
package struct LentEntry {
    package let channel: LentValue
    package let id: LentValue
    /// The place in the history, from 0.
    package let number: Int
    let event: EventReference
    package let change: String
    package let remoteTime: LentValue
    package let by: LentValue
    let version: LentVersion?
    let replyTo: LentValue
    /// What deleted the message, or where it moved from and to; `nil` for other changes.
    let cause: String?
    let from: JSONValue?
    let to: JSONValue?

    /// One of the fields, by its name in the entry.
    package func field(_ name: String) -> LentValue {
        switch name {
        case "author": version?.author ?? .none
        case "authorName": version?.authorName ?? .none
        case "createdAt": version?.createdAt ?? .none
        case "editedAt": version?.editedAt ?? .none
        case "content": version?.content ?? .none
        case "replyTo": replyTo
        case "tags": version?.tags ?? .none
        case "files": version?.files ?? .none
        case "images": version?.images ?? .none
        case "attachments": version?.attachments ?? .none
        case "extra": version?.extra ?? .none
        case "cause": LentValue(cause)
        case "from": LentValue(from)
        case "to": LentValue(to)
        default: .none
        }
    }

    /// All fields.
    package var fields: JSONObject {
        let names = [
            "author", "authorName", "createdAt", "editedAt", "content", "replyTo", "tags", "files", "images",
            "attachments", "extra", "cause", "from", "to",
        ]
        let members = names.compactMap { name in
            field(name).json.map { JSONObject.Member(name: name, value: $0) }
        }
        return JSONObject(distinct: members)
    }
}

extension Messages {
    /// Lends the history of the message at a place, oldest first.
    func forEachEntry(at place: Int, _ names: Names, _ body: (LentEntry) throws -> Void) rethrows {
        let cell = store.cells[place]
        let key = store.key(at: place)
        if cell.form == .record {
            for (number, entry) in store.records[Int(cell.last)].entries.enumerated() {
                try body(LentEntry(entry, number, of: key, names))
            }
            return
        }
        // The usual message has one entry, which lies in its cell.
        if cell.last == 0 {
            if let first = cell.first { try lend(first, 0, of: key, names, body) }
            return
        }
        var entries: [PackedEntry] = []
        store.forEachEntry(of: cell) { entries.append($0) }
        for (number, entry) in entries.reversed().enumerated() { try lend(entry, number, of: key, names, body) }
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
        case .deleted(let end): (cause, from, to) = (end.cause.rawValue, nil, nil)
        case .moved(let old, let new): (cause, from, to) = (nil, .object(old.members(names)), .object(new.members(names)))
        case .created, .edited, .linked, .restored: (cause, from, to) = (nil, nil, nil)
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
        (from, to) = (nil, nil)
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
