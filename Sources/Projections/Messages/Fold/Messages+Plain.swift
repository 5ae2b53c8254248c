import EventLog
import JSON

/// The short way: does to packed messages what `apply` does with a plain frame's change, without building values. Both
/// ways give the same state, touched rows and issues (I18), by one `MessageRule`.
extension Messages {
    /// Applies a plain frame; false, without a change, if the message or its channel needs the long way: the event does
    /// not fit a packed entry, the channel is gone, a compaction dropped the message, it is in another channel or a record, its history has a later
    /// event, or what the frame is compared with is far back in it.
    @inline(__always)
    mutating func takePlain(_ frame: PlainFrame, at lookup: MessageLookup, in context: inout FoldContext) -> Bool {
        let event = context.event
        guard event.isPackable, fates.fate(of: frame.channel) == nil else { return false }
        if !compacted.isEmpty, compacted.contains(id: frame.id) { return false }
        if let place = knownPlace(of: frame, at: lookup) {
            // A message that is in another channel of the server takes the long way.
            guard store.cells[place].channel == UInt32(truncatingIfNeeded: lookup.channel),
                store.cells[place].form == .packed,
                store.newestSequence(of: store.cells[place]) <= event.sequence.rawValue,
                store.isNear(frame, in: store.cells[place])
            else { return false }
            // Only once the short way is certain: the long way reports known circles itself.
            circles.repeatKnown(in: &context)
            change(place, by: frame, author: lookup.author, in: &context)
            return true
        }
        circles.repeatKnown(in: &context)
        switch frame.happening {
        case .written: addWritten(frame, at: lookup, in: &context)
        case .deleted: addDeleted(frame, at: lookup, in: &context)
        }
        return true
    }

    /// The place of the frame's message. Without one in the lookup, searches again: an earlier frame of the same batch
    /// may have added the message.
    @inline(__always)
    private func knownPlace(of frame: PlainFrame, at lookup: MessageLookup) -> Int? {
        if let place = lookup.place { return place }
        return store.anyPlace(of: frame.id, at: lookup)
    }

    /// Adds a message with its first version. Its answers may have arrived before it, and their rows show its state.
    private mutating func addWritten(_ frame: PlainFrame, at lookup: MessageLookup, in context: inout FoldContext) {
        let verdict = MessageRule.judge(.first, .nowhere, isKnown: false, repeatsKnown: false, changesText: false)
        guard let happening = PackedHappening(verdict, at: context.event) else { return }
        let standing: MessageCell.Standing = verdict.becomesLive ? .live : .nowhere
        let version = store.added(frame, author: lookup.author)
        store.add(frame.id, standing, happening, version, at: lookup, context.event)
        touch(frame.key, in: &context)
        touchAnswers(to: frame.key, in: &context)
    }

    /// Adds a tombstone without a version, so that a version that arrives later stays deleted.
    private mutating func addDeleted(_ frame: PlainFrame, at lookup: MessageLookup, in context: inout FoldContext) {
        let happening = PackedHappening(.deleted, at: context.event.sequence.rawValue, hasVersion: false)
        store.add(frame.id, .deleted, happening, .none, at: lookup, context.event)
        touch(frame.key, in: &context)
        touchAnswers(to: frame.key, in: &context)
    }

    /// Changes a known message. Takes the steps of `change(_:in:_:)` of the general way: the message's rows and those of its
    /// answers.
    private mutating func change(
        _ place: Int,
        by frame: PlainFrame,
        author: UInt32?,
        in context: inout FoldContext
    ) {
        let before = store.cells[place]
        switch frame.happening {
        case .written: write(frame, by: author, over: before, at: place, context.event)
        case .deleted: delete(before, at: place, context.event)
        }
        touch(frame.key, in: &context)
        if store.cells[place].standing != before.standing { touchAnswers(to: frame.key, in: &context) }
    }

    /// Takes a version as `MessageRule.judge` has it.
    private mutating func write(
        _ frame: PlainFrame,
        by author: UInt32?,
        over cell: MessageCell,
        at place: Int,
        _ event: EventReference
    ) {
        let current = store.version(of: cell)
        let relation = MessageRule.Relation(of: frame.editedAt, to: current?.editedAt)
        // The current version of a packed message is the greatest of all, so no other equals a newer one.
        let isNewest = relation == .newer || relation == .first
        let same = isNewest ? nil : store.newestWrite(of: cell, editedAt: frame.editedAt)
        let verdict = MessageRule.judge(
            relation,
            cell.standing.judged,
            isKnown: same != nil,
            repeatsKnown: same.map { store.isSame($0, frame) } ?? false,
            changesText: current.map { !store.texts.isSame($0.text, frame.content) } ?? false
        )
        guard let happening = PackedHappening(verdict, at: event) else { return }
        store.enter(happening, store.added(frame, author: author), at: place, event)
        guard verdict.becomesLive, cell.standing != .live else { return }
        store.cells[place].standing = .live
        store.noteLive(place)
    }

    /// Deletes by name if `MessageRule.takesEffect`. The entry repeats the current version, so that the tombstone has the
    /// last text.
    private mutating func delete(_ cell: MessageCell, at place: Int, _ event: EventReference) {
        guard MessageRule.takesEffect(.byName, after: cell.standing.deletion) else { return }
        let current = store.version(of: cell)
        let happening = PackedHappening(.deleted, at: event.sequence.rawValue, hasVersion: current != nil)
        store.enter(happening, current ?? .none, at: place, event)
        store.cells[place].standing = .deleted
    }
}

extension MessageCell.Standing {
    /// The standing as `MessageRule` knows it: gateways delete for ever.
    @inline(__always)
    fileprivate var judged: MessageRule.Standing {
        switch self {
        case .nowhere: .nowhere
        case .live: .live
        case .deleted: .deletedForever
        }
    }

    /// The deletion that the message has by its own events.
    @inline(__always)
    fileprivate var deletion: MessageRule.Deletion? { self == .deleted ? .byName : nil }
}

extension PackedHappening {
    /// The entry that a verdict makes; `nil` if it makes none.
    @inline(__always)
    init?(_ verdict: MessageRule.Verdict, at event: EventReference) {
        guard let entry = verdict.entry else { return nil }
        self.init(
            Word(entry.word),
            at: event.sequence.rawValue,
            hasVersion: true,
            isNewRevision: entry.isNewRevision,
            counts: verdict.wins
        )
    }
}

extension PackedHappening.Word {
    @inline(__always)
    fileprivate init(_ word: MessageRule.Word) {
        switch word {
        case .created: self = .created
        case .edited: self = .edited
        case .linked: self = .linked
        case .restored:
            assertionFailure("no packed message is deleted until written")
            self = .edited
        }
    }
}

extension MessageStore {
    /// Copies a frame's version into the store: the frame's bytes belong to the payload, which the state outlives.
    /// `author` is the place of its author, if known.
    @inline(__always)
    mutating func added(_ frame: PlainFrame, author: UInt32?) -> PackedVersion {
        let place: UInt32
        if let author { place = author } else { place = authors.place(id: frame.author, name: frame.authorName) }
        return PackedVersion(
            createdAt: frame.createdAt,
            editedAt: frame.editedAt,
            replyTo: .none,
            text: texts.add(frame.content, frame.rest),
            author: place
        )
    }

    /// Adds a packed message with the first entry of its history, in the cell if the version fits there.
    @inline(__always)
    fileprivate mutating func add(
        _ id: EntityID,
        _ standing: MessageCell.Standing,
        _ happening: PackedHappening,
        _ version: PackedVersion,
        at lookup: MessageLookup,
        _ event: EventReference
    ) {
        var cell = MessageCell(id: id, channel: UInt32(lookup.channel), form: .packed, standing: standing)
        let hasRoom = cell.put(happening, recordedAt: event.recordedAt.microseconds, version)
        let place = add(cell, at: lookup)
        if !hasRoom { enter(happening, version, at: place, event) }
    }

    /// The most entries that a frame's comparisons may walk back.
    private static let entriesNearMax = 64

    /// Whether the current version, and the version that the frame may repeat, are among the newest entries of a packed
    /// message, or the history is short. A message with thousands of edits that came late would take quadratic time; as a
    /// record it has an index of its versions.
    @inline(__always)
    fileprivate func isNear(_ frame: PlainFrame, in cell: MessageCell) -> Bool {
        // Most messages have one entry, in the cell, or get edits in order.
        if cell.last == 0 { return true }
        let newest = entries[Int(cell.last) - 1]
        if newest.happening.counts, frame.editedAt >= newest.version.editedAt { return true }
        return isNearBehindOthers(frame, in: cell)
    }

    private func isNearBehindOthers(_ frame: PlainFrame, in cell: MessageCell) -> Bool {
        var (count, current) = (0, PackedTime?.none)
        let found = newestEntry(of: cell) { entry in
            count += 1
            if count > Self.entriesNearMax { return true }
            if current == nil, entry.happening.counts { current = entry.version.editedAt }
            guard let current else { return false }
            return frame.happening == .deleted || frame.editedAt > current
                || entry.happening.isWrite && entry.version.editedAt == frame.editedAt
        }
        return found == nil || count <= Self.entriesNearMax
    }

    /// The version of the newest write with this `editedAt`, which a repeat would equal.
    fileprivate func newestWrite(of cell: MessageCell, editedAt: PackedTime) -> PackedVersion? {
        newestEntry(of: cell) { $0.happening.isWrite && $0.version.editedAt == editedAt }?.version
    }

    /// The sequence of the newest entry; 0 without entries.
    @inline(__always)
    func newestSequence(of cell: MessageCell) -> UInt64 {
        newestEntry(of: cell) { _ in true }?.happening.sequence ?? 0
    }

    /// Whether a frame repeats a version: compares what the texts mean, however they are escaped, and members in any
    /// order. The cheap comparisons come first.
    func isSame(_ version: PackedVersion, _ frame: PlainFrame) -> Bool {
        version.createdAt == frame.createdAt && version.editedAt == frame.editedAt
            && authors.isSame(version.author, id: frame.author, name: frame.authorName)
            && texts.isSame(version.text, frame.content)
            && texts.withObject(version.text) { frame.rest.isSame(as: $0) }
    }

    /// Appends an entry to a packed message's history. It must not be older than the newest entry: packed entries are
    /// linked in log order and cannot be inserted between others.
    mutating func enter(
        _ happening: PackedHappening,
        _ version: PackedVersion,
        at place: Int,
        _ event: EventReference
    ) {
        assert(newestSequence(of: cells[place]) <= happening.sequence, "a packed history is in log order")
        let entry = PackedEntry(
            happening: happening,
            recordedAt: event.recordedAt.microseconds,
            version: version,
            previous: cells[place].last
        )
        entries.append(entry)
        saved.noteCell(place)
        cells[place].last = UInt32(entries.count)
    }

    /// Enters the end of the channel, if `MessageRule.channelEndEnters`. Returns false, without a change, if the message
    /// must be a record for that: it is one, the event does not fit a packed entry, or the end is older than the newest
    /// entry.
    mutating func fallPacked(at place: Int, _ fate: ChannelFates.Fate, _ event: EventReference) -> Bool {
        let cell = cells[place]
        // An entry has room for one event, which is the end's own but for a guild that was gone before.
        guard cell.form == .packed, fate.cause != .deleted, fate.event == event, event.isPackable else { return false }
        guard MessageRule.channelEndEnters(after: cell.standing.deletion) else { return true }
        guard newestSequence(of: cell) <= fate.event.sequence.rawValue else { return false }
        let current = version(of: cell)
        let happening = PackedHappening(
            fate.cause == .channelDeleted ? .channelDeleted : .guildDeleted,
            at: fate.event.sequence.rawValue,
            hasVersion: current != nil
        )
        enter(happening, current ?? .none, at: place, fate.event)
        return true
    }
}

extension EventReference {
    /// The seconds whose microseconds fit 64 bits, a second less at either end for the fraction.
    private static let packableSeconds = Int64.min / 1_000_000 + 1...Int64.max / 1_000_000 - 1

    /// Whether a packed entry can hold the event exactly: the sequence fits, and the time is in whole microseconds.
    @inline(__always)
    var isPackable: Bool {
        sequence.rawValue <= PackedHappening.sequenceMax && recordedAt.nanoseconds.isMultiple(of: 1000)
            && Self.packableSeconds.contains(recordedAt.seconds)
    }
}
