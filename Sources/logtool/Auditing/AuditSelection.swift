import EventLog
import Projections

/// The things and changes that the options of an audit choose.
struct AuditSelection {
    private let options: AuditOptions
    private let text: TextMatch?
    private let things: HistorySelection

    /// - Throws: `Failure` with exit code 1 if the log has no such source.
    init(_ options: AuditOptions, in session: borrowing ReadSession) throws {
        self.options = options
        text = options.match.text
        things = try HistorySelection(options.selectors, in: session)
    }

    /// Whether a thing is of the requested source and channel, or is the requested entity.
    func includes(_ thing: EntityReference) -> Bool {
        things.includes(thing)
    }

    /// Whether a change is of the requested kind, range, author and text.
    func includes(_ change: AuditEntry) -> Bool {
        guard things.includes(change.entry.sequence), isOfKind(change) else { return false }
        if let by = options.by, change.entry.by.map({ isSame($0, by) }) != true { return false }
        if let author = options.author, !isWritten(by: author, change) { return false }
        guard let text else { return true }
        return [change.before, change.after].contains { fields in
            fields.map { EntryTexts.texts(of: $0).contains { text.range(in: $0.text) != nil } } ?? false
        }
    }

    private func isOfKind(_ change: AuditEntry) -> Bool {
        guard options.edits || options.deletes || !options.change.isEmpty else { return true }
        if options.edits && change.class == .edit || options.deletes && change.class == .delete { return true }
        let words = [change.class.rawValue, change.entry.change] + change.entry.kinds
        return options.change.contains { asked in words.contains { isSame($0, asked) } }
    }

    /// Whether somebody wrote the thing, before or after the change.
    private func isWritten(by author: String, _ change: AuditEntry) -> Bool {
        [change.before, change.after].contains { fields in
            ["author", "authorName"].contains { fields?[$0]?.string.map { isSame($0, author) } == true }
        }
    }

    private func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}
