import EventLog

/// The contents of a message file: its front matter's members and its body.
struct FrontMatter: Hashable, Sendable {
    /// `from`, as written.
    var from: String
    var date: Timestamp
    /// The name of the file that this one replies to, without `.md`.
    var replyTo: String?
    /// `nil` if the key is absent, like the lists below. The elements are in the file's order.
    var tags: [String]?
    var files: [String]?
    var images: [String]?
    var attachments: [JSONValue]?
    /// `nil` if the key is absent or its value is no known date.
    var edited: Timestamp?
    /// All other keys, and an `edited` or `reply_to` whose value has the wrong form.
    var extra = JSONObject()
    var content: String
    /// Hash of the front matter as written, without its delimiters: a date rewritten in another form is a change.
    var fingerprint: UInt64

    /// The longest front matter that is read, in bytes: people and clients write far less.
    static let bytesMax = 256 << 10

    /// Reads a message file.
    ///
    /// - Parameters:
    ///   - reader: How the parts of the file are read.
    ///   - key: That of the fingerprint.
    /// - Throws: `MessageFile.Fault` if the front matter is missing, too long or malformed, or lacks `from` or a readable
    ///   `date`.
    init(file text: String, by reader: some MessageFileReader, key: FrameKey = .none) throws(MessageFile.Fault) {
        guard let file = reader.file(text) else {
            throw MessageFile.Fault(reason: "it has no front matter between two lines ---")
        }
        guard file.frontMatter.utf8.count <= Self.bytesMax else {
            throw MessageFile.Fault(reason: "its front matter is too long")
        }
        try self.init(members: reader.members(of: file), content: file.content, by: reader)
        var frontMatter = file.frontMatter
        fingerprint = frontMatter.withUTF8 { UInt64(truncatingIfNeeded: key.hash(UnsafeRawBufferPointer($0))) }
    }

    /// The message as a fold keeps it.
    func saying(names: inout Names) -> MessageSaying {
        MessageSaying(
            text: MessageText(content),
            author: from,
            createdAt: date,
            editedAt: edited,
            replyTo: replyTo.map { names.id($0) },
            tags: tags,
            files: files,
            images: images,
            attachments: attachments,
            extra: extra,
            form: fingerprint
        )
    }

    /// Takes the members. The caller sets the fingerprint.
    private init(members: JSONObject, content: String, by reader: some MessageFileReader) throws(MessageFile.Fault) {
        guard let from = members["from"]?.string else {
            throw MessageFile.Fault(reason: "its front matter has no from")
        }
        guard let dateValue = members["date"] else { throw MessageFile.Fault(reason: "its front matter has no date") }
        guard let date = reader.instant(dateValue) else {
            throw MessageFile.Fault(reason: "its date is in no known form")
        }
        self.from = from
        self.date = date
        self.content = content
        fingerprint = 0
        for member in members.members { take(member.name, member.value, by: reader) }
    }

    /// Takes one member: a field if its value has a form that the field can have, else an extra.
    private mutating func take(_ name: String, _ value: JSONValue, by reader: some MessageFileReader) {
        switch (name, value) {
        case ("from", _), ("date", _), (_, .null): break
        case ("reply_to", .string(let name)): replyTo = reader.parent(named: name)
        case ("tags", _): tags = reader.list(value)?.map(Self.text)
        case ("files", _): files = reader.list(value)?.map(Self.text)
        case ("images", _): images = reader.list(value)?.map(Self.text)
        case ("attachments", _): attachments = reader.list(value)
        case ("edited", _):
            edited = reader.instant(value)
            if edited == nil, reader.keeps(name) { extra[name] = value }
        default: if reader.keeps(name) { extra[name] = value }
        }
    }

    /// A list element as text: a text itself, anything else as canonical JSON.
    private static func text(_ element: JSONValue) -> String {
        element.string ?? element.canonicalText
    }
}
