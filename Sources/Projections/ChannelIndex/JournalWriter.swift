import EventLog

/// Writes a run of one channel's events, in sequence order, as one block of bytes for `JournalReader`.
///
/// Plain frames are written as what they say, so that nobody has to look for them all over the log; of every other event
/// only the place is. Numbers are variable-length (LEB128, signed ones zigzag) and, but for authors, differences to the
/// entry before. Layout of an entry: a tag, the sequence; of frames then the time of receipt, the id, the guild if it is
/// another one; of written ones the author, its name, createdAt, editedAt, the id answered, the content, and the object of
/// the members that no decoder knows. A text is twice its length, plus one where it has escapes, and its bytes.
struct JournalWriter {
    /// What an entry is: the lowest two bits of its tag; the others say what is there.
    enum Form: UInt8 {
        /// An event whose place is all that is said.
        case reference
        /// An event that is a reference in the list of all channels: here it only names the channel.
        case naming
        case written
        case deleted
    }

    static let guildBit: UInt8 = 1 << 2
    static let nameBit: UInt8 = 1 << 3
    static let replyBit: UInt8 = 1 << 4
    static let editedBit: UInt8 = 1 << 5
    static let restBit: UInt8 = 1 << 6

    private(set) var bytes: [UInt8] = []
    /// The sequence of the first entry; zero for an empty block.
    private(set) var first: UInt64 = 0
    private var last = JournalPlace()

    init() {}

    /// Adds an event by its place.
    mutating func add(_ form: Form, at sequence: SequenceNumber) {
        bytes.append(form.rawValue)
        place(sequence.rawValue)
    }

    /// Adds a plain frame that repeats no other.
    mutating func add(_ frame: PlainFrame, _ event: EventReference) {
        let hasGuild = frame.guild != last.guild
        bytes.append(Self.tag(of: frame) | (hasGuild ? Self.guildBit : 0))
        place(event.sequence.rawValue)
        var next = last
        next.recordedAt = event.recordedAt.microseconds
        next.id = Int64(bitPattern: frame.id.rawValue)
        next.guildBits = Int64(bitPattern: frame.guild.rawValue)
        bytes.appendSigned(next.recordedAt &- last.recordedAt)
        bytes.appendSigned(next.id &- last.id)
        if hasGuild { bytes.appendSigned(next.guildBits &- last.guildBits) }
        if frame.happening == .written { addWritten(frame, &next) }
        last = next
    }

    private mutating func addWritten(_ frame: PlainFrame, _ next: inout JournalPlace) {
        next.createdAt = frame.createdAt.rawValue
        bytes.appendNumber(frame.author)
        if let name = frame.authorName { text(name) }
        bytes.appendSigned(next.createdAt &- last.createdAt)
        if frame.editedAt != .none { bytes.appendSigned(frame.editedAt.rawValue &- frame.createdAt.rawValue) }
        if frame.replyTo != .none { bytes.appendSigned(Int64(bitPattern: frame.replyTo.rawValue &- frame.id.rawValue)) }
        text(frame.content)
        if !frame.rest.isEmpty {
            bytes.appendNumber(UInt64(frame.rest.byteCount))
            frame.rest.appendObject(to: &bytes)
        }
    }

    private static func tag(of frame: PlainFrame) -> UInt8 {
        guard frame.happening == .written else { return Form.deleted.rawValue }
        var tag = Form.written.rawValue
        if frame.authorName != nil { tag |= nameBit }
        if frame.replyTo != .none { tag |= replyBit }
        if frame.editedAt != .none { tag |= editedBit }
        if !frame.rest.isEmpty { tag |= restBit }
        return tag
    }

    private mutating func place(_ sequence: UInt64) {
        if first == 0 { first = sequence }
        bytes.appendNumber(sequence &- last.sequence)
        last.sequence = sequence
    }

    private mutating func text(_ text: JSONText) {
        bytes.appendNumber(UInt64(text.bytes.count) << 1 | (text.hasEscapes ? 1 : 0))
        bytes.append(contentsOf: text.bytes)
    }
}

/// What the entry before an entry said.
struct JournalPlace {
    var sequence: UInt64 = 0
    var recordedAt: Int64 = 0
    var id: Int64 = 0
    var guildBits = Int64(bitPattern: EntityID.none.rawValue)
    var createdAt: Int64 = 0

    var guild: EntityID { EntityID(saved: UInt64(bitPattern: guildBits)) }
}
