import EventLog

extension Messages {
    /// Channel by channel in the order of the channels' ids, each in its own order. O(n log n) in the number of
    /// messages.
    func keys(in section: Section, names: Names) -> [EntityKey] {
        guard section.isOfMessages else { return [] }
        return channels(names).flatMap { channel in
            places(in: section, of: channel, names).map { EntityKey(section, channel, store.cells[$0].id) }
        }
    }

    /// A message has a row in one section at most; under the key of the other section the result is `nil`.
    func row(for key: EntityKey, context: RowContext) -> JSONValue? {
        guard let place = place(of: key) else { return nil }
        switch (key.section, state(at: place)) {
        case (.messages, .live): return liveRow(at: place, context)
        case (.deletedMessages, .deleted): return deletedRow(store.record(at: place), context.names)
        default: return nil
        }
    }

    /// The history is the same under both sections of messages, also of messages without a row; `nil` if the message is
    /// not known, or only from reactions.
    func history(of key: EntityKey, context: RowContext) -> [HistoryEntry]? {
        guard let record = record(for: key), !record.entries.isEmpty else { return nil }
        return record.entries.map { $0.historyEntry(names: context.names) }
    }

    /// Makes only the entries at `places`, though a packed message is unpacked whole.
    func history(of key: EntityKey, in places: Range<Int>, context: RowContext) -> ArraySlice<HistoryEntry> {
        guard let entries = record(for: key)?.entries else { return [] }
        return entries[places.clamped(to: entries.indices)].map { $0.historyEntry(names: context.names) }[...]
    }

    /// A text whose bytes sort as the live messages of a channel do; `nil` if the message is not known.
    func orderText(of key: EntityKey, names: Names) -> String? {
        store.place(of: MessageKey(channel: key.first, id: key.second)).map {
            orderedMessage(at: $0).text(names)
        }
    }

    /// The record of a message under either of its keys; `nil` for keys of other sections and unknown messages.
    private func record(for key: EntityKey) -> MessageRecord? {
        guard key.section == .messages || key.section == .deletedMessages else { return nil }
        return place(of: key).map { store.record(at: $0) }
    }

    /// Builds no record of a packed message: its revisions are counted in place.
    private func liveRow(at place: Int, _ context: RowContext) -> JSONValue? {
        guard let current = store.current(at: place) else { return nil }
        let (key, names) = (store.key(at: place), context.names)
        let parent = current.saying.replyTo.flatMap { id -> JSONValue? in
            let parent = MessageKey(channel: key.channel, id: id)
            // These clients show a reply to a lost message as no reply.
            if context.rules.contains(.lostParentsAreNotShown), state(of: parent) != .live { return nil }
            // The three parts have different names, so none needs to be looked up.
            return .object(["id": .string(names.text(id)), "state": .string(state(of: parent).rawValue)])
        }
        // Members whose value is `nil` are left out of the row.
        let rest: JSONObject = [
            "revisions": .int(store.revisionCount(at: place)), "reactions": store.reactionRows(at: place, names),
        ]
        return .object(
            JSONObject(
                distinct: key.members(names).members + current.saying.members(replyingTo: parent).members + rest.members
            )
        )
    }

    /// Shows the last known version: a tombstone of a message that was never seen has no author and no content.
    private func deletedRow(_ record: MessageRecord, _ names: Names) -> JSONValue? {
        guard let end = end(of: record) else { return nil }
        var row = record.key.members(names)
        row["cause"] = .string(end.cause.rawValue)
        row["sequence"] = .string(end.since.sequence.description)
        row["deletedAt"] = .text(end.deletedAt?.description)
        row["deletedBy"] = .text(end.deletedBy)
        row["author"] = .text(record.current?.saying.author)
        row["createdAt"] = .text(record.current?.saying.createdAt?.description)
        row["content"] = .text(record.current?.saying.text.string)
        return .object(row)
    }
}

extension MessageKey {
    /// The members `channel` and `id`, as rows and entries of a move have them.
    func members(_ names: Names) -> JSONObject {
        ["channel": .string(names.text(channel)), "id": .string(names.text(id))]
    }
}

extension MessageStore {
    /// A packed message has no reactions.
    fileprivate func reactionRows(at place: Int, _ names: Names) -> JSONValue? {
        let cell = cells[place]
        return cell.form == .record ? records[Int(cell.last)].reactionRows(names) : nil
    }
}

extension MessageRecord {
    /// `[{"emoji","users"}]`, sorted by emoji, users by their ids; `nil` without reactions.
    fileprivate func reactionRows(_ names: Names) -> JSONValue? {
        let present = reactions.filter(\.isPresent)
        guard !present.isEmpty else { return nil }
        let users = Dictionary(grouping: present, by: \.emoji)
        let emojis = users.keys.sorted { $0.string.utf8.lexicographicallyPrecedes($1.string.utf8) }
        return .array(
            emojis.map { emoji in
                let sorted = (users[emoji] ?? []).map(\.user).sorted { names.precedes($0, $1) }
                return .object([
                    "emoji": .string(emoji.string), "users": .array(sorted.map { .string(names.text($0)) }),
                ])
            }
        )
    }
}

extension MessageRecord.Entry {
    /// The entry for people and scripts. For a deletion or move it contains the last known fields.
    func historyEntry(names: Names) -> HistoryEntry {
        var fields = revision?.saying.members(names: names) ?? JSONObject()
        switch happening {
        case .deleted(let end): fields["cause"] = .string(end.cause.rawValue)
        case .moved(let from, let to):
            fields["from"] = .object(from.members(names))
            fields["to"] = .object(to.members(names))
        case .created, .edited, .linked, .restored: break
        }
        return HistoryEntry(at: event, change: happening.word, remoteTime: remoteTime, by: by, fields: fields)
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
        case .moved: "moved"
        case .deleted: "deleted"
        }
    }
}
