import Dispatch
import EventLog
import Synchronization

extension MessageStore {
    /// The hash of everything that each message remembers, in any order. Equal messages give equal hashes, packed or not
    /// (I18). Hashed on all processors; reads each message once and keeps 16 bytes of it.
    func normalFormHashes(_ names: Names) -> [UInt128] {
        // Slices of this size keep the processors busy to the end and take the lock rarely.
        let stride = 4096
        let found = Mutex<[UInt128]>([])
        DispatchQueue.concurrentPerform(iterations: (count + stride - 1) / stride) { part in
            var writer = MessageNormalFormWriter(names)
            let places = part * stride..<min(count, (part + 1) * stride)
            let hashes = places.map { writer.hash(ofMessageAt: $0, in: self) }
            found.withLock { $0 += hashes }
        }
        return found.withLock { $0 }
    }
}

/// Writes everything that one message remembers, times to the nanosecond, as bytes to be hashed.
///
/// No two different messages have the same bytes: every field is written, texts are quoted, numbers have eight bytes
/// behind a letter that no other field begins with, and an absent field is a `-`. A version that the history has as
/// well is written there alone. A packed message is written without its record. Each pair of functions below with the
/// same name writes the same fields in the same order: one from a record, one from packed values (I18). The bytes are
/// never stored, so they may change with the program.
struct MessageNormalFormWriter: ~Copyable {
    /// Used again for each message, so that its memory is allocated once.
    private var writer = CanonicalWriter()
    private let names: Names

    init(_ names: Names) {
        self.names = names
    }

    /// The hash of the message at a place, under a key of the process.
    mutating func hash(ofMessageAt place: Int, in store: MessageStore) -> UInt128 {
        let cell = store.cells[place]
        guard cell.form == .packed else { return hash(ofRecordAt: place, in: store) }
        writer.reset()
        write(store.key(at: place))
        write(cell, in: store)
        writeRest(of: nil, at: place, in: store)
        return writer.withBytes { FrameKey.process.hash($0) }
    }

    /// The hash of the message at a place as its record has it, under the same key.
    mutating func hash(ofRecordAt place: Int, in store: MessageStore) -> UInt128 {
        let record = store.record(at: place)
        writer.reset()
        write(record.key)
        write(record)
        writeRest(of: record, at: place, in: store)
        return writer.withBytes { FrameKey.process.hash($0) }
    }

    // MARK: Messages

    /// Writes the standing, the current version and the entries.
    private mutating func write(_ record: MessageRecord) {
        switch record.standing {
        case .nowhere: writer.raw("n")
        case .live: writer.raw("l")
        case .deleted(let end): write(end)
        }
        for entry in record.entries {
            write(entry)
            for piece in entry.appended ?? [] { number(piece.event.sequence.rawValue, "a") }
        }
        if let current = record.current {
            let place = record.entries.lastIndex { $0.revision.map { $0.isSame(as: current) } ?? false }
            if let place { write(currentAt: place) } else { write(current) }
        } else {
            writer.raw("-")
        }
    }

    /// Writes the reactions and what only a record can have; nothing for a message without.
    private mutating func writeRest(of record: MessageRecord?, at place: Int, in store: MessageStore) {
        let relatives = record?.relatives ?? []
        // Of a channel that is no server's, all reactions may be taken away by an event that names none: without those that
        // gave them it leaves none behind.
        let isOfServer = store.channels[Int(store.cells[place].channel)].isOfServer
        let reactions = store.sortedReactions(at: place, names).filter { $0.isPresent || isOfServer }
        if reactions.isEmpty, record?.placedBy == nil, relatives.isEmpty { return }
        writer.raw("r")
        // Sorted, as the order of arrival of reactions and relatives decides nothing.
        for reaction in reactions {
            text(store.reactions.emojis.text(reaction.emoji))
            id(reaction.user)
            writer.raw(reaction.isPresent ? "+" : "-")
            number(reaction.sequence, "s")
        }
        if let placedBy = record?.placedBy { number(placedBy, "p") } else { writer.raw("-") }
        for relative in relatives.sorted(by: { $0.precedes($1, names) }) { write(relative) }
    }

    private mutating func write(_ cell: MessageCell, in store: MessageStore) {
        switch cell.standing {
        case .nowhere: writer.raw("n")
        case .live: writer.raw("l")
        case .deleted:
            if let end = store.deletion(of: cell) { write(end) } else { writer.raw("n") }
        }
        // The last entry with the current version: the write that counts, or a deletion behind it. A write that does not
        // count has a lesser version.
        var (count, current) = (0, -1)
        var arrivals = PackedArrivals()
        store.forEachEntryInOrder(of: cell) { entry in
            write(entry, arrivals.next(entry), in: store)
            if entry.happening.counts || entry.happening.hasVersion && !entry.happening.isWrite { current = count }
            count += 1
        }
        if current >= 0 { write(currentAt: current) } else { writer.raw("-") }
    }

    /// Writes the current version as the index of the last entry that has it.
    private mutating func write(currentAt place: Int) {
        number(UInt64(place), "=")
    }

    // MARK: Entries

    private mutating func write(_ entry: MessageRecord.Entry) {
        begin(entry.happening.letter, entry.event, isNewRevision: entry.isNewRevision, isReplaced: entry.isReplaced)
        write(entry.arrival)
        switch entry.happening {
        case .deleted(let end): write(end)
        case .moved(let from, let to):
            write(from)
            write(to)
        case .unselected(let end): if let end { write(end) } else { writer.raw("-") }
        case .created, .edited, .linked, .restored, .selected, .unreadable, .compacted: break
        }
        if let revision = entry.revision { write(revision) } else { writer.raw("-") }
        time(entry.remoteTime)
        text(entry.by)
    }

    private mutating func write(
        _ entry: PackedEntry,
        _ arrival: MessageRecord.Entry.Arrival,
        in store: MessageStore
    ) {
        let word = entry.happening.word
        begin(word.letter, entry.event, isNewRevision: entry.happening.isNewRevision, isReplaced: false)
        write(arrival)
        if !entry.happening.isWrite, case .deleted(let end) = word.happening(at: entry.event) { write(end) }
        if entry.happening.hasVersion { write(entry.version, in: store) } else { writer.raw("-") }
        // A gateway's deletion has neither a time nor an author. A write has those of its version, as `write(of:_:)`
        // gives them.
        guard entry.happening.isWrite, entry.happening.hasVersion else { return writer.raw("--") }
        time(entry.version.editedAt.timestamp ?? entry.version.createdAt.timestamp)
        author(entry.version, in: store)
    }

    /// Writes whether a version is late; nothing for most.
    private mutating func write(_ arrival: MessageRecord.Entry.Arrival) {
        switch arrival {
        case .inTime: break
        case .late: writer.raw("l")
        case .lateAndKnown: writer.raw("k")
        }
    }

    private mutating func begin(
        _ letter: StaticString,
        _ event: EventReference,
        isNewRevision: Bool,
        isReplaced: Bool
    ) {
        writer.raw("e")
        writer.raw(letter)
        write(event)
        writer.raw(isNewRevision ? "+" : "-")
        writer.raw(isReplaced ? "+" : "-")
    }

    /// Writes an end. Its first letter tells the permanence, and tells an end from the other standings.
    private mutating func write(_ end: MessageRecord.End) {
        writer.raw(end.permanence == .forever ? "d" : "u")
        text(end.cause.rawValue)
        time(end.deletedAt)
        text(end.deletedBy)
        if let version = end.version {
            writer.raw("v")
            time(version)
        }
        write(end.since)
    }

    // MARK: Versions

    private mutating func write(_ revision: MessageRevision) {
        let saying = revision.saying
        begin(revision.version, revision.order, created: saying.createdAt, edited: saying.editedAt, saying.replyTo)
        text(saying.text.string)
        text(saying.author)
        text(saying.authorName)
        rest(saying.attachments, saying.extra)
        let lists = [saying.tags, saying.files, saying.images]
        // A packed version has none of these, so a version without them must end here, too.
        guard saying.form != nil || lists.contains(where: { $0 != nil }) else { return }
        writer.raw("f")
        for list in lists { value(list.map { .array($0.map { .string($0) }) }) }
        text(saying.form.map { String($0) })
    }

    private mutating func write(_ version: PackedVersion, in store: MessageStore) {
        let edited = version.editedAt.timestamp
        let replyTo = version.replyTo == .none ? nil : version.replyTo
        begin(edited, .byID, created: version.createdAt.timestamp, edited: edited, replyTo)
        store.texts.withText(version.text) { text, object in
            writer.string(text)
            author(version, in: store)
            store.authors.withName(version.author) { name in
                if let name { writer.string(name) } else { writer.raw("-") }
            }
            if object.isEmpty { return writer.raw("--") }
            PlainObject.with(object) { plain in
                guard let plain else {
                    let members = PackedRest(object)
                    return rest(members.attachments, members.extra)
                }
                // A plain object has no list of attachments.
                writer.raw("-")
                if !plain.writeExtra(behind: "", to: &writer) { writer.raw("-") }
            }
        }
    }

    /// The fields with which every version begins. A packed version is ordered by id, and its `editedAt` is its
    /// version.
    private mutating func begin(
        _ version: Timestamp?,
        _ order: MessageOrder,
        created: Timestamp?,
        edited: Timestamp?,
        _ replyTo: EntityID?
    ) {
        writer.raw("v")
        time(version)
        switch order {
        case .byID: writer.raw("i")
        case .byCreation: writer.raw("c")
        case .at(let place):
            number(UInt64(bitPattern: Int64(place)), "a")
        }
        time(created)
        time(edited)
        if let replyTo { id(replyTo) } else { writer.raw("-") }
    }

    /// The author's number as the text that a record has.
    private mutating func author(_ version: PackedVersion, in store: MessageStore) {
        writer.raw("\"")
        writer.number(store.authors.id(version.author))
        writer.raw("\"")
    }

    /// Writes the members that a packed version keeps verbatim. An empty `extra` is an absent one, as in documents.
    private mutating func rest(_ attachments: [JSONValue]?, _ extra: JSONObject) {
        value(attachments.map { .array($0) })
        value(extra.members.isEmpty ? nil : .object(extra))
    }

    // MARK: Values

    private mutating func write(_ key: MessageKey) {
        id(key.channel)
        id(key.id)
    }

    private mutating func write(_ event: EventReference) {
        number(event.sequence.rawValue, "s")
        time(event.recordedAt)
    }

    /// Writes an id that is a number as such, any other as its text: handles differ from state to state.
    private mutating func id(_ id: EntityID) {
        guard let number = id.number else { return text(names.text(id)) }
        self.number(number, "#")
    }

    private mutating func time(_ time: Timestamp?) {
        guard let time else { return writer.raw("-") }
        number(UInt64(bitPattern: time.seconds), "t")
        writer.raw(UInt32(truncatingIfNeeded: time.nanoseconds))
    }

    /// Writes a number behind the letter that begins its field.
    private mutating func number(_ number: UInt64, _ letter: StaticString) {
        writer.raw(letter)
        writer.raw(number)
    }

    private mutating func text(_ text: String?) {
        value(text.map { .string($0) })
    }

    private mutating func value(_ value: JSONValue?) {
        if let value { writer.value(value) } else { writer.raw("-") }
    }
}

extension MessageRevision {
    /// Whether two versions equal each other in everything that is written of them.
    fileprivate func isSame(as other: MessageRevision) -> Bool {
        version == other.version && order == other.order && saying == other.saying
    }
}

extension MessageRecord.Entry.Happening {
    fileprivate var letter: StaticString {
        switch self {
        case .created: "c"
        case .edited: "e"
        case .linked: "l"
        case .restored: "r"
        case .unreadable: "u"
        case .moved: "m"
        case .deleted: "d"
        case .selected: "s"
        case .unselected: "n"
        case .compacted: "x"
        }
    }
}

extension PackedHappening.Word {
    /// The letter of the same happening of a record.
    fileprivate var letter: StaticString {
        switch self {
        case .created: "c"
        case .edited: "e"
        case .linked: "l"
        case .deleted, .channelDeleted, .guildDeleted, .deletedUntilWritten: "d"
        }
    }
}
