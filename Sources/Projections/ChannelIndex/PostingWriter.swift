import EventLog
import JSON

/// Writes a run of one channel's events, in sequence order, as one block of bytes for `PostingReader`.
///
/// A plain frame is written with its content, so that a reader need not fetch it from all over the log; of every other
/// event only the sequence is written.
///
/// Layout of an entry: a tag and the sequence. A frame adds the time of receipt, the id, and the guild if it differs
/// from that of the frame before. A written message adds the author, the author's name, createdAt, editedAt, the id
/// answered, the content, and the object of the members that no decoder knows; the tag tells which optional parts are
/// present.
///
/// Numbers have variable length (LEB128, signed ones zigzag). They are differences to the same number of the entry
/// before that has one, but for editedAt (to createdAt), the id answered (to the id) and the author (the number
/// itself). A text is a number, twice its length plus one if it has escapes, and its bytes.
struct PostingWriter {
    /// The kind of an entry: the lowest two bits of its tag. The other bits tell which optional parts follow.
    enum Form: UInt8 {
        /// An event with only its sequence; a reader fetches it from the log.
        case reference
        /// An event that concerns all channels and is folded from their posting list; here it only shows that the channel is
        /// named.
        case naming
        case written
        case deleted
    }

    static let guildBit: UInt8 = 1 << 2
    static let nameBit: UInt8 = 1 << 3
    static let editedBit: UInt8 = 1 << 5
    static let restBit: UInt8 = 1 << 6

    private(set) var bytes: [UInt8] = []
    /// The sequence of the first entry; zero for an empty block.
    private(set) var first: UInt64 = 0
    private var last = PostingBase()

    init() {}

    /// Adds an event by its sequence.
    mutating func add(_ form: Form, at sequence: SequenceNumber) {
        bytes.append(form.rawValue)
        place(sequence.rawValue)
    }

    /// Adds a plain frame, which must not be a repeat. The channel is not written: the block's key names it.
    mutating func add(_ frame: PlainFrame, _ event: EventReference) {
        let hasGuild = frame.guild != last.guild
        bytes.append(Self.tag(of: frame) | (hasGuild ? Self.guildBit : 0))
        place(event.sequence.rawValue)
        var next = last
        next.recordedAt = event.recordedAt.microseconds
        next.id = Int64(bitPattern: frame.id.rawValue)
        next.guildBits = Int64(bitPattern: frame.guild.rawValue)
        // Differences wrap, and the reader's sums wrap back.
        bytes.appendSigned(next.recordedAt &- last.recordedAt)
        bytes.appendSigned(next.id &- last.id)
        if hasGuild { bytes.appendSigned(next.guildBits &- last.guildBits) }
        if frame.happening == .written { addWritten(frame, &next) }
        last = next
    }

    private mutating func addWritten(_ frame: PlainFrame, _ next: inout PostingBase) {
        next.createdAt = frame.createdAt.rawValue
        bytes.appendNumber(frame.author)
        if let name = frame.authorName { text(name) }
        bytes.appendSigned(next.createdAt &- last.createdAt)
        if frame.editedAt != .none { bytes.appendSigned(frame.editedAt.rawValue &- frame.createdAt.rawValue) }
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
        if frame.editedAt != .none { tag |= editedBit }
        if !frame.rest.isEmpty { tag |= restBit }
        return tag
    }

    /// Writes the difference to the sequence before, which is at least 1 behind the first entry.
    private mutating func place(_ sequence: UInt64) {
        assert(sequence > last.sequence || last.sequence == 0, "entries come in sequence order")
        if first == 0 { first = sequence }
        bytes.appendNumber(sequence &- last.sequence)
        last.sequence = sequence
    }

    private mutating func text(_ text: JSONText) {
        bytes.appendNumber(UInt64(text.bytes.count) << 1 | (text.hasEscapes ? 1 : 0))
        bytes.append(contentsOf: text.bytes)
    }
}

/// The last written value of each number; the next entry's numbers are differences to these. Each block begins with
/// these values.
struct PostingBase {
    var sequence: UInt64 = 0
    var recordedAt: Int64 = 0
    var id: Int64 = 0
    var guildBits = Int64(bitPattern: EntityID.none.rawValue)
    var createdAt: Int64 = 0

    var guild: EntityID { EntityID(saved: UInt64(bitPattern: guildBits)) }
}
