import EventLog

/// One version of a message as the fold keeps it. `version` decides which one wins (`MessageRule`), `order` the message's
/// place among others, `saying` is the content.
struct MessageRevision: Sendable {
    typealias Saying = MessageSaying

    let version: Timestamp?
    var order: MessageOrder
    private(set) var saying: Saying

    init(version: Timestamp?, order: MessageOrder, saying: Saying) {
        self.version = version
        self.order = order
        self.saying = saying
    }

    init(_ write: MessageWrite) {
        self.init(version: write.version, order: write.order, saying: write.saying)
    }

    /// Goes on with the text. Cost: as `MessageText.append`.
    mutating func append(_ more: String) { saying.append(more) }

    /// The version with the beginning of its text.
    func beginning(textBytes: Int) -> MessageRevision {
        var saying = saying
        saying.text = MessageText(String(decoding: saying.text.string.utf8.prefix(textBytes), as: UTF8.self))
        return MessageRevision(version: version, order: order, saying: saying)
    }

    /// What versions of one message are compared by.
    var rank: Rank { Rank(version: version) }

    /// Compares versions: the later instant is the greater version, none is the least.
    struct Rank: Comparable {
        let version: Timestamp?

        static func < (left: Rank, right: Rank) -> Bool {
            guard let other = right.version else { return false }
            return left.version.map { $0 < other } ?? true
        }
    }
}

extension MessageSaying {
    /// The members of the state document that come from a version, with `replyTo` as an id. Members without a value are
    /// left out.
    func members(names: Names) -> JSONObject {
        members(replyingTo: replyTo.map { .string(names.text($0)) })
    }

    /// - Parameter parent: the value of the member `replyTo`; `nil` leaves it out.
    func members(replyingTo parent: JSONValue?) -> JSONObject {
        [
            "author": .text(author),
            "authorName": .text(authorName),
            "createdAt": .text(createdAt?.description),
            "editedAt": .text(editedAt?.description),
            "content": .string(text.string),
            "replyTo": parent,
            "tags": tags.map(Self.texts),
            "files": files.map(Self.texts),
            "images": images.map(Self.texts),
            "attachments": attachments.map { .array($0) },
            "extra": extra.members.isEmpty ? nil : .object(extra),
        ]
    }

    /// A list keeps the remote's order; an empty one stays a member, unlike an absent one.
    private static func texts(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
}

extension Timestamp {
    /// `[seconds since 1970, nanoseconds]`, for normal forms and facts. Exact to the nanosecond, unlike `description`.
    var normalForm: JSONValue { .array([.int(seconds), .int(nanoseconds)]) }

    /// Reads what `normalForm` gave; `nil` for anything else.
    init?(normalForm: JSONValue?) {
        guard let pair = normalForm?.array, pair.count == 2, let seconds = pair[0].number?.int64,
            let nanoseconds = pair[1].number?.int64.flatMap(UInt32.init(exactly:)), nanoseconds < 1_000_000_000
        else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}
