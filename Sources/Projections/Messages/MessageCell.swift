import EventLog

/// One version of a message in 36 bytes: what the plain frames of a gateway say.
struct PackedVersion: BitwiseCopyable, Sendable {
    var createdAt: PackedTime
    /// Also the version's place among the versions.
    var editedAt: PackedTime
    /// `EntityID.none` where it answers nothing.
    var replyTo: EntityID
    var text: PooledText
    /// A place in the table of authors.
    var author: UInt32

    static let none = PackedVersion(
        createdAt: .none,
        editedAt: .none,
        replyTo: .none,
        text: .empty,
        author: 0
    )
}

/// What a packed entry is, in one word with its sequence.
struct PackedHappening: BitwiseCopyable, Sendable {
    enum Word: UInt64 {
        case created, edited, linked, deleted, channelDeleted, guildDeleted
    }

    /// The greatest sequence that fits.
    static let sequenceMax: UInt64 = 1 << 48 - 1
    private static let versionBit: UInt64 = 1 << 51
    private static let revisionBit: UInt64 = 1 << 52
    private static let countsBit: UInt64 = 1 << 53

    /// Below 2^54.
    let bits: UInt64

    /// The happening that `bits` were those of; what is above them is left away.
    @inline(__always)
    init(saved bits: UInt64) {
        self.bits = bits & (1 << 54 - 1)
    }

    /// - Parameters:
    ///   - hasVersion: whether the event brought a version or, of a deletion, one was known then.
    ///   - isNewRevision: as in `MessageRecord.Entry`.
    ///   - counts: whether its version counted when it came, which it does until another one's does.
    @inline(__always)
    init(_ word: Word, at sequence: UInt64, hasVersion: Bool, isNewRevision: Bool = false, counts: Bool = false) {
        bits =
            sequence | word.rawValue << 48 | (hasVersion ? Self.versionBit : 0)
            | (isNewRevision ? Self.revisionBit : 0) | (counts ? Self.countsBit : 0)
    }

    var sequence: UInt64 { bits & Self.sequenceMax }
    var word: Word { Word(rawValue: bits >> 48 & 7) ?? .created }
    var hasVersion: Bool { bits & Self.versionBit != 0 }
    var isNewRevision: Bool { bits & Self.revisionBit != 0 }
    var counts: Bool { bits & Self.countsBit != 0 }
    var isWrite: Bool { bits >> 48 & 7 < Word.deleted.rawValue }
}

/// One event of a message's history, in 56 bytes.
struct PackedEntry: BitwiseCopyable, Sendable {
    var happening: PackedHappening
    /// Microseconds since 1970.
    var recordedAt: Int64
    var version: PackedVersion
    /// The entry before, counted from 1; 0 for the one in the cell, if any.
    var previous: UInt32
}

/// One message in a row of cells, of 64 bytes: its key, its standing and its first entry, or the place of what does not
/// fit.
struct MessageCell: BitwiseCopyable, Sendable {
    enum Form: UInt8 {
        /// All of it is in the cell and the packed entries.
        case packed
        /// All of it is a `MessageRecord`, at the place `last`.
        case record
    }

    enum Standing: UInt8 {
        case nowhere
        case live
        /// By name and for ever; the deletion is among the entries.
        case deleted
    }

    private static let formShift: UInt64 = 56
    private static let standingShift: UInt64 = 57

    let id: EntityID
    /// A place in the table of channels.
    let channel: UInt32
    /// The next message of the channel, in order of arrival, counted from 1; 0 for the last.
    var next: UInt32 = 0
    /// The newest packed entry, counted from 1; 0 where there is none but the one in the cell.
    var last: UInt32 = 0
    private var author: UInt32 = 0
    /// What the first entry is, if it is here, and above it the form and the standing.
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
        get { Form(rawValue: UInt8(truncatingIfNeeded: bits >> Self.formShift & 1)) ?? .packed }
        set { bits = bits & ~(1 << Self.formShift) | UInt64(newValue.rawValue) << Self.formShift }
    }

    var standing: Standing {
        get { Standing(rawValue: UInt8(truncatingIfNeeded: bits >> Self.standingShift & 3)) ?? .nowhere }
        set { bits = bits & ~(3 << Self.standingShift) | UInt64(newValue.rawValue) << Self.standingShift }
    }

    /// The message's first entry, where it has one and that is in the cell.
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

    /// Puts the first entry into the cell; false where there is no room for it, as its version has been edited.
    @inline(__always)
    mutating func put(_ happening: PackedHappening, recordedAt: Int64, _ version: PackedVersion) -> Bool {
        guard version.editedAt == .none else { return false }
        bits |= happening.bits
        self.recordedAt = recordedAt
        createdAt = version.createdAt
        replyTo = version.replyTo
        text = version.text
        author = version.author
        return true
    }
}
