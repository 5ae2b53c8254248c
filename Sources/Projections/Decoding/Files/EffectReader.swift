import EventLog

/// Reads the ids and members of one effect.
struct EffectReader {
    let effect: DecoderEffect
    let inner: DecoderScope
    /// Whether the effect's step has entered the value of `from`.
    let isEntered: Bool
    /// Where the values are that are read outside of that.
    var outer: DecoderScope { isEntered ? inner.outside : inner }

    /// What an id is found as, from `at` or the shape; `nil` if nothing is there.
    func found(_ name: DecoderName) -> DecoderFound? {
        read(name, effect.ids) { $0.value($1) } ?? nil
    }

    /// An id; `nil` if it is no text or number.
    func id(_ name: DecoderName) -> String? { found(name)?.writtenText }

    /// The id of the event itself.
    var own: String? { effect.own.flatMap { inner.value($0)?.writtenText } }

    func value(_ name: DecoderName) -> JSONValue? {
        read(name, effect.outerMembers) { $0.value($1)?.value } ?? nil
    }

    /// The value of a column.
    func value(named name: String) -> JSONValue? {
        if let value = effect.outerMembers[named: name] {
            let outer = outer
            outer.noteRead(name, value)
            return outer.value(value)?.value
        }
        guard let value = effect.members[named: name] else { return nil }
        inner.noteRead(name, value)
        return inner.value(value)?.value
    }

    func text(_ name: DecoderName, keepsEmpty: Bool = false) -> DecoderScope.Stated<String> {
        read(name, effect.outerMembers) { $0.text($1, keepsEmpty: keepsEmpty) } ?? .unstated
    }

    func time(_ name: DecoderName) -> DecoderScope.Stated<Timestamp> {
        read(name, effect.outerMembers) { $0.time($1) } ?? .unstated
    }

    func list(_ name: DecoderName) -> DecoderScope.Stated<[JSONValue]> {
        read(name, effect.outerMembers) { $0.stated($1) { $0.value.array } } ?? .unstated
    }

    /// Reads what a name stands for among the values that are read outside, or else in the shape; `nil` if it stands for nothing.
    @inline(__always)
    private func read<Result>(
        _ name: DecoderName,
        _ outside: DecoderValues,
        _ body: (DecoderScope, DecoderValue) -> Result
    ) -> Result? {
        if let value = outside[name] {
            let outer = outer
            outer.noteRead(name.text, value)
            return body(outer, value)
        }
        guard let value = effect.members[name] else { return nil }
        inner.noteRead(name.text, value)
        return body(inner, value)
    }
}

/// What an event says of a message.
struct StatedMessage {
    let author: DecoderScope.Stated<String>
    let version: DecoderScope.Stated<Timestamp>
    private let authorName, content, replyTo: DecoderScope.Stated<String>
    private let createdAt, editedAt: DecoderScope.Stated<Timestamp>
    private let tags, attachments: DecoderScope.Stated<[JSONValue]>
    private let parent: EntityID?
    /// The first member that has another type; `nil` if all can be read.
    let fault: String?

    init(_ reader: EffectReader, _ names: inout Names) {
        (author, authorName) = (reader.text(.author), reader.text(.authorName))
        (content, replyTo) = (reader.text(.content, keepsEmpty: true), reader.text(.replyTo))
        (createdAt, editedAt) = (reader.time(.createdAt), reader.time(.editedAt))
        version = reader.time(.version)
        (tags, attachments) = (reader.list(.tags), reader.list(.attachments))
        parent = replyTo.known.map { names.id($0) }
        fault =
            if author.isFault { "author" } else if authorName.isFault { "authorName" } else if content.isFault {
                "content"
            } else if replyTo.isFault { "replyTo" } else if createdAt.isFault { "createdAt" } else if editedAt.isFault {
                "editedAt"
            } else if version.isFault { "version" } else if tags.isFault { "tags" } else if attachments.isFault {
                "attachments"
            } else { nil }
    }

    /// Whether a member has a value.
    func has(_ name: DecoderName) -> Bool {
        switch name {
        case .author: author.known != nil
        case .authorName: authorName.known != nil
        case .content: content.known != nil
        case .replyTo: parent != nil
        case .createdAt: createdAt.known != nil
        case .editedAt: editedAt.known != nil
        case .version: version.known != nil
        case .tags: tags.known != nil
        case .attachments: attachments.known != nil
        default: false
        }
    }

    func write(_ key: MessageKey, _ order: MessageOrder) -> MessageWrite {
        let saying = MessageSaying(
            text: MessageText(content.known ?? ""),
            author: author.known,
            authorName: authorName.known,
            createdAt: createdAt.known,
            editedAt: editedAt.known,
            replyTo: parent,
            tags: tags.known?.compactMap(\.writtenText),
            attachments: attachments.known
        )
        var write = MessageWrite(key: key, version: version.known, order: order, saying: saying)
        write.remoteTime = editedAt.known ?? createdAt.known
        write.isOfChannel = true
        return write
    }

    /// The members that a patch changes in a message that is known: those that the event tells, and of these the ones
    /// that the file lists.
    func members(changing listed: Set<DecoderName>?) -> MessageMembers {
        var members: MessageMembers = []
        func add(_ name: DecoderName, _ isStated: Bool, _ member: MessageMembers) {
            if isStated, listed?.contains(name) ?? true { members.insert(member) }
        }
        add(.author, author.isStated, .author)
        add(.authorName, authorName.isStated, .authorName)
        add(.content, content.known != nil, .content)
        add(.createdAt, createdAt.isStated, .createdAt)
        add(.editedAt, editedAt.isStated, .editedAt)
        add(.replyTo, replyTo.isStated, .replyTo)
        add(.tags, tags.isStated, .tags)
        add(.attachments, attachments.isStated, .attachments)
        if version.isStated { members.insert(.version) }
        return members
    }
}
