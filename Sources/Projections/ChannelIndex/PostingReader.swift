import EventLog
import JSON

/// Reads the entries of a block that a `PostingWriter` has written. Borrows the block's bytes.
///
/// Safe for any bytes: the first that are no entry end the reading and set `isMalformed`. Every frame that it returns
/// can be folded: ids are numbers, texts have whole escapes, the rest is one object. Texts are not checked for UTF-8;
/// the table's checksum covers them.
struct PostingReader {
    /// The kind of the entry that `next` has read.
    enum Entry {
        case reference
        case naming
        /// A plain frame, which is in `frame`.
        case plain
    }

    private var numbers: NumberReader
    /// The channel of every frame; entries do not repeat it.
    private let channel: EntityID
    /// The numbers of the entry read last; mirrors `PostingWriter.last`.
    private var last = PostingBase()
    /// The last entry's plain frame, valid only if it is `plain`. It borrows from the block.
    private(set) var frame = PlainFrame()
    /// Whether bytes were found that are no entry. Read it after `next` has returned `nil`.
    private(set) var isMalformed = false

    /// - Parameter channel: the block's channel, as a handle of the state that folds the frames.
    init(_ bytes: UnsafeRawBufferPointer, channel: EntityID) {
        numbers = NumberReader(bytes)
        self.channel = channel
    }

    /// The sequence of the last entry.
    var sequence: UInt64 { last.sequence }

    /// The event that brought `frame`.
    var event: EventReference {
        EventReference(
            sequence: SequenceNumber(last.sequence),
            recordedAt: Timestamp(microseconds: last.recordedAt)
        )
    }

    /// The next entry; `nil` at the end, or if the bytes are no entry.
    mutating func next() -> Entry? {
        guard !numbers.isAtEnd else { return nil }
        guard let entry = entry() else {
            isMalformed = true
            numbers.skipAll()
            return nil
        }
        return entry
    }

    /// Reads what every entry begins with, and returns its tag. Sequences must grow.
    @inline(__always)
    private mutating func head() -> UInt8? {
        // Sums wrap here and below, because altered bytes can give any numbers.
        guard let tag = numbers.byte(), let step = numbers.number(), step > 0 || last.sequence == 0 else { return nil }
        last.sequence &+= step
        return tag
    }

    @inline(__always)
    private mutating func entry() -> Entry? {
        guard let tag = head() else { return nil }
        switch PostingWriter.Form(rawValue: tag & 3) {
        case .reference: return .reference
        case .naming: return .naming
        case .written: return readFrame(.written, tag) ? .plain : nil
        case .deleted: return readFrame(.deleted, tag) ? .plain : nil
        case nil: return nil
        }
    }

    /// Reads the rest of a plain frame into `frame`; false if it is malformed.
    @inline(__always)
    private mutating func readFrame(_ happening: PlainFrame.Happening, _ tag: UInt8) -> Bool {
        guard let recordedAt = numbers.signed(), let step = numbers.signed() else { return false }
        last.recordedAt &+= recordedAt
        last.id &+= step
        if tag & PostingWriter.guildBit != 0 {
            guard let guild = numbers.signed() else { return false }
            last.guildBits &+= guild
        }
        guard let id = EntityID(number: UInt64(bitPattern: last.id)) else { return false }
        guard last.guild == .none || last.guild.number != nil else { return false }
        frame = PlainFrame()
        frame.happening = happening
        frame.channel = channel
        frame.id = id
        frame.guild = last.guild
        return happening == .deleted || readWritten(tag)
    }

    @inline(__always)
    private mutating func readWritten(_ tag: UInt8) -> Bool {
        guard let author = numbers.number() else { return false }
        frame.author = author
        if tag & PostingWriter.nameBit != 0 {
            guard let name = text() else { return false }
            frame.authorName = name
        }
        guard let createdAt = numbers.signed() else { return false }
        last.createdAt &+= createdAt
        frame.createdAt = PackedTime(saved: last.createdAt)
        if tag & PostingWriter.editedBit != 0 {
            guard let after = numbers.signed() else { return false }
            frame.editedAt = PackedTime(saved: last.createdAt &+ after)
        }
        guard let content = text() else { return false }
        frame.content = content
        return tag & PostingWriter.restBit == 0 || readRest(besides: content)
    }

    /// Reads the object of the members that no decoder knows. Text and object must fit one `PooledText`, with its
    /// length in 4 bytes.
    private mutating func readRest(besides content: JSONText) -> Bool {
        guard let count = numbers.number(), count <= TextPool.countMax - 8,
            Int(count) + content.bytes.count <= TextPool.countMax - 8, let bytes = numbers.bytes(count),
            bytes.isWholeObject
        else { return false }
        frame.rest = MemberRuns(object: bytes)
        return true
    }

    /// Reads a text: twice its length plus one for escapes, then its bytes.
    @inline(__always)
    private mutating func text() -> JSONText? {
        guard let number = numbers.number(), number >> 1 <= TextPool.countMax, let bytes = numbers.bytes(number >> 1)
        else { return nil }
        let text = JSONText(bytes: bytes, hasEscapes: number & 1 == 1)
        return !text.hasEscapes || text.hasWholeEscapes ? text : nil
    }
}
