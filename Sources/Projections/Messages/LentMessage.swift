package import EventLog
package import JSON

/// One value of a message's row or of an entry of its history, as the state has it. Borrowed texts are valid only
/// during the call that lends the value.
package enum LentValue {
    /// The row has no such member.
    case none
    /// A text that the store keeps as it was written.
    case text(JSONText)
    case string(String)
    /// The decimal digits of a number, as a text.
    case number(UInt64)
    /// An instant of the years 0 to 9999, as the text that `Timestamp.description` gives.
    case time(Timestamp)
    case count(Int)
    case value(JSONValue)

    /// - Parameter text: `nil` for no member.
    package init(text: String?) {
        self = text.map { .string($0) } ?? .none
    }

    init(_ text: String?) {
        self.init(text: text)
    }

    init(_ value: JSONValue?) {
        self = value.map { .value($0) } ?? .none
    }

    /// An id as its text; a number without making a `String`.
    @inline(__always)
    init(_ id: EntityID, _ names: Names) {
        self = id.number.map { .number($0) } ?? .string(names.text(id))
    }

    /// The value as the state document has it; `nil` for no member.
    package var json: JSONValue? {
        switch self {
        case .none: nil
        case .text(let text): .string(text.string)
        case .string(let text): .string(text)
        case .number(let number): .string(String(number))
        case .time(let time): .string(time.description)
        case .count(let count): .int(count)
        case .value(let value): value
        }
    }

    /// Whether the row has the member.
    package var exists: Bool { if case .none = self { false } else { true } }
}

/// One version of a message in either form of the store. It answers for both, so that nothing that reads versions tells
/// them apart.
enum LentVersion {
    /// `object` holds the members that the store keeps verbatim.
    case packed(PackedVersion, author: UInt64, name: JSONText?, text: JSONText, object: UnsafeRawBufferPointer)
    /// Indirect, as it would make every lent row twice as large.
    indirect case saying(MessageRevision.Saying)

    var author: LentValue {
        switch self {
        case .packed(_, let author, _, _, _): .number(author)
        case .saying(let saying): LentValue(saying.author)
        }
    }

    var authorName: LentValue {
        switch self {
        case .packed(_, _, let name, _, _): name.map { .text($0) } ?? .none
        case .saying(let saying): LentValue(saying.authorName)
        }
    }

    var createdAt: LentValue {
        switch self {
        case .packed(let version, _, _, _, _): version.createdAt.timestamp.map { .time($0) } ?? .none
        case .saying(let saying): LentValue(saying.createdAt?.description)
        }
    }

    var editedAt: LentValue {
        switch self {
        case .packed(let version, _, _, _, _): version.editedAt.timestamp.map { .time($0) } ?? .none
        case .saying(let saying): LentValue(saying.editedAt?.description)
        }
    }

    var content: LentValue {
        switch self {
        case .packed(_, _, _, let text, _): .text(text)
        case .saying(let saying): .string(saying.text.string)
        }
    }

    /// The answered message; `nil` if the version answers none.
    var replyTo: EntityID? {
        switch self {
        case .packed(let version, _, _, _, _): version.replyTo == .none ? nil : version.replyTo
        case .saying(let saying): saying.replyTo
        }
    }

    var tags: LentValue { list(\.tags) }
    var files: LentValue { list(\.files) }
    var images: LentValue { list(\.images) }

    /// A list keeps the remote's order; an empty one stays a member, unlike an absent one. Packed versions have none of
    /// these lists.
    private func list(_ path: KeyPath<MessageRevision.Saying, [String]?>) -> LentValue {
        guard case .saying(let saying) = self else { return .none }
        return LentValue(saying[keyPath: path].map { texts in .array(texts.map { .string($0) }) })
    }

    var attachments: LentValue {
        if case .packed(_, _, _, _, let object) = self, !PackedRest.mayHaveAttachments(object) { return .none }
        return rest.attachments
    }

    var extra: LentValue { rest.extra }

    /// The members without a field of their own. Parses those of a packed version. An empty `extra` is an absent one.
    var rest: (attachments: LentValue, extra: LentValue) {
        switch self {
        case .packed(_, _, _, _, let object):
            if object.isEmpty { return (.none, .none) }
            let rest = PackedRest(object)
            return Self.rest(rest.attachments, rest.extra)
        case .saying(let saying): return Self.rest(saying.attachments, saying.extra)
        }
    }

    private static func rest(_ attachments: [JSONValue]?, _ extra: JSONObject) -> (LentValue, LentValue) {
        (LentValue(attachments.map { .array($0) }), extra.members.isEmpty ? .none : .value(.object(extra)))
    }
}

/// The row of one message, as the state document has it, lent member by member. All that shows, writes, compares or
/// stores messages reads this.
package struct LentMessage {
    /// The members of the rows of live and of deleted messages, in the document's order. The raw values are their names.
    package enum Member: String, BitwiseCopyable, CaseIterable, Sendable {
        case channel, id, cause, sequence, deletedAt, deletedBy, author, authorName, createdAt, editedAt, content
        case replyTo, tags, files, images, attachments, extra, revisions, reactions
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
        reactions: JSONValue? = nil
    ) {
        (self.channel, self.id, self.version) = (channel, id, version)
        ending = end.map { .deleted($0) } ?? .live
        (self.parent, self.revisions, self.reactions) = (parent, revisions, reactions)
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
        default: isLive ? live(member) : .none
        }
    }

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

extension MessageStore {
    /// Lends a version of a packed message.
    @inline(__always)
    func withVersion<Result>(
        _ version: PackedVersion,
        _ body: (LentVersion) throws -> Result
    ) rethrows -> Result {
        try texts.withText(version.text) { text in
            try texts.withObject(version.text) { object in
                try authors.withName(version.author) { name in
                    let author = authors.id(version.author)
                    return try body(.packed(version, author: author, name: name, text: text, object: object))
                }
            }
        }
    }

    /// Lends the current version of the message with a cell; `nil` if none is known.
    @inline(__always)
    func withCurrent<Result>(_ cell: MessageCell, _ body: (LentVersion?) throws -> Result) rethrows -> Result {
        if cell.form == .record { return try body(records[Int(cell.last)].current.map { .saying($0.saying) }) }
        guard let version = version(of: cell) else { return try body(nil) }
        return try withVersion(version) { try body($0) }
    }
}

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
                    reactions: store.reactionRows(of: cell, names)
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
                    end: end
                )
            )
        }
    }

    /// How the message with a cell was deleted. As `end(of:)` of its record: deletion by name wins over the end of the
    /// channel.
    private func end(of cell: MessageCell) -> MessageRecord.End? {
        guard cell.form == .packed else { return end(of: store.records[Int(cell.last)]) }
        if cell.standing != .deleted, let fate = fates.fate(of: store.channels[Int(cell.channel)].id) {
            return MessageRecord.End(cause: fate.cause, permanence: .forever, since: fate.event)
        }
        return store.deletion(of: cell)
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
        if !compacted.isEmpty, compacted.contains(MessageKey(channel: store.channels[channel].id, id: id)) {
            return .compacted
        }
        return store.place(of: id, channel: channel).map { state(at: $0) } ?? .unknown
    }
}

extension MessageStore {
    /// The number of revisions of the message with a cell.
    @inline(__always)
    func revisionCount(of cell: MessageCell) -> Int {
        if cell.form == .record { return records[Int(cell.last)].revisionCount }
        var count = 0
        forEachEntry(of: cell) { if $0.happening.isNewRevision { count += 1 } }
        return count
    }

    /// A packed message has no reactions.
    fileprivate func reactionRows(of cell: MessageCell, _ names: Names) -> JSONValue? {
        cell.form == .record ? records[Int(cell.last)].reactionRows(names) : nil
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
