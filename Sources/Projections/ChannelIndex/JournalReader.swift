import EventLog

/// Reads the entries of a block that a `JournalWriter` has written. Borrows the block's bytes.
///
/// Any bytes at all may be given: what is no entry ends the reading with `isMalformed`.
struct JournalReader {
    /// One event of a channel.
    enum Entry {
        case reference(SequenceNumber)
        case naming
        case plain(PlainFrame, EventReference)
    }

    private let bytes: UnsafeRawBufferPointer
    private let channel: EntityID
    private var offset = 0
    private var last = JournalPlace()
    /// Whether the bytes were found to be no such block.
    private(set) var isMalformed = false

    /// - Parameter channel: whose block it is, in the state that the frames are for.
    init(_ bytes: UnsafeRawBufferPointer, channel: EntityID) {
        self.bytes = bytes
        self.channel = channel
    }

    /// The sequence of the entry that was given last.
    var sequence: UInt64 { last.sequence }

    /// The next entry; `nil` at the end, and where the bytes are no entry.
    mutating func next() -> Entry? {
        guard offset < bytes.count else { return nil }
        guard let entry = entry() else {
            isMalformed = true
            offset = bytes.count
            return nil
        }
        return entry
    }

    @inline(__always)
    private mutating func head() -> (tag: UInt8, sequence: UInt64)? {
        let tag = bytes[offset]
        offset += 1
        guard let step = number(), step > 0 || last.sequence == 0 else { return nil }
        last.sequence &+= step
        return (tag, last.sequence)
    }

    @inline(__always)
    private mutating func entry() -> Entry? {
        guard let (tag, sequence) = head() else { return nil }
        switch JournalWriter.Form(rawValue: tag & 3) {
        case .reference: return .reference(SequenceNumber(sequence))
        case .naming: return .naming
        case .written: return plain(.written, tag)
        case .deleted: return plain(.deleted, tag)
        case nil: return nil
        }
    }

    private mutating func plain(_ happening: PlainFrame.Happening, _ tag: UInt8) -> Entry? {
        var frame = PlainFrame()
        frame.happening = happening
        frame.channel = channel
        guard let recordedAt = signed(), let step = signed() else { return nil }
        last.recordedAt &+= recordedAt
        last.id &+= step
        if tag & JournalWriter.guildBit != 0 {
            guard let guild = signed() else { return nil }
            last.guildBits &+= guild
        }
        guard let id = EntityID(number: UInt64(bitPattern: last.id)) else { return nil }
        frame.id = id
        frame.guild = last.guild
        guard frame.guild == .none || frame.guild.number != nil else { return nil }
        if happening == .written, !readWritten(tag, into: &frame) { return nil }
        let event = EventReference(
            sequence: SequenceNumber(last.sequence),
            recordedAt: Timestamp(microseconds: last.recordedAt)
        )
        return .plain(frame, event)
    }

    private mutating func readWritten(_ tag: UInt8, into frame: inout PlainFrame) -> Bool {
        guard let author = number() else { return false }
        frame.author = author
        if tag & JournalWriter.nameBit != 0 {
            guard let name = text(hasEscapes: tag & JournalWriter.nameEscapesBit != 0) else { return false }
            frame.authorName = name
        }
        guard let createdAt = signed() else { return false }
        last.createdAt &+= createdAt
        frame.createdAt = PackedTime(saved: last.createdAt)
        if tag & JournalWriter.editedBit != 0 {
            guard let after = signed() else { return false }
            frame.editedAt = PackedTime(saved: last.createdAt &+ after)
        }
        if tag & JournalWriter.replyBit != 0 {
            guard let after = signed() else { return false }
            guard let id = EntityID(number: UInt64(bitPattern: last.id &+ after)) else { return false }
            frame.replyTo = id
        }
        guard let content = text(hasEscapes: tag & JournalWriter.contentEscapesBit != 0) else { return false }
        frame.content = content
        return true
    }

    @inline(__always)
    private mutating func signed() -> Int64? {
        number().map { Int64(bitPattern: $0 >> 1) ^ -Int64($0 & 1) }
    }

    @inline(__always)
    private mutating func number() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 70 {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    @inline(__always)
    private mutating func text(hasEscapes: Bool) -> JSONText? {
        guard let count = number(), count <= UInt64(min(TextPool.countMax, bytes.count - offset)) else { return nil }
        let text = JSONText(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)]),
            hasEscapes: hasEscapes
        )
        offset += Int(count)
        return !hasEscapes || text.hasWholeEscapes ? text : nil
    }
}
