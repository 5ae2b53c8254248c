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
        /// - Parameters:
        ///   - place: the message's index in the array.
        ///   - members: those of the content, if they were read before.
        fileprivate func write(_ key: MessageKey, place: Int, members: ObjectView? = nil) -> MessageWrite? {
            func write(_ members: ObjectView) -> MessageWrite {
                MessageWrite(key, members, version: start.position.committedAt, place: place)
            }
            return members.map(write) ?? element?.withMembers(write)
        }

        /// Whether this run's content equals another one, both absent included.
        fileprivate func saysSame(as other: Content?) -> Bool {
            guard let element, let other else { return self.element == nil && other == nil }
            if let members = other.members { return element.isSame(as: other.element, with: members) }
            return element.isSame(as: other.element)
        }
    }

    /// A message's content in a statement. Borrows the text of the statement's array.
    fileprivate struct Content {
        let element: StoredJSON
        /// The members, if they were read before.
        let members: ObjectView?

        init?(_ element: StoredJSON?, members: ObjectView? = nil) {
            guard let element else { return nil }
            (self.element, self.members) = (element, members)
        }
    }

    /// An entry and the ids of its array.
    private struct StatedEntry: Codable {
        let entry: Entry
        let ids: [EntityID]
    }

    private struct Message: Codable {
        let id: EntityID
        /// In order of their positions; neighbours differ in content.
        var runs: [Run] = []
    }

    /// In order of their positions.
    private var entries: [StatedEntry] = []
    /// The messages of the last entry. Saves reading only and is not saved itself: a loaded timeline begins with none.
    private var last = ConversationStatement()
    /// All messages in order of arrival. None is ever removed, even after its row is gone, so indexes are stable: *ranks*.
    private var messages: [Message] = []
    /// The rank of each message.
    private var ranks: [EntityID: Int] = [:]
    /// The ranks of the messages of `last`, in its order. Saves searching only and is not saved itself.
    private var lastRanks: [Int] = []
    /// The indexes of the messages in the last entry's array. Only the last entry decides the order, so a late one leaves
    /// it alone.
    private var places: [EntityID: Int] = [:]

    private enum CodingKeys: CodingKey { case entries, messages, ranks, places }

    /// The statement of the entry that a new one at a position follows, if that comes last; `nil` for a late one.
    func lastStatement(before position: RowRegister.Position) -> ConversationStatement? {
        isLast(position) ? last : nil
    }

    /// Whether no known entry has a later position.
    private func isLast(_ position: RowRegister.Position) -> Bool {
        // Through a pointer, so that no entry is copied.
        entries.withUnsafeBufferPointer { $0.last.map { $0.entry.position <= position } ?? true }
    }

    /// The index in `entries` at which an entry with a position is inserted.
    private func entryIndex(at position: RowRegister.Position) -> Int {
        isLast(position) ? entries.count : entries.partitioningIndex { $0.entry.position > position }
    }

    /// Inserts a statement at its position and returns the changes that this makes.
    ///
    /// Cost: O(messages that the statement alters) for the last statement of the messages of the one before, O(messages of
    /// the statement) for another last one, O(all messages of the conversation) for a late one, each with a binary search
    /// in the message's runs.
    ///
    /// - Parameters:
    ///   - statement: read after `lastStatement` of the position.
    ///   - altered: the messages that were read then.
    ///   - event: the event being applied; a deletion that a late row makes or moves counts from there.
    mutating func insert(
        _ statement: ConversationStatement,
        altered: [ConversationStatement.Altered],
        at position: RowRegister.Position,
        in channel: EntityID,
        event: EventReference
    ) -> [MessageChange] {
        let entry = Entry(position: position, isRowGone: statement.isRowGone)
        let index = entryIndex(at: position)
        let next = index < entries.count ? entries[index].entry : nil
        let previous = index > 0 ? entries[index - 1].ids : []
        // Most rows state the messages of the row before: these share one array, and nothing moves.
        let isSameArray = statement.ids == previous
        entries.insert(StatedEntry(entry: entry, ids: isSameArray ? previous : statement.ids), at: index)
        let order = isSameArray && next == nil ? nil : Order(before: places, stated: statement.places)
        let isKnownArray = order == nil && lastRanks.count == statement.ids.count
        let stated = isKnownArray ? lastRanks : statement.ids.map { rank(of: $0) }
        if next == nil {
            if let order { places = order.stated }
            (last, lastRanks) = (statement, stated)
        }
        var changes: [MessageChange] = []
        func state(_ rank: Int, _ content: Content?, index: Int) {
            let id = messages[rank].id
            let hasMoved = next == nil && order.map { $0.before[id] != places[id] } ?? false
            guard let edit = edit(rank, saying: content, at: entry, before: next, hasMoved: hasMoved) else { return }
            let key = MessageKey(channel: channel, id: id)
            // A message that the last entry lacks has no place there; its own statement's place serves for its old
            // versions.
            let place = order == nil ? index : places[id] ?? index
            edit.addChanges(of: key, place: place, hasMoved: hasMoved, event: event, to: &changes)
        }
        func state(_ message: ConversationStatement.Altered) {
            let content = Content(statement.element(at: message.index), members: message.members)
            state(stated[message.index], content, index: message.index)
        }
        // Where nothing moves, a message whose text is that of the last entry is as it was.
        if order == nil {
            for message in altered { state(message) }
        } else {
            var rest = altered[...]
            for (index, rank) in stated.enumerated() {
                if rest.first?.index == index, let message = rest.popFirst() {
                    state(message)
                } else {
                    state(rank, Content(statement.element(at: index)), index: index)
                }
            }
        }
        guard let order else { return changes }
        // A message that was absent before stays so.
        let absent = previous.filter { order.stated[$0] == nil }.compactMap { ranks[$0] }
        for rank in absent.sorted() { state(rank, nil, index: 0) }
        return changes
    }

    /// The rank of a message, which is added if it is new.
    private mutating func rank(of id: EntityID) -> Int {
        if let rank = ranks[id] { return rank }
        ranks[id] = messages.count
        messages.append(Message(id: id))
        return messages.count - 1
    }

    /// The index of each message before a statement, and in it.
    private struct Order {
        let before: [EntityID: Int]
        let stated: [EntityID: Int]
    }

    /// Inserts one message's part of a statement at its position; `nil` if that changes nothing.
    ///
    /// - Parameters:
    ///   - content: the message's content in the statement; `nil` if the statement lacks the message.
    ///   - next: the entry after `entry`, whose content for this message must stay as it is; `nil` if `entry` is the
    ///     last.
    ///   - hasMoved: whether the statement moves the message.
    private mutating func edit(
        _ rank: Int,
        saying content: Content?,
        at entry: Entry,
        before next: Entry?,
        hasMoved: Bool
    ) -> Edit? {
        // The message changes where it is stored, without a copy.
        guard next == nil, let last = messages[rank].runs.indices.last else {
            return Self.edit(&messages[rank].runs, saying: content, at: entry, before: next)
        }
        // The usual case: a row repeats the messages of the row before it and changes or adds one.
        if messages[rank].runs.withUnsafeBufferPointer({ $0[last].saysSame(as: content) }) {
            return hasMoved ? Edit(last: messages[rank].runs[last]) : nil
        }
        let run = Run(start: entry, element: content?.element)
        assert(messages[rank].runs[last].start.position < entry.position, "a later entry makes a later run")
        messages[rank].runs.append(run)
        return Edit(written: run, members: content?.members, last: run)
    }

    /// Inserts one message's part of a statement at its position; the parameters are those of the timeline's `edit`.
    private static func edit(
        _ runs: inout [Run],
        saying content: Content?,
        at entry: Entry,
        before next: Entry?
    ) -> Edit {
        let index = runs.partitioningIndex { $0.start.position > entry.position }
        var edit = Edit()
        let previous = index > 0 ? runs[index - 1] : nil
        // Content as in the run before, or absence before the first run, starts no run.
        if previous.map({ !$0.saysSame(as: content) }) ?? (content != nil) {
            let run = Run(start: entry, element: content?.element)
            (edit.written, edit.members) = (run, content?.members)
            runs.insert(run, at: index)
            let following = index + 1
            // Whether the message changes at the next entry anyway.
            let isRun =
                next.map { following < runs.count && runs[following].start.position == $0.position }
                ?? false
            if isRun, runs[following].saysSame(as: content) {
                // The next entry's run now repeats this one.
                edit.replaced = runs.remove(at: following).start.position.committedAt
                edit.replacedWasWritten = content != nil
            } else if let next, !isRun {
                // The next entry repeated the previous run; after this one it starts a run of its own.
                let run = Run(start: next, element: previous?.element)
                edit.resumed = run
                runs.insert(run, at: following)
            }
        }
        edit.last = runs.last
        edit.isLate = next != nil
        return edit
    }
}

extension ConversationTimeline {
    /// What a statement changed in one message.
    fileprivate struct Edit {
        /// The run that the statement starts; `nil` if it repeats the run before.
        var written: Run?
        /// The members of its content, if they were read before.
        var members: ObjectView?
        /// The run that the next entry starts from now on; only behind `written`.
        var resumed: Run?
        /// The commit time of a later run with the same content, which a new run replaced; `nil` if it replaced none.
        var replaced: Timestamp?
        /// Whether the replaced run had content.
        var replacedWasWritten = false
        /// The message's last run.
        var last: Run?
        /// Whether a later entry was known already.
        var isLate = false

        /// Adds the changes that the folds need: the new runs as versions, a moved message again with its place, and a
        /// deletion if the message is absent in the end.
        ///
        /// - Parameters:
        ///   - place: the message's index in the array.
        ///   - hasMoved: whether that index changed with this statement.
        func addChanges(
            of key: MessageKey,
            place: Int,
            hasMoved: Bool,
            event: EventReference,
            to changes: inout [MessageChange]
        ) {
            guard let last else { return }
            func add(_ run: Run?, _ members: ObjectView?) {
                guard var write = run?.write(key, place: place, members: members) else { return }
                if replacedWasWritten { write.replacesVersion = replaced }
                write.isBehind = isLate
                changes.append(.written(write))
            }
            // The resumed run first: it has the known content, so the run before it never becomes known.
            add(resumed, nil)
            add(written, members)
            // The order of a message is part of its version, so a move restates the version that is known already.
            if written == nil, hasMoved, let write = last.write(key, place: place) { changes.append(.written(write)) }
            guard written != nil, last.element == nil else { return }
            let deletion = last.start.deletion(of: key)
            changes.append(.deleted(deletion))
            // A late row may change the time of a known deletion.
            if isLate { changes.append(.stands(key, .deleted(deletion, since: event, last: nil))) }
        }
    }

    /// Everything, for normal forms.
    func normalForm(names: Names) -> JSONValue {
        .object([
            "entries": .array(entries.map(\.entry.normalForm)),
            "runs": .array(
                messages.sorted { names.precedes($0.id, $1.id) }.map { message in
                    .array([.string(names.text(message.id))] + message.runs.map(\.normalForm))
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
        let createdAt = members["timestamp"]?.text?.withUTF8 { Timestamp(rfc3339Bytes: $0) }
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
            saying: MessageSaying(
                text: MessageText(members["content"]?.string ?? ""),
                author: members["role"]?.string,
                createdAt: createdAt,
                extra: extra
            ),
            remoteTime: version
        )
    }
}
