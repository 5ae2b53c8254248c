import EventLog

/// One message: its standing, its current version and its history. Holds everything that a message can have but its
/// reactions, which `ReactionTable` has.
///
/// A record knows only its own events. `Messages` adds the fate of the channel, so read the state there
/// (`Messages.state(of:)`, `Messages.end(of:)`).
struct MessageRecord: Sendable {
    /// The standing by the message's own events. The end of its channel overrules it (`Messages.end(of:)`).
    enum Standing: Sendable {
        /// Neither live nor deleted: only reactions are known, it has moved away, or it is no message at this tip.
        case nowhere
        case live
        /// Indirect, as few messages are deleted and every record has room for a standing.
        indirect case deleted(End)
    }

    /// How the message was deleted. `deletedAt` is the remote's time, `deletedBy` its author and `version` the remote's version of a
    /// deletion until written, each `nil` where the remote gives none; `since` is the event that deleted the message.
    struct End: Hashable, Sendable {
        var cause: MessageDeletion.Cause
        var permanence: Permanence
        var deletedAt: Timestamp?
        var deletedBy: String?
        var version: Timestamp?
        var since: EventReference
    }

    var key: MessageKey
    var standing = Standing.nowhere
    /// The current version; of a deleted message, the last one; `nil` if no version was ever seen.
    var current: MessageRevision?
    /// The history in log order, oldest first. Reactions and places in a list are not entries.
    private(set) var entries: [Entry] = []
    /// For each version, the indexes in `entries` of its writes that were not replaced, in order. Made when it is needed.
    private var writes: [Timestamp?: [Int]]?
    /// The sequence of the last event that gave the message a place in the remote's own list. It need not be a
    /// revision, so a compaction would not find it among the entries.
    var placedBy: UInt64?
    /// The keys that the message moved from or to, each once. A compaction keeps relatives together.
    private(set) var relatives: [MessageKey] = []

    init(key: MessageKey) {
        self.key = key
    }

    /// Makes the record of a packed or saved message.
    ///
    /// - Parameter entries: in log order; not checked.
    init(key: MessageKey, standing: Standing, current: MessageRevision?, entries: [Entry]) {
        self.key = key
        self.standing = standing
        self.current = current
        self.entries = entries
    }

    /// The number of revisions: distinct versions or, where arrival decides, versions with a new content. O(entries).
    var revisionCount: Int { entries.count { $0.isNewRevision } }

    /// Whether a version was ever seen. Stays true if the message has moved away or stands nowhere.
    var wasWritten: Bool { entries.contains { $0.revision != nil } }

    /// Inserts an entry in log order, behind others of the same event. Only a channel's end and inherited entries can
    /// be older than the last entry, so O(1) as a rule.
    mutating func enter(_ entry: Entry) {
        let sequence = entry.event.sequence
        if goesOn(with: entry) { return }
        guard let last = entries.last, last.event.sequence > sequence else {
            entries.append(entry)
            if entry.isStandingWrite { writes?[entry.revision?.version, default: []].append(entries.count - 1) }
            return
        }
        entries.insert(entry, at: entries.partitioningIndex { $0.event.sequence > sequence })
        writes = nil
    }

    /// Joins an entry of a streamed text to the last one, if that has the same version and nothing else changed: a revision for
    /// each piece of a text would take the square of its length. False if there is none.
    private mutating func goesOn(with entry: Entry) -> Bool {
        guard entry.appended != nil, let last = entries.last, last.appended != nil, !last.isReplaced,
            last.event.sequence < entry.event.sequence, last.arrival == .inTime, entry.arrival == .inTime,
            let known = last.revision, let revision = entry.revision, known.version == revision.version
        else { return false }
        var saying = known.saying
        saying.text = revision.saying.text
        guard saying == revision.saying else { return false }
        let place = entries.count - 1
        entries[place].appended?.append(
            Entry.Piece(event: last.event, textBytes: known.saying.text.string.utf8.count)
        )
        (entries[place].event, entries[place].revision) = (entry.event, revision)
        return true
    }

    /// Takes a piece of a streamed text in place, as `goesOn` would: a copy of the text for each piece would take the square of
    /// its length. False, without a change, if the last entry is not one of the current version that goes on.
    mutating func takePiece(_ more: String, at event: EventReference) -> Bool {
        guard let textBytes = textBytes(before: event) else { return false }
        if more.isEmpty { return true }
        let place = entries.count - 1
        guard let order = current?.order, var revision = entries[place].revision else { return false }
        // Whoever else holds the text would make a copy of it.
        current = nil
        entries[place].revision = nil
        revision.append(more)
        let piece = Entry.Piece(event: entries[place].event, textBytes: textBytes)
        entries[place].appended?.append(piece)
        (entries[place].event, entries[place].revision) = (event, revision)
        current = MessageRevision(version: revision.version, order: order, saying: revision.saying)
        return true
    }

    /// The length of the current text if a piece may go on with it; else `nil`.
    private func textBytes(before event: EventReference) -> Int? {
        guard case .live = standing, let current, let last = entries.last, last.appended != nil, !last.isReplaced,
            last.arrival == .inTime, last.event.sequence < event.sequence, let known = last.revision,
            known.version == current.version, known.saying.isSameCopy(of: current.saying)
        else { return nil }
        return current.saying.text.string.utf8.count
    }

    /// The entries with those that were joined apart, in log order. Cost: O(entries and texts).
    var history: [Entry] {
        if entries.allSatisfy({ $0.appended?.isEmpty ?? true }) { return entries }
        return entries.flatMap { entry in
            (entry.appended ?? []).map { piece in
                var earlier = entry
                (earlier.event, earlier.appended) = (piece.event, [])
                earlier.revision = entry.revision?.beginning(textBytes: piece.textBytes)
                return earlier
            } + [entry]
        }
    }

    /// The fewest entries for which an index of their versions is made.
    private static let indexedCountMin = 32

    /// The last write of a version that was not replaced. Cost: O(1), but for the first time after an entry was inserted
    /// among others.
    mutating func lastWrite(of version: Timestamp?) -> Entry? {
        guard entries.count >= Self.indexedCountMin else {
            // Through a pointer, so that no entry is copied; the version first, which mostly differs.
            let index = entries.withUnsafeBufferPointer { entries in
                entries.indices.last { entries[$0].revision?.version == version && entries[$0].isStandingWrite }
            }
            return index.map { entries[$0] }
        }
        indexWrites()
        return writes?[version]?.last.map { entries[$0] }
    }

    private mutating func indexWrites() {
        guard writes == nil else { return }
        let standing = entries.indices.filter { entries[$0].isStandingWrite }
        writes = Dictionary(grouping: standing) { entries[$0].revision?.version }
    }

    /// Removes a version from the revisions because an earlier version with the same content arrived late.
    mutating func replace(_ version: Timestamp) {
        indexWrites()
        for index in writes?.removeValue(forKey: version) ?? [] {
            entries[index].isNewRevision = false
            entries[index].isReplaced = true
        }
    }

    /// Takes over the history and the current version of a message that moved here. An event that both know is entered
    /// once.
    mutating func inherit(_ other: MessageRecord) {
        let known = Set(entries.map(\.event.sequence))
        for entry in other.entries where !known.contains(entry.event.sequence) { enter(entry) }
        current = other.current
        placedBy = other.placedBy
    }

    /// Makes the record that of a message which is no message any more. One that was none already stays as it is.
    mutating func becomeUnreadable(remoteTime: Timestamp?, by: String?, at event: EventReference) {
        if case .nowhere = standing { return }
        if let current {
            enter(Entry(event: event, happening: .unreadable, revision: current, remoteTime: remoteTime, by: by))
        }
        standing = .nowhere
    }

    /// Whether the message has moved to another key and has not come back.
    var hasMovedAway: Bool {
        guard case .nowhere = standing, case .moved(let from, _) = entries.last?.happening else { return false }
        return from == key
    }

    /// Notes the version that came with the move in the last entry.
    mutating func take(_ revision: MessageRevision) {
        assert(!entries.isEmpty, "the move is the last entry")
        entries[entries.count - 1].revision = revision
    }

    mutating func relate(to other: MessageKey) {
        if !relatives.contains(other) { relatives.append(other) }
    }
}

extension MessageRecord {
    /// One event that changed the message.
    struct Entry: Sendable {
        /// The kind of change.
        enum Happening: Sendable {
            case created
            case edited
            case linked
            case restored
            /// Its file is there, but is no message any more.
            case unreadable
            /// These two are indirect, as most entries are writes and every entry has room for one.
            indirect case moved(from: MessageKey, to: MessageKey)
            indirect case deleted(End)
            /// The branch's tip has another of the known versions.
            case selected
            /// The branch's tip lacks the message, which was deleted there if there is an end.
            indirect case unselected(End?)
            /// A compaction dropped what was before. No record has such an entry; histories begin with it.
            case compacted
        }

        /// Whether a version came late (I33).
        enum Arrival: UInt8, Sendable {
            case inTime
            /// It changed nothing that is known.
            case late
            /// It became the current version of a message that is gone.
            case lateAndKnown
        }

        var event: EventReference
        var happening: Happening
        /// The version that the event brought; of any other change, the version known then.
        var revision: MessageRevision?
        /// Whether the entry counts in `revisionCount`. False for a repeated version that restored the message, for
        /// example.
        var isNewRevision = false
        /// True if an earlier version with the same content arrived late and replaced this one.
        var isReplaced = false
        /// Whether the version that the event brought came late.
        var arrival = Arrival.inTime
        /// The remote's own time of the change and its author, as in `MessageWrite`.
        var remoteTime: Timestamp?
        var by: String?
        /// Of a streamed text that went on, the earlier entries that are joined in this one; `nil` of any other.
        var appended: [Piece]?

        /// An entry that was joined: its text is the beginning of the later one's.
        struct Piece: Sendable {
            let event: EventReference
            let textBytes: Int
        }

        /// Whether the event brought a version that no earlier one with the same content replaced.
        var isStandingWrite: Bool { isWrite && !isReplaced }

        /// Whether the event brought a version.
        var isWrite: Bool {
            switch happening {
            case .created, .edited, .linked, .restored: true
            case .moved, .deleted, .unreadable, .selected, .unselected, .compacted: false
            }
        }
    }
}
