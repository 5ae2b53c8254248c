package import EventLog

extension LogState {
    /// Calls `body` with the rows of a list one after another, sorted by source, then as in the document; issues by
    /// sequence. Except for issues, no list of rows is held in memory.
    package func forEachRow(of list: StateList, asOf: Timestamp, _ body: (JSONValue) throws -> Void) rethrows {
        try forEachListedRow(of: list, asOf: asOf) { try body($0.json) }
    }

    /// As `forEachRow`, with rows of messages and of their histories as the state lends them.
    ///
    /// - Parameter mergesHistories: Gives the histories of a channel's deleted messages among those of its live ones, so
    ///   that a table mostly appends them in the order of its key; else those of deleted messages come last.
    package func forEachListedRow(
        of list: StateList,
        asOf: Timestamp,
        mergesHistories: Bool = false,
        _ body: (ListedRow) throws -> Void
    ) rethrows {
        if case .section(.issues) = list { return try rows(in: .issues, asOf: asOf).forEach { try body(.value($0)) } }
        for source in sources.sorted(by: { $0.name < $1.name }) {
            switch list {
            case .section(let section) where section.isOfMessages: try source.forEachMessage(in: section, body)
            case .section(let section):
                try source.forEachRow(in: section, asOf: asOf) { try body(.value(source.withSource($1))) }
            case .history(.message): try source.forEachMessageEntry(merged: mergesHistories, body)
            case .history(let kind): try source.forEachHistoryRow(of: kind) { try body(.value($0)) }
            case .notes: try source.noteRows.forEach { try body(.value($0)) }
            case .sources: try body(.value(source.ownRow))
            }
        }
    }

    /// Writes what has changed in some lists, list by list: all rows of a list that is written whole and has changed, of any
    /// other the rows of each thing that may have changed.
    ///
    /// - Parameter whole: What the lists that are written whole contained before.
    /// - Returns: The lists that were written, and the keys of their things: of a list that is written whole, those that
    ///   changed. Lists without a change are left out.
    package func write(
        _ changes: ChangedThings,
        of lists: [StateList],
        asOf: Timestamp,
        since whole: inout WholeLists,
        to writer: some ListWriter
    ) throws -> [(list: StateList, keys: [JSONValue])] {
        try lists.compactMap { list -> (list: StateList, keys: [JSONValue])? in
            var keys: [JSONValue] = []
            if list.isWrittenWhole {
                keys = whole.update(list, of: self, asOf: asOf)
                if keys.isEmpty { return nil }
                try writer.clear(list)
                try forEachListedRow(of: list, asOf: asOf) { try writer.add($0, to: list) }
                return (list, keys)
            }
            for thing in changes.things where list.sections.contains(where: { $0.isTouched(by: thing.key.section) }) {
                let source = sources[thing.source]
                let key = source.keyRow(of: list, thing.key)
                try writer.replace(key, by: source.rows(of: list, thing.key, asOf: asOf), in: list)
                keys.append(key)
            }
            return keys.isEmpty ? nil : (list, keys)
        }
    }
}

/// Takes the changes of lists into a cache.
package protocol ListWriter {
    /// Removes all rows of a list that is written whole.
    func clear(_ list: StateList) throws
    /// Adds a row to a list that was cleared.
    func add(_ row: ListedRow, to list: StateList) throws
    /// Puts the rows of one thing in the place of those that it had, fewer or more; none if the thing is gone. `key` has the
    /// members of the thing's key.
    func replace(_ key: JSONValue, by rows: [JSONValue], in list: StateList) throws
}

/// The things that events may have changed, each once, in the order of their first change. Valid with the state that
/// the events were folded into, and with later ones of the same fold: keys are handles.
package struct ChangedThings: Sendable {
    struct Thing: Hashable, Sendable {
        let source: Int
        let key: EntityKey
    }

    /// A message, live or deleted, is here as one of the section `messages`.
    private(set) var things: [Thing] = []
    private var known: Set<Thing> = []

    /// Nothing has changed so far.
    package init() {}

    /// Notes what `event`, the last one in `state`, may have changed.
    package mutating func note(_ state: borrowing LogState, by event: Envelope) {
        guard let index = state.indexes[event.source] else { return }
        for key in state.sources[index].context.touched {
            let thing = Thing(source: index, key: key.ofWholeMessage)
            if known.insert(thing).inserted { things.append(thing) }
        }
    }
}

extension Section {
    /// Whether a change in another section counts as one in this: a message is one thing, live or deleted.
    fileprivate func isTouched(by other: Section) -> Bool {
        self == other || (self == .deletedMessages && other == .messages)
    }
}

extension SourceState {
    /// Lends the rows of a section of messages.
    fileprivate func forEachMessage(in section: Section, _ body: (ListedRow) throws -> Void) rethrows {
        let (messages, names, rules, source) = (parts.messages, context.names, rowRules, name.rawValue)
        let places = GroupedPlaces(messages, names).places(in: section)[...]
        for (index, place) in places.enumerated() {
            messages.prefetch(places, after: index)
            try messages.withListedRow(of: section, at: place, names, rules, source, body)
        }
    }

    /// Lends the histories of all messages, first those of the live ones unless they are merged, last those without a row.
    /// The history of a message that has moved is not listed: that of its new key goes on with it.
    fileprivate func forEachMessageEntry(merged: Bool, _ body: (ListedRow) throws -> Void) rethrows {
        let (messages, names, source) = (parts.messages, context.names, name.rawValue)
        let groups = GroupedPlaces(messages, names)
        let ofRows = merged ? groups.merged : groups.places(in: .messages) + groups.places(in: .deletedMessages)
        let places = (ofRows + (0..<messages.store.count).filter(messages.hasHistoryAlone))[...]
        for (index, place) in places.enumerated() {
            messages.prefetch(places, after: index)
            try messages.forEachEntry(at: place, names, tip: parts.commits.tipEvent) {
                try body(.entry($0, source: source))
            }
        }
    }

    /// Lends the history rows of all things of a kind other than messages, also of those that are gone.
    fileprivate func forEachHistoryRow(of kind: EntityReference.Kind, _ body: (JSONValue) throws -> Void) rethrows {
        for section in kind.sections {
            for key in knownKeys(in: section) { try historyRows(of: key).forEach(body) }
        }
    }

    /// The rows of one thing in a list; of a section at most one. A message touched under one section may have its row
    /// in the other.
    fileprivate func rows(of list: StateList, _ key: EntityKey, asOf: Timestamp) -> [JSONValue] {
        guard case .section(let section) = list else { return historyRows(of: key) }
        let key = EntityKey(section, key.first, key.second)
        guard section.isOfMessages else {
            return fold(for: section)?.row(for: key, context: rowContext(asOf: asOf)).map { [withSource($0)] } ?? []
        }
        var rows: [JSONValue] = []
        if let place = parts.messages.place(of: key) {
            parts.messages.withListedRow(of: section, at: place, context.names, rowRules, name.rawValue) {
                rows.append($0.json)
            }
        }
        return rows
    }

    /// The members that identify a thing, as its rows have them.
    fileprivate func keyRow(of list: StateList, _ key: EntityKey) -> JSONValue {
        var members = JSONObject()
        for (name, part) in zip(list.keyMembers, parts(of: key)) { members[name] = .string(part) }
        return .object(members)
    }

    /// The history of a thing as rows, oldest first, numbered from 0. No instant is needed, as histories do not change
    /// with time.
    private func historyRows(of key: EntityKey) -> [JSONValue] {
        guard isListed(key), let kind = EntityReference.Kind(section: key.section),
            let entries = fold(for: key.section)?.history(of: key, context: rowContext(asOf: nil))
        else { return [] }
        let start = keyRow(of: .history(kind), key).object?.members ?? []
        return entries.enumerated().map { number, entry in
            let own: [(String, JSONValue?)] = [
                ("number", .int(number)), ("sequence", .string(entry.sequence.description)),
                ("recordedAt", .string(entry.recordedAt.description)),
                ("remoteTime", .text(entry.remoteTime?.description)), ("change", .string(entry.change)),
                ("by", .text(entry.by)),
                ("kinds", entry.kinds.isEmpty ? nil : .array(entry.kinds.map { .string($0) })),
                ("late", entry.late == nil ? nil : .bool(true)), ("version", entry.late.map { .int($0.number) }),
                ("of", entry.late.map { .int($0.count) }), ("fields", .object(entry.fields)),
                ("known", (entry.late?.known).map { .object($0) }),
            ]
            let members = own.compactMap { name, value in value.map { JSONObject.Member(name: name, value: $0) } }
            return .object(JSONObject(distinct: start + members))
        }
    }

    /// Whether the history of a key is listed. That of a message that has moved is not: the one of its new key goes on
    /// with it.
    private func isListed(_ key: EntityKey) -> Bool {
        guard key.section == .messages || key.section == .deletedMessages else { return true }
        let state = parts.messages.state(of: MessageKey(channel: key.first, id: key.second))
        if state == .live || state == .deleted { return true }
        return parts.messages.place(of: key).map { parts.messages.hasHistoryAlone(at: $0) } ?? false
    }

    /// The row of the source itself.
    fileprivate var ownRow: JSONValue {
        .object([
            "source": .string(name.rawValue),
            "recordedAt": .text(clock?.description),
            "remoteTime": .text(remoteClock?.description),
            "tip": .text(parts.commits.tipCommit),
        ])
    }

    /// The rows of the note tree, each folder before its contents.
    fileprivate var noteRows: [JSONValue] {
        let tree = parts.rows.notesTree(names: context.names)
        var result: [JSONValue] = []
        tree.root.addRows(source: .string(name.rawValue), path: "", to: &result)
        return result
    }
}

extension NotesTree.Folder {
    /// Adds the rows below a folder: folders first, then notes. `place` counts both from 0; `path` is that of this
    /// folder, empty for the root.
    fileprivate func addRows(source: JSONValue, path: String, to rows: inout [JSONValue]) {
        for (place, folder) in folders.enumerated() {
            let own = path.isEmpty ? folder.name : path + "/" + folder.name
            rows.append(
                .object([
                    "source": source, "parent": .string(path), "place": .int(place), "kind": .string("folder"),
                    "name": .string(folder.name), "path": .string(own),
                ])
            )
            folder.addRows(source: source, path: own, to: &rows)
        }
        for (place, note) in notes.enumerated() {
            rows.append(
                .object([
                    "source": source, "parent": .string(path), "place": .int(folders.count + place),
                    "kind": .string("note"), "name": .string(note.title), "note": .string(note.id),
                    "pinned": .bool(note.isPinned),
                ])
            )
        }
    }
}

extension Messages {
    /// Lends the row of a message with its source, and for a live one with its order in the channel, which no row of the
    /// document contains. Without a row in the section it calls nothing.
    fileprivate func withListedRow(
        of section: Section,
        at place: Int,
        _ names: Names,
        _ rules: ReadingRules,
        _ source: String,
        _ body: (ListedRow) throws -> Void
    ) rethrows {
        let order = section == .messages ? orderedMessage(at: place).text(names) : nil
        _ = try withRow(of: section, at: place, names, rules) {
            try body(.message($0, source: source, order: order))
        }
    }
}

extension GroupedPlaces {
    /// The places of all messages with a row, channel by channel, the deleted ones of each merged into the live ones in
    /// the order of arrival, which mostly is that of ids.
    fileprivate var merged: [Int] {
        channels.flatMap { channel in
            var deleted = places(in: .deletedMessages, of: channel)
            var merged: [Int] = []
            for place in places(in: .messages, of: channel) {
                while let next = deleted.first, next < place {
                    merged.append(next)
                    deleted.removeFirst()
                }
                merged.append(place)
            }
            return merged + deleted
        }
    }
}
