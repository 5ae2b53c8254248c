import EventLog

/// Writes packed entries and cells in their order, in some 25 bytes each: numbers of variable length, most of them
/// differences to the previous entry. The bytes depend on all entries before, so they are read from the start only.
struct PackedEntryWriter {
    private(set) var bytes: [UInt8] = []
    private var last = PackedEntryBase()

    /// The bits of an entry's tag.
    /// Each says that a field follows, which most entries lack. The upper bits of the happening lie above `tagShift`.
    static let editedBit: UInt64 = 1 << 0
    static let replyBit: UInt64 = 1 << 1
    static let textBit: UInt64 = 1 << 2
    static let previousBit: UInt64 = 1 << 3
    static let tagShift: UInt64 = 4
    /// The bits of a cell's tag. The standing lies above `standingShift`.
    static let entryBit: UInt64 = 1 << 0
    static let lastBit: UInt64 = 1 << 1
    /// Two bits each.
    static let formShift: UInt64 = 2
    static let standingShift: UInt64 = 4
    static let versionShift: UInt64 = 6

    init() {}

    /// Writes an entry: a tag with the upper bits of its happening, then sequence, time of receipt, author and
    /// createdAt, then, where the tag's bits are set, editedAt, the answered id, the text and the previous entry.
    ///
    /// Differences wrap around (`&-`) and are added back with `&+`, so any values come back exactly. An answered id
    /// counts from the id of the last cell, near which it usually lies.
    mutating func add(_ entry: PackedEntry) {
        let version = entry.version
        let sequence = entry.happening.sequence
        // The kind and the flags, without the sequence, which takes the lower 48 bits.
        var tag = (entry.happening.bits >> 48) << Self.tagShift
        if version.editedAt != .none { tag |= Self.editedBit }
        if version.replyTo != .none { tag |= Self.replyBit }
        if version.text.count > 0 { tag |= Self.textBit }
        if entry.previous > 0 { tag |= Self.previousBit }
        bytes.appendNumber(tag)
        bytes.appendSigned(Int64(bitPattern: sequence &- last.sequence))
        bytes.appendSigned(entry.recordedAt &- last.recordedAt)
        bytes.appendNumber(UInt64(version.author))
        bytes.appendSigned(version.createdAt.rawValue &- last.createdAt)
        if version.editedAt != .none { bytes.appendSigned(version.editedAt.rawValue &- version.createdAt.rawValue) }
        if version.replyTo != .none { bytes.appendSigned(Int64(bitPattern: version.replyTo.rawValue &- last.id)) }
        if version.text.count > 0 {
            bytes.appendSigned(Int64(bitPattern: version.text.position &- last.textEnd))
            bytes.appendNumber(UInt64(version.text.count) << 2 | version.text.flags)
        }
        if entry.previous > 0 { bytes.appendNumber(UInt64(entry.previous)) }
        last.note(entry)
    }

    /// Writes a place and the cell there.
    mutating func add(_ cell: MessageCell, at place: Int) {
        bytes.appendNumber(UInt64(place))
        add(cell)
    }

    /// Writes a cell: a tag, id and channel, then, where the tag's bits are set, `last` and the first entry. Leaves out
    /// `next`, which follows from the order of cells.
    mutating func add(_ cell: MessageCell) {
        let first = cell.first
        var tag = UInt64(cell.standing.rawValue) << Self.standingShift
        if first != nil { tag |= Self.entryBit }
        if cell.last > 0 { tag |= Self.lastBit }
        tag |= UInt64(cell.form.rawValue) << Self.formShift | UInt64(cell.versionMark.rawValue) << Self.versionShift
        bytes.appendNumber(tag)
        bytes.appendSigned(Int64(bitPattern: cell.id.rawValue &- last.id))
        bytes.appendNumber(UInt64(cell.channel))
        if cell.last > 0 { bytes.appendNumber(UInt64(cell.last)) }
        // Before the entry, whose answered id counts from it. The reader does the same.
        last.id = cell.id.rawValue
        if let first { add(first) }
    }
}

/// Reads the bytes of a `PackedEntryWriter`, in the same order of calls. Borrows the bytes.
///
/// Accepts any bytes: malformed entries are `nil`, and the caller checks the places that entries and cells refer to.
/// After `nil` the position means nothing.
struct PackedEntryReader {
    private var numbers: NumberReader
    private var last = PackedEntryBase()

    init(_ bytes: UnsafeRawBufferPointer) {
        numbers = NumberReader(bytes)
    }

    var isAtEnd: Bool { numbers.isAtEnd }

    /// The next entry; `nil` if the bytes end early, a number is too long, or a sequence or place does not fit its
    /// bits.
    @inline(__always)
    mutating func entry() -> PackedEntry? {
        guard let tag = numbers.number(), let step = numbers.signed(), let recordedAt = numbers.signed(),
            let author = numbers.number().flatMap({ UInt32(exactly: $0) }), let createdAt = numbers.signed()
        else { return nil }
        let sequence = last.sequence &+ UInt64(bitPattern: step)
        guard sequence <= PackedHappening.sequenceMax else { return nil }
        var version = PackedVersion.none
        version.author = author
        version.createdAt = PackedTime(saved: last.createdAt &+ createdAt)
        if tag & PackedEntryWriter.editedBit != 0 {
            guard let after = numbers.signed() else { return nil }
            version.editedAt = PackedTime(saved: version.createdAt.rawValue &+ after)
        }
        if tag & PackedEntryWriter.replyBit != 0 {
            guard let after = numbers.signed() else { return nil }
            version.replyTo = EntityID(saved: last.id &+ UInt64(bitPattern: after))
        }
        if tag & PackedEntryWriter.textBit != 0 {
            guard let text = text() else { return nil }
            version.text = text
        }
        var previous: UInt32 = 0
        if tag & PackedEntryWriter.previousBit != 0 {
            guard let place = numbers.number().flatMap({ UInt32(exactly: $0) }) else { return nil }
            previous = place
        }
        let entry = PackedEntry(
            happening: PackedHappening(saved: (tag >> PackedEntryWriter.tagShift) << 48 | sequence),
            recordedAt: last.recordedAt &+ recordedAt,
            version: version,
            previous: previous
        )
        last.note(entry)
        return entry
    }

    /// The place in front of a changed cell.
    mutating func place() -> UInt32? { numbers.number().flatMap { UInt32(exactly: $0) } }

    /// The next cell, with `next` 0; `nil` as in `entry`, or if a cell's entry has an `editedAt`, for which it has no
    /// room.
    @inline(__always)
    mutating func cell() -> MessageCell? {
        guard let tag = numbers.number(), let step = numbers.signed(),
            let channel = numbers.number().flatMap({ UInt32(exactly: $0) }),
            let form = MessageCell.Form(rawValue: UInt8(tag >> PackedEntryWriter.formShift & 3)),
            let standing = MessageCell.Standing(rawValue: UInt8(tag >> PackedEntryWriter.standingShift & 3)),
            let mark = WrittenMessage.VersionMark(
                rawValue: UInt8(truncatingIfNeeded: tag >> PackedEntryWriter.versionShift)
            )
        else { return nil }
        last.id = last.id &+ UInt64(bitPattern: step)
        var cell = MessageCell(
            id: EntityID(saved: last.id),
            channel: channel,
            form: form,
            standing: standing
        )
        cell.versionMark = mark
        if tag & PackedEntryWriter.lastBit != 0 {
            guard let place = numbers.number().flatMap({ UInt32(exactly: $0) }) else { return nil }
            cell.last = place
        }
        guard tag & PackedEntryWriter.entryBit != 0 else { return cell }
        guard let entry = entry(), cell.put(entry.happening, recordedAt: entry.recordedAt, entry.version) else {
            return nil
        }
        return cell
    }

    @inline(__always)
    private mutating func text() -> PooledText? {
        guard let step = numbers.signed(), let count = numbers.number() else { return nil }
        let position = last.textEnd &+ UInt64(bitPattern: step)
        return PooledText(position: position, count: count >> 2, flags: count & 3)
    }
}

/// The values of the previous entry or cell, from which the next one's differences count. All begin at 0 in each piece.
private struct PackedEntryBase {
    var id: UInt64 = 0
    var sequence: UInt64 = 0
    var recordedAt: Int64 = 0
    var createdAt: Int64 = 0
    /// The end of the last text, where the next one usually begins.
    var textEnd: UInt64 = 0

    @inline(__always)
    mutating func note(_ entry: PackedEntry) {
        sequence = entry.happening.sequence
        recordedAt = entry.recordedAt
        createdAt = entry.version.createdAt.rawValue
        let text = entry.version.text
        if text.count > 0 { textEnd = text.position &+ UInt64(text.count) }
    }
}
