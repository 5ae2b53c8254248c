import EventLog
import Projections

/// The things and changes that the options of an audit choose. All options must fit; within `--edits`, `--deletes` and
/// `--change`, one is enough.
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

    /// True if a thing is of the requested source and channel, or is the requested entity. Tested before the thing's
    /// history is read.
    func includes(_ thing: EntityReference) -> Bool {
        things.includes(thing)
    }

    /// True if a change is of the requested kind, range, author and text. The text may be on either side of the change.
    func includes(_ change: AuditEntry) -> Bool {
        guard things.includes(change.entry.sequence), isOfKind(change) else { return false }
        if let by = options.by, change.entry.by.map({ isSame($0, by) }) != true { return false }
        if let author = options.author, !isWritten(by: author, change) { return false }
        guard let text else { return true }
        return [change.before, change.after].contains { fields in
            fields.map { EntryTexts.texts(of: $0).contains { text.range(in: $0.text) != nil } } ?? false
        }
    }

    /// True if no kind was requested, or one of the requested words fits.
    private func isOfKind(_ change: AuditEntry) -> Bool {
        guard options.edits || options.deletes || !options.change.isEmpty else { return true }
        if options.edits && change.class == .edit || options.deletes && change.class == .delete { return true }
        let words = [change.class.rawValue, change.entry.change] + change.entry.kinds
        return options.change.contains { asked in words.contains { isSame($0, asked) } }
    }

    /// True if somebody wrote the thing, before or after the change.
    private func isWritten(by author: String, _ change: AuditEntry) -> Bool {
        [change.before, change.after].contains { fields in
            ["author", "authorName"].contains { fields?[$0]?.string.map { isSame($0, author) } == true }
        }
    }

    /// Compares bytes: Swift's `==` takes composed and decomposed accents for equal, and two authors may differ in that
    /// alone.
    private func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}
