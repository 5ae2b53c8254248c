import EventLog
import JSON

/// One version of a message in either form of the store. It answers for both, so that nothing that reads versions tells
/// them apart.
enum LentVersion {
    /// `object` holds the members that the store keeps verbatim.
    case packed(PackedVersion, author: UInt64, name: JSONText?, text: JSONText, object: UnsafeRawBufferPointer)
    /// Indirect, as it would make every lent row twice as large.
    indirect case saying(MessageSaying)

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
        case .packed(let version, _, _, _, _): LentValue(version.createdAt.timestamp)
        case .saying(let saying): LentValue(saying.createdAt)
        }
    }

    var editedAt: LentValue {
        switch self {
        case .packed(let version, _, _, _, _): LentValue(version.editedAt.timestamp)
        case .saying(let saying): LentValue(saying.editedAt)
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

    var tags: LentValue { list { $0.tags } }
    var files: LentValue { list { $0.files } }
    var images: LentValue { list { $0.images } }

    /// A list keeps the remote's order; an empty one stays a member, unlike an absent one. Packed versions have none of
    /// these lists.
    @inline(__always)
    private func list(_ texts: (MessageSaying) -> [String]?) -> LentValue {
        guard case .saying(let saying) = self else { return .none }
        return LentValue(texts(saying).map { texts in .array(texts.map { .string($0) }) })
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

extension MessageStore {
    /// Lends a version of a packed message.
    @inline(__always)
    func withVersion<Result>(
        _ version: PackedVersion,
        _ body: (LentVersion) throws -> Result
    ) rethrows -> Result {
        try texts.withText(version.text) { text, object in
            try authors.withName(version.author) { name in
                let author = authors.id(version.author)
                return try body(.packed(version, author: author, name: name, text: text, object: object))
            }
        }
    }

    /// Lends the current version of the message with a cell; `nil` if none is known.
    @inline(__always)
    func withCurrent<Result>(_ cell: MessageCell, _ body: (LentVersion?) throws -> Result) rethrows -> Result {
        if cell.form == .record { return try body(records[Int(cell.last)].current.map { .saying($0.saying) }) }
        if cell.form == .written { return try body(.saying(saying(ofWritten: cell))) }
        guard let version = version(of: cell) else { return try body(nil) }
        return try withVersion(version) { try body($0) }
    }
}
