import EventLog

/// The text of a message. A type of its own, so that it can become a reference into the log.
struct MessageText: Hashable, Codable, Sendable {
    private let text: ExactText

    init(_ text: String) {
        self.text = ExactText(text)
    }

    /// The text itself.
    var string: String { text.string }
}

/// The content of a version. Versions with equal content are repeats of one another. `nil` is an absent member, unlike an
/// empty list.
struct MessageSaying: Hashable, Codable, Sendable {
    var text: MessageText
    /// The author's id or address, and the name for display that this version gave.
    var author: String?
    var authorName: String?
    var createdAt: Timestamp?
    var editedAt: Timestamp?
    /// The message that this one replies to, in the same channel.
    var replyTo: EntityID?
    var tags: [String]?
    var files: [String]?
    var images: [String]?
    /// Texts, or objects where the remote gives more than a text.
    var attachments: [JSONValue]?
    var extra = JSONObject()
    /// A hash of the surrounding notation (front matter), where a change of that alone is a revision too; under the log's key
    /// (`FrameKey`), so that the remote cannot make up two with one hash. Means nothing under another key.
    var form: UInt64?
}
