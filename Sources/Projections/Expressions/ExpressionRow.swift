import EventLog

/// A row that an expression looks at. Of a message's row, only the members that are asked for are made.
///
/// An object that moves from message to message, so that a row of which nothing is asked costs nothing. It belongs to one
/// evaluation, and is of no use after `body` has returned.
final class ExpressionRow {
    private let source: SourceState?
    private let section: Section
    private let context: RowContext?
    private var place = 0
    private var made: JSONValue?

    /// A row that was made.
    init(_ value: JSONValue) {
        source = nil
        section = .issues
        context = nil
        made = value
    }

    /// A row that will be a message of a source, live or deleted.
    init(messageOf source: SourceState, in section: Section, context: RowContext) {
        self.source = source
        self.section = section
        self.context = context
    }

    /// Becomes the row of the message at a place.
    func move(toMessageAt place: Int) {
        self.place = place
        made = nil
    }

    /// The whole row.
    var value: JSONValue {
        if let made { return made }
        guard let source, let context else { return .null }
        let message = source.parts.messages.store.key(at: place)
        let key = EntityKey(section, message.channel, message.id)
        let row = source.parts.messages.row(for: key, context: context).map(source.withSource) ?? .null
        made = row
        return row
    }

    /// A member of the row; null where it has none.
    subscript(name: String) -> JSONValue {
        if made == nil, let source, let member = source.member(name, ofMessageAt: place) { return member }
        return value[name] ?? .null
    }
}

extension SourceState {
    /// A member that every message has in its row, or may lack there as null; `nil` for one that needs the whole row.
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
        guard cell.form == .packed else {
            let saying = store.records[Int(cell.last)].current?.saying
            return (name == "content" ? saying?.text.string : saying?.author).map { .string($0) } ?? .null
        }
        guard let version = store.version(of: cell) else { return .null }
        return .string(name == "content" ? store.texts.string(version.text) : String(store.authors.id(version.author)))
    }
}
