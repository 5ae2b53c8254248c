import EventLog
import JSON

/// The row of one message, as the state document has it, lent member by member. All that shows, writes, compares or
/// stores messages reads this.
package struct LentMessage {
    /// The members of the rows of live and of deleted messages, in the document's order. The raw values are their names.
    package enum Member: String, BitwiseCopyable, CaseIterable, Sendable {
        case channel, id, cause, sequence, deletedAt, deletedBy, author, authorName, createdAt, editedAt, content
        case replyTo, tags, files, images, attachments, extra, revisions, compacted, reactions
    }

    /// The answered message, and what became of it.
    package struct Parent {
        package let id: LentValue
        package let state: String
    }

    package let channel: LentValue
    package let id: LentValue
    /// The current version; of a deleted message the last one, `nil` if none was ever seen.
    let version: LentVersion?
    private let ending: LentEnding
    /// `nil` if the message answers none, is deleted, or the reading shows no lost parents.
    package let parent: Parent?
    let revisions: Int
    /// Whether a compaction dropped what was before.
    let isCompacted: Bool
    /// The rows of the reactions; `nil` without any.
    let reactions: JSONValue?

    /// How the message was deleted; `nil` for a live one.
    var end: MessageRecord.End? { ending.end }

    init(
        channel: LentValue,
        id: LentValue,
        version: LentVersion?,
        end: MessageRecord.End? = nil,
        parent: Parent? = nil,
        revisions: Int = 0,
        isCompacted: Bool = false,
        reactions: JSONValue? = nil
    ) {
        (self.channel, self.id, self.version) = (channel, id, version)
        ending = end.map { .deleted($0) } ?? .live
        (self.parent, self.revisions, self.reactions) = (parent, revisions, reactions)
        self.isCompacted = isCompacted
    }

    /// The value of a member. A deleted message shows only the text, the author and the time of its last version.
    package subscript(member: Member) -> LentValue {
        switch member {
        case .channel: channel
        case .id: id
        case .cause: LentValue(end?.cause.rawValue)
        case .sequence: end.map { .number($0.since.sequence.rawValue) } ?? .none
        case .deletedAt: LentValue(end?.deletedAt?.description)
        case .deletedBy: LentValue(end?.deletedBy)
        case .author: version?.author ?? .none
        case .createdAt: version?.createdAt ?? .none
        case .content: version?.content ?? .none
        case .compacted: isCompacted ? .value(.bool(true)) : .none
        default: isLive ? live(member) : .none
        }
    }

    /// The author's name for display, also of a deleted message, whose row has none.
    package var authorName: LentValue { version?.authorName ?? .none }

    /// Whether the row is one of a live message.
    var isLive: Bool { if case .live = ending { true } else { false } }

    /// The value of a member that only live messages have.
    private func live(_ member: Member) -> LentValue {
        switch member {
        case .authorName: version?.authorName ?? .none
        case .editedAt: version?.editedAt ?? .none
        case .replyTo: LentValue(parent?.json)
        case .tags: version?.tags ?? .none
        case .files: version?.files ?? .none
        case .images: version?.images ?? .none
        case .attachments: version?.attachments ?? .none
        case .extra: version?.extra ?? .none
        case .revisions: .count(revisions)
        case .reactions: LentValue(reactions)
        default: .none
        }
    }

    /// The row without its source.
    var object: JSONObject {
        var members: [JSONObject.Member] = []
        members.reserveCapacity(Member.allCases.count)
        for member in Member.allCases {
            if let value = self[member].json { members.append(.init(name: member.rawValue, value: value)) }
        }
        return JSONObject(distinct: members)
    }
}

/// How a message ended. Indirect, as it would make every lent row larger.
private indirect enum LentEnding {
    case live
    case deleted(MessageRecord.End)

    var end: MessageRecord.End? { if case .deleted(let end) = self { end } else { nil } }
}

extension LentMessage.Parent {
    fileprivate var json: JSONValue { .object(["id": id.json, "state": .string(state)]) }
}

// MARK: - Lending

extension Messages {
    /// Lends the row that the message at a place has in a section; `nil`, without a call, if it has none there.
    @inline(__always)
    func withRow<Result>(
        of section: Section,
        at place: Int,
        _ names: Names,
        _ rules: ReadingRules,
        _ body: (LentMessage) throws -> Result
    ) rethrows -> Result? {
        switch (section, state(at: place)) {
        case (.messages, .live): try withLiveRow(at: place, names, rules, body)
        case (.deletedMessages, .deleted): try withDeletedRow(at: place, names, body)
        default: nil
        }
    }

    @inline(__always)
    private func withLiveRow<Result>(
        at place: Int,
        _ names: Names,
        _ rules: ReadingRules,
        _ body: (LentMessage) throws -> Result
    ) rethrows -> Result? {
        let cell = store.cells[place]
        return try store.withCurrent(cell) { version in
            guard let version else { return nil }
            return try body(
                LentMessage(
                    channel: LentValue(store.channels[Int(cell.channel)].id, names),
                    id: LentValue(cell.id, names),
                    version: version,
                    parent: version.replyTo.flatMap { parent($0, in: cell.channel, names, rules) },
                    revisions: store.revisionCount(of: cell),
                    isCompacted: drop(at: place) != nil,
                    reactions: store.reactionRows(at: place, names)
                )
            )
        }
    }

    @inline(__always)
    private func withDeletedRow<Result>(
        at place: Int,
        _ names: Names,
        _ body: (LentMessage) throws -> Result
    ) rethrows -> Result? {
        let cell = store.cells[place]
        guard let end = end(of: cell) else { return nil }
        return try store.withCurrent(cell) { version in
            try body(
                LentMessage(
                    channel: LentValue(store.channels[Int(cell.channel)].id, names),
                    id: LentValue(cell.id, names),
                    version: version,
                    end: end,
                    isCompacted: drop(at: place) != nil
                )
            )
        }
    }

    /// How the message at a place was deleted, which must be a deleted one; `nil` if nothing tells.
    func end(at place: Int) -> MessageRecord.End? { end(of: store.cells[place]) }

    /// How the message with a cell was deleted. As `end(of:)` of its record: deletion by name wins over the end of the
    /// channel.
    private func end(of cell: MessageCell) -> MessageRecord.End? {
        guard cell.form != .record else { return end(of: store.records[Int(cell.last)]) }
        if cell.standing != .deleted, let fate = fates.fate(of: store.channels[Int(cell.channel)].id) {
            return MessageRecord.End(cause: fate.cause, permanence: .forever, since: fate.event)
        }
        return cell.form.isPacked ? store.deletion(of: cell) : store.end(ofWritten: cell)?.end
    }

    /// The message with an id in the channel at an index, as one that is answered.
    private func parent(
        _ id: EntityID,
        in channel: UInt32,
        _ names: Names,
        _ rules: ReadingRules
    ) -> LentMessage.Parent? {
        let state = answeredState(id, in: channel)
        // These clients show a reply to a lost message as no reply.
        if rules.contains(.lostParentsAreNotShown), state != .live { return nil }
        return LentMessage.Parent(id: LentValue(id, names), state: state.rawValue)
    }

    /// The state of the message with an id in the channel at an index. Equals `state(of:)` without a search for the
    /// channel.
    private func answeredState(_ id: EntityID, in channel: UInt32) -> State {
        let channel = Int(channel)
        return state(
            of: MessageKey(channel: store.channels[channel].id, id: id),
            at: store.place(of: id, channel: channel)
        )
    }
}

extension MessageStore {
    /// The number of revisions of the message with a cell.
    @inline(__always)
    func revisionCount(of cell: MessageCell) -> Int {
        if cell.form == .record { return records[Int(cell.last)].revisionCount }
        if cell.form == .written { return cell.first.map { $0.happening.isNewRevision ? 1 : 0 } ?? 0 }
        var count = 0
        forEachEntry(of: cell) { if $0.happening.isNewRevision { count += 1 } }
        return count
    }
}
