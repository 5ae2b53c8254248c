import EventLog
import JSON

/// Pairs the messages of one source in two states, and finds those whose rows may differ, without hashing or making a row.
struct MessageTwins {
    /// The messages of one of the two states.
    private struct Side {
        let messages: Messages
        let store: MessageStore
        let names: Names
        let rules: ReadingRules

        init(_ source: SourceState) {
            (messages, store) = (source.parts.messages, source.parts.messages.store)
            (names, rules) = (source.context.names, source.rowRules)
        }

        func hasRow(at place: Int) -> Bool { Self.hasRow(messages.state(at: place)) }

        static func hasRow(_ state: Messages.State) -> Bool { state == .live || state == .deleted }
    }

    private let left: Side
    private let right: Side

    init(_ left: SourceState, _ right: SourceState) {
        (self.left, self.right) = (Side(left), Side(right))
    }

    /// Calls a closure with the places of each message of which one state has a row that the other may not have: in the first
    /// state and in the second, `nil` where it is not known. May name messages whose rows agree; lacks none that differs.
    ///
    /// O(messages). Reads both stores in the order of memory where both readings took the messages up in one order.
    func forEachDiffering(_ body: (_ left: Int?, _ right: Int?) -> Void) {
        var isPaired = [Bool](repeating: false, count: right.store.count)
        var next = 0
        for place in 0..<left.store.count {
            guard let twin = twin(of: place, near: next) else {
                if left.hasRow(at: place) { body(place, nil) }
                continue
            }
            isPaired[twin] = true
            next = twin + 1
            if !surelyAgree(place, twin) { body(place, twin) }
        }
        for place in isPaired.indices where !isPaired[place] && right.hasRow(at: place) { body(nil, place) }
    }

    /// The place of the same message in the second state; `nil` if it is not known there.
    ///
    /// - Parameter guess: A place that is looked at first.
    private func twin(of place: Int, near guess: Int) -> Int? {
        let cell = left.store.cells[place]
        let channel = left.store.channels[Int(cell.channel)].id
        if guess < right.store.count, cell.id.number != nil, channel.number != nil {
            let other = right.store.cells[guess]
            if other.id == cell.id, right.store.channels[Int(other.channel)].id == channel { return guess }
        }
        guard let id = translated(cell.id), let twinChannel = translated(channel) else { return nil }
        return right.store.place(of: MessageKey(channel: twinChannel, id: id))
    }

    /// The handle of an id in the second state; `nil` if it is not known there.
    private func translated(_ id: EntityID) -> EntityID? {
        id.number == nil ? right.names.find(left.names.text(id)) : id
    }

    /// Whether both states have the same row of a message, or none; false proves nothing.
    private func surelyAgree(_ place: Int, _ twin: Int) -> Bool {
        let states = (left.messages.state(at: place), right.messages.state(at: twin))
        guard states.0 == states.1 else { return !Side.hasRow(states.0) && !Side.hasRow(states.1) }
        guard Side.hasRow(states.0) else { return true }
        // Of a message that is live again, a compaction dropped what was before.
        if left.messages.drop(at: place) != nil || right.messages.drop(at: twin) != nil { return false }
        let cells = (left.store.cells[place], right.store.cells[twin])
        guard cells.0.form.isPacked, cells.1.form.isPacked, !cells.0.hasReactions, !cells.1.hasReactions,
            let version = left.store.version(of: cells.0), let other = right.store.version(of: cells.1),
            isSame(version, other)
        else { return false }
        if states.0 == .deleted { return hasSameEnd(place, twin) }
        return left.store.revisionCount(of: cells.0) == right.store.revisionCount(of: cells.1)
            && hasSameParent(version.replyTo, left.store.channels[Int(cells.0.channel)].id)
    }

    /// Whether a version of the first state says surely the same as one of the second.
    private func isSame(_ version: PackedVersion, _ other: PackedVersion) -> Bool {
        guard version.createdAt == other.createdAt, version.editedAt == other.editedAt,
            version.replyTo == other.replyTo, version.text.flags == other.text.flags
        else { return false }
        let hasSameAuthor = left.store.authors.withName(version.author) {
            right.store.authors.isSame(other.author, id: left.store.authors.id(version.author), name: $0)
        }
        return hasSameAuthor
            && left.store.texts.withText(version.text) { text, object in
                right.store.texts.withText(other.text) { $0.bytes.isSame(text.bytes) && $1.isSame(object) }
            }
    }

    /// Whether the row of a live message shows the same answered message, given as the first state's handle.
    private func hasSameParent(_ id: EntityID, _ channel: EntityID) -> Bool {
        if id == .none { return true }
        let rule = ReadingRule.lostParentsAreNotShown
        guard id.number != nil, channel.number != nil, left.rules.contains(rule) == right.rules.contains(rule) else {
            return false
        }
        let key = MessageKey(channel: channel, id: id)
        return left.messages.state(of: key) == right.messages.state(of: key)
    }

    /// Whether both states show the same end of a deleted message.
    private func hasSameEnd(_ place: Int, _ twin: Int) -> Bool {
        guard let end = left.messages.end(at: place), let other = right.messages.end(at: twin) else { return false }
        return end.cause == other.cause && end.deletedAt == other.deletedAt && end.deletedBy == other.deletedBy
    }
}
