import EventLog

/// A row that an expression reads. For a message, only the members that are read are made.
///
/// A class that moves from message to message, so that rows that are not read cost nothing. It belongs to one
/// evaluation on one thread and must not be kept after `body` has returned: the next `move` changes it.
final class ExpressionRow: ExpressionSubject {
    /// The state of a row that is made on demand; `nil`, like `context`, for a row made before.
    private let source: SourceState?
    private let section: Section
    private let context: RowContext?
    /// The message's place in the store.
    private var place = 0
    /// The whole row, once it was needed; `nil` until then.
    private var made: JSONValue?

    /// A row with a value that was made before.
    init(_ value: JSONValue) {
        source = nil
        section = .issues
        context = nil
        made = value
    }

    /// A row for the messages of a source, live or deleted; `move` chooses which. Before the first `move` it must not
    /// be read.
    init(messageOf source: SourceState, in section: Section, context: RowContext) {
        self.source = source
        self.section = section
        self.context = context
    }

    /// Makes this the row of the message at a place.
    func move(toMessageAt place: Int) {
        self.place = place
        made = nil
    }

    /// The whole row. Cost: that of making the row, once after each `move`.
    var value: JSONValue {
        if let made { return made }
        guard let source, let context else { return .null }
        let message = source.parts.messages.store.key(at: place)
        let key = EntityKey(section, message.channel, message.id)
        let row = source.parts.messages.row(for: key, context: context).map(source.withSource) ?? .null
        made = row
        return row
    }

    /// A member of the row; null if absent.
    subscript(name: String) -> JSONValue {
        if made == nil, let source, let member = source.member(name, ofMessageAt: place) { return member }
        return value[name] ?? .null
    }
}

extension SourceState {
    /// A member of a message's row, null if absent, made without the row; `nil` for a member that needs the whole row.
    /// Gives exactly what the row has under the name.
    fileprivate func member(_ name: String, ofMessageAt place: Int) -> JSONValue? {
        let store = parts.messages.store
        switch name {
        case "source": return .string(self.name.rawValue)
        case "channel": return .string(context.names.text(store.key(at: place).channel))
        case "id": return .string(context.names.text(store.key(at: place).id))
        case "content", "author": break
        default: return nil
        }
        let cell = store.cells[place]
        guard cell.form.isPacked else {
            let saying =
                cell.form == .written ? store.saying(ofWritten: cell) : store.records[Int(cell.last)].current?.saying
            return (name == "content" ? saying?.text.string : saying?.author).map { .string($0) } ?? .null
        }
        guard let version = store.version(of: cell) else { return .null }
        return .string(name == "content" ? store.texts.string(version.text) : String(store.authors.id(version.author)))
    }
}
