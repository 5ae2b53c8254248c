import EventLog
import Projections

/// The things and changes that the options of an audit choose. All options must fit; within `--edits`, `--deletes` and
/// `--change`, one is enough.
struct AuditSelection {
    private let options: AuditOptions
    private let text: TextMatch?
    private let things: HistorySelection
    /// The ids of the people that `--author` and `--by` mean; `nil` without them.
    private let author: String?
    private let doer: String?
    /// The requested entity, if a compaction dropped it.
    let dropped: DroppedMessage?

    /// - Throws: `Failure` with exit code 1 if the log has no such source, channel, thing or person, with exit code 2 if
    ///   several channels or people fit.
    init(_ options: AuditOptions, of state: LogState, in session: borrowing ReadSession) throws {
        self.options = options
        text = options.match.text
        var selectors = options.selectors
        try KnownNames(session).check(source: selectors.source)
        var dropped: DroppedMessage?
        if let entity = selectors.entity, state.find(entity).isEmpty {
            dropped = try EntityArgument.dropped(entity, in: state, of: session)
            selectors.entity = try dropped?.entity ?? EntityArgument.only(entity, in: state, of: session)
        }
        self.dropped = dropped
        things = try HistorySelection(try selectors.resolved(in: state), in: session)
        // Read once: both options mean people.
        let known = options.author == nil && options.by == nil ? [] : state.authors(of: selectors.source)
        author = try options.author.map { try Self.id(of: $0, among: known) }
        doer = try options.by.map {
            try Self.id(of: $0, among: known + state.doers(to: options.kinds, of: selectors.source))
        }
    }

    /// The id that a text means: it is one, or the name that goes with one.
    ///
    /// - Throws: `Failure` with exit code 1 that lists who there is if nobody fits; with exit code 2 and the ids if several
    ///   people have the name.
    private static func id(of wanted: String, among known: [LogState.Person]) throws -> String {
        if known.contains(where: { $0.hasID(wanted) }) { return wanted }
        let named = known.filter { $0.isCalled(wanted) }
        if let first = named.first, named.allSatisfy({ $0.hasID(first.id) }) { return first.id }
        let shown = { (people: [LogState.Person]) in
            let texts = people.map { $0.name == nil || $0.name == $0.id ? $0.id : "\($0.name ?? "") (\($0.id))" }
            return Set(texts).sorted()
        }
        guard named.isEmpty else {
            let matches = shown(named).prefix(10).joined(separator: ", ")
            throw Failure("find author \"\(wanted)\": several people fit: \(matches); name one by the id")
        }
        let words = Set(known.flatMap { [$0.id, $0.name].compactMap { $0 } }).sorted()
        throw KnownNames.failure("author", wanted, shown(known), words: words, ifNone: "it tells of nobody")
    }

    /// True if a thing is of the requested source and channel, or is the requested entity. Tested before the thing's
    /// history is read.
    func includes(_ thing: EntityReference) -> Bool {
        things.includes(thing)
    }

    /// True if a change is of the requested kind, range, author and text. The text may be on either side of the change.
    func includes(_ change: AuditEntry) -> Bool {
        guard things.includes(change.entry.sequence), isOfKind(change) else { return false }
        if let doer, change.entry.by.map({ isSame($0, doer) }) != true { return false }
        if let author, !isWritten(by: author, change) { return false }
        guard let text else { return true }
        return [change.before, change.after].contains { fields in
            fields.map { EntryTexts.texts(of: $0).contains { text.range(in: $0.text) != nil } } ?? false
        }
    }

    /// True if a late version that changed nothing is an edit that would be listed, had it come in time.
    func includes(late entry: HistoryEntry) -> Bool {
        let words = ["edit", "edited"]
        let isOfKind = options.edits || options.change.contains { asked in words.contains { isSame($0, asked) } }
        guard isOfKind || (!options.deletes && options.change.isEmpty), things.includes(entry.sequence) else {
            return false
        }
        if let doer, entry.by.map({ isSame($0, doer) }) != true { return false }
        let writer = entry.fields["author"]?.string ?? entry.fields["authorName"]?.string
        if let author, writer.map({ isSame($0, author) }) != true { return false }
        guard let text else { return true }
        return EntryTexts.texts(of: entry.fields).contains { text.range(in: $0.text) != nil }
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
            (fields?["author"]?.string ?? fields?["authorName"]?.string).map { isSame($0, author) } == true
        }
    }

    /// Compares bytes: Swift's `==` takes composed and decomposed accents for equal, and two authors may differ in that
    /// alone.
    private func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}
