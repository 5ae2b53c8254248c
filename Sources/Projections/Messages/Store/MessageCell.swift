import EventLog

/// One version of a message in 36 bytes, with everything that a plain gateway frame contains. Text and author are
/// places in one store, so a version means nothing without that store.
struct PackedVersion: BitwiseCopyable, Sendable {
    var createdAt: PackedTime
    /// Also the version's number: the greatest wins, none is least.
    var editedAt: PackedTime
    /// The answered message in the same channel; `EntityID.none` if the message answers none.
    var replyTo: EntityID
    /// The content and, behind it, the members kept verbatim (`PackedRest`).
    var text: PooledText
    /// A place in the table of authors.
    var author: UInt32

    /// For entries without a version. Its author 0 is a filler and need not exist; `hasVersion` tells whether to read
    /// it.
    static let none = PackedVersion(
        createdAt: .none,
        editedAt: .none,
        replyTo: .none,
        text: .empty,
        author: 0
    )
}

/// The sequence and kind of a packed entry, in one word.
struct PackedHappening: BitwiseCopyable, Sendable {
    /// The kinds of change that a packed history can express. The raw values are saved. The writes come first, so that
    /// `isWrite` is one comparison.
    enum Word: UInt64 {
        case created, edited, linked, deleted, channelDeleted, guildDeleted
        /// The deletion of a listed message, which comes back when it is written again.
        case deletedUntilWritten
    }

    /// The greatest sequence that fits.
    static let sequenceMax: UInt64 = 1 << 48 - 1
    /// The layout: 48 bits of sequence, 3 of `Word`, then the flags. `MessageCell` puts its own two fields above, from
    /// bit 56.
    private static let versionBit: UInt64 = 1 << 51
    private static let revisionBit: UInt64 = 1 << 52
    private static let countsBit: UInt64 = 1 << 53

    /// Below 2^54.
    let bits: UInt64

    /// The happening whose `bits` were saved; higher bits are ignored.
    @inline(__always)
    init(saved bits: UInt64) {
        self.bits = bits & (1 << 54 - 1)
    }

    /// - Parameters:
    ///   - word: the kind of entry.
    ///   - sequence: at most `sequenceMax`.
    ///   - hasVersion: whether the event brought a version; of a deletion, whether a version was known.
    ///   - isNewRevision: as in `MessageRecord.Entry`.
    ///   - counts: whether the version became the current one. It stays current until a later entry with this flag.
    @inline(__always)
    init(_ word: Word, at sequence: UInt64, hasVersion: Bool, isNewRevision: Bool = false, counts: Bool = false) {
        assert(sequence <= Self.sequenceMax, "a greater sequence would run into the bits above")
        bits =
            sequence | word.rawValue << 48 | (hasVersion ? Self.versionBit : 0)
            | (isNewRevision ? Self.revisionBit : 0) | (counts ? Self.countsBit : 0)
    }

    /// The sequence of the event; 0 means no entry, as sequences begin at 1.
    var sequence: UInt64 { bits & Self.sequenceMax }
    /// Three bits can also hold 7, which no `Word` has; damaged saved bits read as `created` instead of trapping.
    var word: Word { Word(rawValue: bits >> 48 & 7) ?? .created }
    var hasVersion: Bool { bits & Self.versionBit != 0 }
    var isNewRevision: Bool { bits & Self.revisionBit != 0 }
    var counts: Bool { bits & Self.countsBit != 0 }
    var isWrite: Bool { bits >> 48 & 7 < Word.deleted.rawValue }
}

/// One event of a message's history, in 56 bytes. The entries of a message are linked from the newest to the oldest.
struct PackedEntry: BitwiseCopyable, Sendable {
    var happening: PackedHappening
    /// Time of receipt in microseconds since 1970 (UTC). `EventReference.isPackable` holds: nothing is rounded.
    var recordedAt: Int64
    /// The version that the event brought; of a deletion, the version known then. `PackedVersion.none` unless
    /// `hasVersion`.
    var version: PackedVersion
    /// The previous entry, counted from 1; 0 if that is the entry in the cell, or none.
    var previous: UInt32
}

/// One message in 64 bytes, a line of the processor's cache: its key, its standing, its first entry if that fits, and
/// the place of the rest.
///
/// The order and types of the stored properties make up the 64 bytes; an additional field would cost every message a
/// second cache line.
struct MessageCell: BitwiseCopyable, Sendable {
    enum Form: UInt8 {
        /// The message is in the cell and the packed entries.
        case packed
        /// The message is the `MessageRecord` at the place `last`.
        case record
        /// The message was written once and perhaps deleted, and all else of it is in the cell (`WrittenMessage`).
        case written
        /// As `packed`, in a client's list: the version that arrives last counts, and the message stands at its place in the list
        /// (`MessageStore.listPlaces`).
        case listed

        /// Whether the history lies in the cell and the packed entries.
        var isPacked: Bool { self == .packed || self == .listed }
    }

    /// The standing by the message's own events, as `MessageRecord.Standing` has it. The end of its channel overrules
    /// it.
    enum Standing: UInt8 {
        case nowhere
        case live
        /// Deleted by name and, unless the message is listed or written, for ever; the deletion is one of the entries.
        case deleted
    }

    /// Two bits each.
    private static let formShift: UInt64 = 56
    private static let standingShift: UInt64 = 58
    private static let versionShift: UInt64 = 60
    private static let reactionsBit: UInt64 = 1 << 62

    let id: EntityID
    /// The channel's index in `MessageStore.channels`. Changes only by `MessageStore.rehome`.
    var channel: UInt32
    /// The next message of the channel in which it became known, in order of arrival, counted from 1; 0 for the last.
    var next: UInt32 = 0
    /// Packed: the newest entry in `MessageStore.entries`, counted from 1; 0 if none lies outside the cell. Record: the
    /// index in `MessageStore.records`, from 0. Written: the order, or the place of the deletion in `entries`, counted from 1.
    var last: UInt32 = 0
    /// The fields of the first entry and its version, valid only if the entry is in the cell. `editedAt` has no room: a
    /// first version with one goes into `entries`.
    private var author: UInt32 = 0
    /// The first entry's `PackedHappening` (0 without one) in bits 0 to 53; the form, the standing, the version of a
    /// written message and `hasReactions` from bit 56 on.
    private var bits: UInt64 = 0
    private var recordedAt: Int64 = 0
    private var createdAt = PackedTime.none
    private var replyTo = EntityID.none
    private var text = PooledText.empty

    /// A cell without an entry.
    init(id: EntityID, channel: UInt32, form: Form, standing: Standing = .nowhere) {
        self.id = id
        self.channel = channel
        self.form = form
        self.standing = standing
    }

    var form: Form {
        get { Form(rawValue: UInt8(truncatingIfNeeded: bits >> Self.formShift & 3)) ?? .packed }
        set { bits = bits & ~(3 << Self.formShift) | UInt64(newValue.rawValue) << Self.formShift }
    }

    var standing: Standing {
        get { Standing(rawValue: UInt8(truncatingIfNeeded: bits >> Self.standingShift & 3)) ?? .nowhere }
        set { bits = bits & ~(3 << Self.standingShift) | UInt64(newValue.rawValue) << Self.standingShift }
    }

    /// The version of a written message.
    var versionMark: WrittenMessage.VersionMark {
        get { WrittenMessage.VersionMark(rawValue: UInt8(truncatingIfNeeded: bits >> Self.versionShift & 3)) ?? .none }
        set { bits = bits & ~(3 << Self.versionShift) | UInt64(newValue.rawValue) << Self.versionShift }
    }

    /// Whether `ReactionTable` knows the message. Not saved: loading the reactions sets it.
    var hasReactions: Bool {
        get { bits & Self.reactionsBit != 0 }
        set { bits = newValue ? bits | Self.reactionsBit : bits & ~Self.reactionsBit }
    }

    /// The message's first entry, if it is in the cell. A record has none there. Of a written
    /// message, its fields mean what `WrittenMessage` tells.
    @inline(__always)
    var first: PackedEntry? {
        let happening = PackedHappening(saved: bits)
        guard happening.sequence > 0 else { return nil }
        let version = PackedVersion(
            createdAt: createdAt,
            editedAt: .none,
            replyTo: replyTo,
            text: text,
            author: author
        )
        return PackedEntry(happening: happening, recordedAt: recordedAt, version: version, previous: 0)
    }

    /// Puts the first entry into the cell. Returns false, without a change, if the version has an `editedAt`, for which
    /// the cell has no room; the caller then appends the entry to `MessageStore.entries`.
    @inline(__always)
    mutating func put(_ happening: PackedHappening, recordedAt: Int64, _ version: PackedVersion) -> Bool {
        guard version.editedAt == .none else { return false }
        assert(PackedHappening(saved: bits).bits == 0, "a cell has one first entry")
        bits |= happening.bits
        self.recordedAt = recordedAt
        createdAt = version.createdAt
        replyTo = version.replyTo
        text = version.text
        author = version.author
        return true
    }
}
