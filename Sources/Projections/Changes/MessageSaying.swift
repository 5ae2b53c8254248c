import EventLog

/// The text of a message. A type of its own, so that it can become a reference into the log.
struct MessageText: Hashable, Sendable {
    private let text: ExactText

    init(_ text: String) {
        self.text = ExactText(text)
    }

    /// The text itself.
    var string: String { text.string }
}

/// The content of a version. Versions with equal content are repeats of one another. The members mean what those of
/// `MessageWrite` mean; `nil` is an absent member, unlike an empty list.
struct MessageSaying: Hashable, Sendable {
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
    var extra = JSONObject()
    var form: UInt64?
}

extension MessageWrite {
    /// Makes a version with a content.
    init(key: MessageKey, order: MessageOrder, saying: MessageSaying) {
        self.init(
            key: key,
            order: order,
            author: saying.author,
            authorName: saying.authorName,
            createdAt: saying.createdAt,
            editedAt: saying.editedAt,
            content: saying.text.string,
            replyTo: saying.replyTo,
            tags: saying.tags,
            files: saying.files,
            images: saying.images,
            attachments: saying.attachments,
            extra: saying.extra,
            form: saying.form
        )
    }

    /// The content of the version.
    var saying: MessageSaying {
        MessageSaying(
            text: MessageText(content),
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
    }
}
