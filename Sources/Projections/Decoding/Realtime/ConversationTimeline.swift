import EventLog

/// What each message of one conversation said, from which row on, in order of commit.
///
/// Each row that states `messages`, and each end of the row, is an entry. Of each message only the entries stand at which
/// it became another than at the entry before (a run); so a row that arrives late can be put in its place, and what it
/// changes there can be told.
struct ConversationTimeline: Codable, Sendable {
    /// What one change says of the messages.
    struct Statement: Codable {
        /// Whether the messages are gone because the row is.
        var isRowGone = false
        /// In the order of the array.
        private(set) var ids: [EntityID] = []
        private(set) var elements: [EntityID: JSONObject] = [:]

        /// Adds the next message; false where its id stands already.
        mutating func add(_ element: JSONObject, id: EntityID) -> Bool {
            guard elements[id] == nil else { return false }
            elements[id] = element
            ids.append(id)
            return true
        }
    }

    struct Entry: Codable, Sendable {
        var position: RowRegister.Position
        var isRowGone: Bool
    }

    /// A message from one entry on, until the next run.
    struct Run: Codable, Sendable {
        var start: Entry
        /// What it says; `nil` where it is not there.
        var element: JSONObject?

        func saysSame(as other: JSONObject?) -> Bool {
            guard let element, let other else { return self.element == nil && other == nil }
            return JSONValue.object(element).isSameJSON(as: .object(other))
        }
    }

    private var entries: [Entry] = []
    private var runs: [EntityID: [Run]] = [:]
    /// The ids in order of arrival.
    private var known: [EntityID] = []
    /// The places in the last entry's array.
    private var places: [EntityID: Int] = [:]

    /// Puts a statement in its place, and tells what that changes.
    mutating func insert(
        _ statement: Statement,
        at position: RowRegister.Position,
        in channel: EntityID,
        event: EventReference
    ) -> [MessageChange] {
        let entry = Entry(position: position, isRowGone: statement.isRowGone)
        let index = entries.firstIndex { $0.position > position } ?? entries.count
        let next = index < entries.count ? entries[index] : nil
        entries.insert(entry, at: index)
        let oldPlaces = places
        if next == nil {
            places = Dictionary(uniqueKeysWithValues: statement.ids.enumerated().map { ($0.element, $0.offset) })
        }
        for id in statement.ids where runs[id] == nil {
            runs[id] = []
            known.append(id)
        }
        var changes: [MessageChange] = []
        for id in statement.ids + known.filter({ statement.elements[$0] == nil }) {
            let key = MessageKey(channel: channel, id: id)
            let place = places[id] ?? statement.ids.firstIndex(of: id) ?? 0
            let hasMoved = next == nil && oldPlaces[id] != places[id]
            let edit = edit(id, saying: statement.elements[id], at: entry, before: next)
            changes += edit.changes(of: key, place: place, hasMoved: hasMoved, event: event)
        }
        return changes
    }

    /// Puts one message's part of a statement in its place.
    private mutating func edit(_ id: EntityID, saying element: JSONObject?, at entry: Entry, before next: Entry?)
        -> Edit
    {
        var runs = runs[id] ?? []
        let index = runs.firstIndex { $0.start.position > entry.position } ?? runs.count
        var edit = Edit()
        let previous = index > 0 ? runs[index - 1] : nil
        if previous.map({ !$0.saysSame(as: element) }) ?? (element != nil) {
            edit.written.append(Run(start: entry, element: element))
            runs.insert(Run(start: entry, element: element), at: index)
            let following = index + 1
            let isRun = next.map { following < runs.count && runs[following].start.position == $0.position } ?? false
            if isRun, runs[following].saysSame(as: element) {
                // The next entry no longer says anything new.
                edit.replaced = runs.remove(at: following).start.position.committedAt
                edit.replacedWasWritten = element != nil
            } else if let next, !isRun {
                // The next entry, which said the same as before, now says something new.
                let run = Run(start: next, element: previous?.element)
                edit.written.append(run)
                runs.insert(run, at: following)
            }
        }
        edit.last = runs.last
        edit.isLate = next != nil
        self.runs[id] = runs
        return edit
    }
}

extension ConversationTimeline {
    /// What a statement changed of one message.
    fileprivate struct Edit: Codable {
        /// The runs that came into being, in order.
        var written: [Run] = []
        /// The version that a run of the same text before it took the place of.
        var replaced: Timestamp?
        var replacedWasWritten = false
        /// What stands now.
        var last: Run?
        var isLate = false

        func changes(
            of key: MessageKey,
            place: Int,
            hasMoved: Bool,
            event: EventReference
        ) -> [MessageChange] {
            guard let last else { return [] }
            var changes: [MessageChange] = []
            for run in written {
                guard let element = run.element else { continue }
                var write = MessageWrite(key, element, version: run.start.position.committedAt, place: place)
                if replacedWasWritten { write.replacesVersion = replaced }
                changes.append(.written(write))
            }
            if written.isEmpty, hasMoved, let element = last.element {
                changes.append(
                    .written(MessageWrite(key, element, version: last.start.position.committedAt, place: place))
                )
            }
            guard !written.isEmpty, last.element == nil else { return changes }
            let deletion = last.start.deletion(of: key)
            changes.append(.deleted(deletion))
            // A late row may move the time of a deletion that is known.
            if isLate { changes.append(.stands(key, .deleted(deletion, since: event, last: nil))) }
            return changes
        }
    }

    /// All of it, for snapshots.
    func snapshot(names: Names) -> JSONValue {
        .object([
            "entries": .array(entries.map(\.snapshot)),
            "runs": .array(
                known.sorted { names.precedes($0, $1) }.map { id in
                    .array([.string(names.text(id))] + (runs[id] ?? []).map(\.snapshot))
                }
            ),
            "places": .array(
                places.sorted { $0.value < $1.value }.map { .string(names.text($0.key)) }
            ),
        ])
    }
}

extension ConversationTimeline.Entry {
    fileprivate func deletion(of key: MessageKey) -> MessageDeletion {
        MessageDeletion(
            key: key,
            cause: isRowGone ? .channelDeleted : .deleted,
            permanence: .untilWritten,
            deletedAt: isRowGone ? nil : position.committedAt
        )
    }

    fileprivate var snapshot: JSONValue { .array([position.snapshot, .bool(isRowGone)]) }
}

extension ConversationTimeline.Run {
    fileprivate var snapshot: JSONValue {
        .array([start.snapshot, element.map { .object($0) } ?? .null])
    }
}

extension MessageWrite {
    /// A message of a conversation's row.
    fileprivate init(_ key: MessageKey, _ element: JSONObject, version: Timestamp, place: Int) {
        let createdAt = element["timestamp"]?.string.flatMap { Timestamp(rfc3339: $0) }
        var extra = JSONObject()
        for member in element.members where !member.value.isNull {
            let isStated = ["id", "role", "content"].contains(member.name) && member.value.string != nil
            if isStated || (member.name == "timestamp" && createdAt != nil) { continue }
            extra[member.name] = member.value
        }
        self.init(
            key: key,
            version: version,
            order: .at(place),
            author: element["role"]?.string,
            createdAt: createdAt,
            content: element["content"]?.string ?? "",
            extra: extra,
            remoteTime: version
        )
    }
}
