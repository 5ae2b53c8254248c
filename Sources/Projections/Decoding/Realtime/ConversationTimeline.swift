import EventLog
import JSON

/// The versions of each message of one conversation, in order of commit.
///
/// An entry is a row that states `messages`, or the end of the row. A run is a message's content from one entry until
/// the next run; entries that leave the content alone add no run. So a row that arrives late can be inserted in its
/// place, and the changes that it makes there are known.
///
/// Two neighbouring runs of a message never have the same content, and a message's first run has content. Memory grows
/// with the contents that differ, not with rows times messages.
struct ConversationTimeline: Codable, Sendable {
    /// The position of a statement in the order of commits, without its messages.
    struct Entry: Codable, Sendable {
        var position: RowRegister.Position
        var isRowGone: Bool
    }

    /// A message's content from one entry until the next run.
    struct Run: Codable, Sendable {
        var start: Entry
        /// The content, an object; `nil` while the message is absent.
        var element: StoredJSON?

        /// A run that keeps nothing of the row's text but its own message.
        init(start: Entry, element: StoredJSON?) {
            self.start = start
            self.element = element?.detached
        }

        /// The message that the run states; `nil` while it is absent.
        ///
        /// - Parameter place: the message's index in the array.
        fileprivate func write(_ key: MessageKey, place: Int) -> MessageWrite? {
            element?.withMembers { MessageWrite(key, $0, version: start.position.committedAt, place: place) }
        }

        /// Whether this run's content equals another one, both absent included.
        func saysSame(as other: StoredJSON?) -> Bool {
            guard let element, let other else { return self.element == nil && other == nil }
            return element.isSame(as: other)
        }
    }

    /// An entry and the ids of its array.
    private struct StatedEntry: Codable {
        let entry: Entry
        let ids: [EntityID]
    }

    private struct Message: Codable {
        /// The message's index in `known`. It orders messages whose ids come from a table without an order (I10).
        let rank: Int
        /// In order of their positions; neighbours differ in content.
        var runs: [Run] = []
    }

    /// In order of their positions.
    private var entries: [StatedEntry] = []
    /// The messages of the last entry. Saves reading only and is not saved itself: a loaded timeline begins with none.
    private var last = ConversationStatement()
    private var messages: [EntityID: Message] = [:]
    /// The ids of all messages in order of arrival. Messages are never removed from it, even after their row is gone.
    private var known: [EntityID] = []
    /// The indexes of the messages in the last entry's array. Only the last entry decides the order, so a late one leaves
    /// it alone.
    private var places: [EntityID: Int] = [:]

    private enum CodingKeys: CodingKey { case entries, messages, known, places }

    /// The statement of the entry that a new one at a position follows, if that comes last; `nil` for a late one.
    func lastStatement(before position: RowRegister.Position) -> ConversationStatement? {
        entries.last.map { $0.entry.position > position } ?? false ? nil : last
    }

    /// Inserts a statement at its position and returns the changes that this makes.
    ///
    /// Cost: O(messages that the statement alters) for the last statement of the messages of the one before, O(messages of
    /// the statement) for another last one, O(all messages of the conversation) for a late one, each with a binary search
    /// in the message's runs.
    ///
    /// - Parameters:
    ///   - statement: read after `lastStatement` of the position.
    ///   - event: the event being applied; a deletion that a late row makes or moves counts from there.
    mutating func insert(
        _ statement: ConversationStatement,
        at position: RowRegister.Position,
        in channel: EntityID,
        event: EventReference
    ) -> [MessageChange] {
        let entry = Entry(position: position, isRowGone: statement.isRowGone)
        let index = entries.partitioningIndex { $0.entry.position > position }
        let next = index < entries.count ? entries[index].entry : nil
        let previous = index > 0 ? entries[index - 1].ids : []
        // Most rows state the messages of the row before: these share one array, and nothing moves.
        let isSameArray = statement.ids == previous
        entries.insert(StatedEntry(entry: entry, ids: isSameArray ? previous : statement.ids), at: index)
        let order = isSameArray && next == nil ? nil : Order(before: places, stated: statement.places)
        if next == nil {
            if let order { places = order.stated }
            last = statement
        }
        var changes: [MessageChange] = []
        func state(_ id: EntityID, _ element: StoredJSON?, index: Int) {
            let hasMoved = next == nil && order.map { $0.before[id] != places[id] } ?? false
            guard let edit = edit(id, saying: element, at: entry, before: next, hasMoved: hasMoved) else { return }
            let key = MessageKey(channel: channel, id: id)
            // A message that the last entry lacks has no place there; its own statement's place serves for its old
            // versions.
            let place = order == nil ? index : places[id] ?? index
            changes += edit.changes(of: key, place: place, hasMoved: hasMoved, event: event)
        }
        // Where nothing moves, a message whose text is that of the last entry is as it was.
        let altered = order == nil ? statement.altered : Array(statement.ids.indices)
        for index in altered { state(statement.ids[index], statement.element(at: index), index: index) }
        guard let order else { return changes }
        // A message that was absent before stays so.
        let absent = previous.filter { order.stated[$0] == nil }.compactMap { messages[$0]?.rank }
        for rank in absent.sorted() { state(known[rank], nil, index: 0) }
        return changes
    }

    /// The index of each message before a statement, and in it.
    private struct Order {
        let before: [EntityID: Int]
        let stated: [EntityID: Int]
    }

    /// Inserts one message's part of a statement at its position; `nil` if that changes nothing.
    ///
    /// - Parameters:
    ///   - element: the message's content in the statement; `nil` if the statement lacks the message.
    ///   - next: the entry after `entry`, whose content for this message must stay as it is; `nil` if `entry` is the
    ///     last.
    ///   - hasMoved: whether the statement moves the message.
    private mutating func edit(
        _ id: EntityID,
        saying element: StoredJSON?,
        at entry: Entry,
        before next: Entry?,
        hasMoved: Bool
    ) -> Edit? {
        guard let place = messages.index(forKey: id) else {
            var message = Message(rank: known.count)
            known.append(id)
            let edit = Self.edit(&message.runs, saying: element, at: entry, before: next)
            messages[id] = message
            return edit
        }
        // From here on the message changes where it is stored, without a copy.
        guard next == nil, let last = messages.values[place].runs.indices.last else {
            return Self.edit(&messages.values[place].runs, saying: element, at: entry, before: next)
        }
        // The usual case: a row repeats the messages of the row before it and changes or adds one.
        if messages.values[place].runs.withUnsafeBufferPointer({ $0[last].saysSame(as: element) }) {
            return hasMoved ? Edit(last: messages.values[place].runs[last]) : nil
        }
        let run = Run(start: entry, element: element)
        assert(messages.values[place].runs[last].start.position < entry.position, "a later entry makes a later run")
        messages.values[place].runs.append(run)
        return Edit(written: [run], last: run)
    }

    /// Inserts one message's part of a statement at its position; the parameters are those of the timeline's `edit`.
    private static func edit(
        _ runs: inout [Run],
        saying element: StoredJSON?,
        at entry: Entry,
        before next: Entry?
    ) -> Edit {
        let index = runs.partitioningIndex { $0.start.position > entry.position }
        var edit = Edit()
        let previous = index > 0 ? runs[index - 1] : nil
        // Content as in the run before, or absence before the first run, starts no run.
        if previous.map({ !$0.saysSame(as: element) }) ?? (element != nil) {
            let run = Run(start: entry, element: element)
            edit.written.append(run)
            runs.insert(run, at: index)
            let following = index + 1
            // Whether the message changes at the next entry anyway.
            let isRun =
                next.map { following < runs.count && runs[following].start.position == $0.position }
                ?? false
            if isRun, runs[following].saysSame(as: element) {
                // The next entry's run now repeats this one.
                edit.replaced = runs.remove(at: following).start.position.committedAt
                edit.replacedWasWritten = element != nil
            } else if let next, !isRun {
                // The next entry repeated the previous run; after this one it starts a run of its own.
                let run = Run(start: next, element: previous?.element)
                edit.written.append(run)
                runs.insert(run, at: following)
            }
        }
        assert(edit.written.count <= 2, "a statement starts its own run and at most the next entry's")
        edit.last = runs.last
        edit.isLate = next != nil
        return edit
    }
}

extension ConversationTimeline {
    /// What a statement changed in one message.
    fileprivate struct Edit: Codable {
        /// The new runs, in order.
        var written: [Run] = []
        /// The commit time of a later run with the same content, which a new run replaced; `nil` if it replaced none.
        var replaced: Timestamp?
        /// Whether the replaced run had content.
        var replacedWasWritten = false
        /// The message's last run.
        var last: Run?
        /// Whether a later entry was known already.
        var isLate = false

        /// The changes that the folds need: the new runs as versions, a moved message again with its place, and a
        /// deletion if the message is absent in the end.
        ///
        /// - Parameters:
        ///   - place: the message's index in the array.
        ///   - hasMoved: whether that index changed with this statement.
        func changes(
            of key: MessageKey,
            place: Int,
            hasMoved: Bool,
            event: EventReference
        ) -> [MessageChange] {
            guard let last else { return [] }
            var changes: [MessageChange] = []
            for run in written {
                guard var write = run.write(key, place: place) else { continue }
                if replacedWasWritten { write.replacesVersion = replaced }
                changes.append(.written(write))
            }
            // The order of a message is part of its version, so a move restates the version that is known already.
            if written.isEmpty, hasMoved, let write = last.write(key, place: place) { changes.append(.written(write)) }
            guard !written.isEmpty, last.element == nil else { return changes }
            let deletion = last.start.deletion(of: key)
            changes.append(.deleted(deletion))
            // A late row may change the time of a known deletion.
            if isLate { changes.append(.stands(key, .deleted(deletion, since: event, last: nil))) }
            return changes
        }
    }

    /// Everything, for normal forms.
    func normalForm(names: Names) -> JSONValue {
        .object([
            "entries": .array(entries.map(\.entry.normalForm)),
            "runs": .array(
                known.sorted { names.precedes($0, $1) }.map { id in
                    .array([.string(names.text(id))] + (messages[id]?.runs ?? []).map(\.normalForm))
                }
            ),
            "places": .array(
                places.sorted { $0.value < $1.value }.map { .string(names.text($0.key)) }
            ),
        ])
    }
}

extension ConversationTimeline.Entry {
    /// The deletion of a message that is absent from this entry on. A message that goes with its row has the cause
    /// `channelDeleted` and no time of its own.
    fileprivate func deletion(of key: MessageKey) -> MessageDeletion {
        MessageDeletion(
            key: key,
            cause: isRowGone ? .channelDeleted : .deleted,
            permanence: .untilWritten,
            deletedAt: isRowGone ? nil : position.committedAt
        )
    }

    fileprivate var normalForm: JSONValue { .array([position.normalForm, .bool(isRowGone)]) }
}

extension ConversationTimeline.Run {
    fileprivate var normalForm: JSONValue {
        .array([start.normalForm, element?.value ?? .null])
    }
}

extension MessageWrite {
    /// A message of a conversation's row.
    ///
    /// - Parameters:
    ///   - version: when the row was committed; elements have no versions of their own.
    ///   - place: the index in the array, which is the message's order.
    fileprivate init(_ key: MessageKey, _ members: ObjectView, version: Timestamp, place: Int) {
        let createdAt = members["timestamp"]?.string.flatMap { Timestamp(rfc3339: $0) }
        var extra = JSONObject()
        members.forEach { name, value in
            // A member of another type than a text is no field of the message. It stays in `extra`, so nothing is lost.
            let isStated = value.kind == .string && (name == "id" || name == "role" || name == "content")
            if value.kind == .null || isStated || (name == "timestamp" && createdAt != nil) { return }
            extra[name.string] = value.value
        }
        self.init(
            key: key,
            version: version,
            order: .at(place),
            author: members["role"]?.string,
            createdAt: createdAt,
            content: members["content"]?.string ?? "",
            extra: extra,
            remoteTime: version
        )
    }
}
