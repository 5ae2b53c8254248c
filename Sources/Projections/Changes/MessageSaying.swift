import EventLog

/// The text of a message. A type of its own, so that it can become a reference into the log.
struct MessageText: Hashable, Codable, Sendable {
    private var text: ExactText

    init(_ text: String) {
        self.text = ExactText(text)
    }

    /// The text itself.
    var string: String { text.string }

    /// Goes on with a text. Cost: that text's length on average, unless a copy of this one is kept.
    mutating func append(_ more: String) {
        var string = text.string
        // Nothing else may hold the text, or it would be copied.
        text = ExactText("")
        string.append(more)
        text = ExactText(string)
    }
}

/// The content of a version. Versions with equal content are repeats of one another. `nil` is an absent member, unlike an
/// empty list.
///
/// The members lie in memory of their own, which copies share until one of them is changed: a version is handed on often, and
/// both a record and an entry of its history keep it.
struct MessageSaying: Sendable {
    private struct Members: Hashable, Codable, Sendable {
        var text: MessageText
        var author: String?
        var authorName: String?
        var createdAt: Timestamp?
        var editedAt: Timestamp?
        var replyTo: EntityID?
        var tags: [String]?
        var files: [String]?
        var images: [String]?
        var attachments: [JSONValue]?
        var extra: JSONObject
        var form: UInt64?
    }

    /// `@unchecked Sendable` holds because `own` alone hands it out to be changed, and only while nobody else has it.
    private final class Storage: @unchecked Sendable {
        var members: Members

        init(_ members: Members) {
            self.members = members
        }
    }

    private var storage: Storage

    init(
        text: MessageText,
        author: String? = nil,
        authorName: String? = nil,
        createdAt: Timestamp? = nil,
        editedAt: Timestamp? = nil,
        replyTo: EntityID? = nil,
        tags: [String]? = nil,
        files: [String]? = nil,
        images: [String]? = nil,
        attachments: [JSONValue]? = nil,
        extra: JSONObject = JSONObject(),
        form: UInt64? = nil
    ) {
        storage = Storage(
            Members(
                text: text,
                author: author,
                authorName: authorName,
                createdAt: createdAt,
                editedAt: editedAt,
                replyTo: replyTo,
                tags: tags,
                files: files,
                images: images,
                attachments: attachments,
                extra: extra,
                form: form
            )
        )
    }

    /// The members, to be changed.
    private mutating func own() -> Storage {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.members) }
        return storage
    }

    var text: MessageText {
        get { storage.members.text }
        set { own().members.text = newValue }
    }

    /// True if both are unchanged copies of one saying; false proves nothing.
    func isSameCopy(of other: MessageSaying) -> Bool { storage === other.storage }

    /// Goes on with the text. Cost: as `MessageText.append`, unless a copy of the saying is kept.
    mutating func append(_ more: String) { own().members.text.append(more) }

    /// The author's id or address, and the name for display that this version gave.
    var author: String? {
        get { storage.members.author }
        set { own().members.author = newValue }
    }

    var authorName: String? {
        get { storage.members.authorName }
        set { own().members.authorName = newValue }
    }

    var createdAt: Timestamp? {
        get { storage.members.createdAt }
        set { own().members.createdAt = newValue }
    }

    var editedAt: Timestamp? {
        get { storage.members.editedAt }
        set { own().members.editedAt = newValue }
    }

    /// The message that this one replies to, in the same channel.
    var replyTo: EntityID? {
        get { storage.members.replyTo }
        set { own().members.replyTo = newValue }
    }

    var tags: [String]? {
        get { storage.members.tags }
        set { own().members.tags = newValue }
    }

    var files: [String]? {
        get { storage.members.files }
        set { own().members.files = newValue }
    }

    var images: [String]? {
        get { storage.members.images }
        set { own().members.images = newValue }
    }

    /// Texts, or objects where the remote gives more than a text.
    var attachments: [JSONValue]? {
        get { storage.members.attachments }
        set { own().members.attachments = newValue }
    }

    var extra: JSONObject {
        get { storage.members.extra }
        set { own().members.extra = newValue }
    }

    /// A hash of the surrounding notation (front matter), where a change of that alone is a revision too; under the log's key
    /// (`FrameKey`), so that the remote cannot make up two with one hash. Means nothing under another key.
    var form: UInt64? {
        get { storage.members.form }
        set { own().members.form = newValue }
    }
}

extension MessageSaying: Hashable {
    static func == (left: MessageSaying, right: MessageSaying) -> Bool {
        left.storage === right.storage || left.storage.members == right.storage.members
    }

    func hash(into hasher: inout Hasher) { storage.members.hash(into: &hasher) }
}

extension MessageSaying: Codable {
    init(from decoder: any Decoder) throws { storage = Storage(try Members(from: decoder)) }

    func encode(to encoder: any Encoder) throws { try storage.members.encode(to: encoder) }
}
