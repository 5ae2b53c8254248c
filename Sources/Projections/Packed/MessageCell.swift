import EventLog

/// One version of a message in forty bytes: what the plain frames of a gateway say.
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

    let bits: UInt64

    /// The happening that `bits` were those of.
    init(saved bits: UInt64) {
        self.bits = bits
    }

    /// - Parameters:
    ///   - hasVersion: whether the event brought a version or, of a deletion, one was known then.
    ///   - isNewRevision: as in `MessageRecord.Entry`.
    @inline(__always)
    init(_ word: Word, at sequence: UInt64, hasVersion: Bool, isNewRevision: Bool = false) {
        bits =
            sequence | word.rawValue << 48 | (hasVersion ? Self.versionBit : 0)
            | (isNewRevision ? Self.revisionBit : 0)
    }

    var sequence: UInt64 { bits & Self.sequenceMax }
    var word: Word { Word(rawValue: bits >> 48 & 7) ?? .created }
    var hasVersion: Bool { bits & Self.versionBit != 0 }
    var isNewRevision: Bool { bits & Self.revisionBit != 0 }
    var isWrite: Bool { bits >> 48 & 7 < Word.deleted.rawValue }
}

/// One event of a message's history, after the first.
struct PackedEntry: BitwiseCopyable, Sendable {
    var happening: PackedHappening
    /// Microseconds since 1970.
    var recordedAt: Int64
    var version: PackedVersion
    /// The entry before, counted from 1; 0 for the one in the cell.
    var previous: UInt32
}

/// One message in a row of cells: its key, its standing and its first entry, or the place of what does not fit.
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

    /// In `current`: no version counts.
    static let noCurrent = UInt32.max

    let id: EntityID
    /// A place in the table of channels.
    let channel: UInt32
    /// The next message of the channel, in order of arrival, counted from 1; 0 for the last.
    var next: UInt32 = 0
    /// The newest packed entry, counted from 1; 0 for the one in the cell.
    var last: UInt32 = 0
    /// The entry whose version counts, as `last` counts.
    var current = MessageCell.noCurrent
    var form: Form
    var standing = Standing.nowhere
    var happening: PackedHappening
    var recordedAt: Int64
    var version: PackedVersion
}
