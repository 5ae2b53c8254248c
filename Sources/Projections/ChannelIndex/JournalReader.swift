import EventLog

/// Reads the entries of a block that a `JournalWriter` has written. Borrows the block's bytes.
///
/// Any bytes at all may be given: what is no entry ends the reading with `isMalformed`.
struct JournalReader {
    /// What an event of a channel is.
    enum Entry {
        case reference
        case naming
        /// The one in `frame`.
        case plain
    }

    private let bytes: UnsafeRawBufferPointer
    private let channel: EntityID
    private var offset = 0
    private var last = JournalPlace()
    /// The plain frame of the last entry, where that is one. It borrows from the block.
    private(set) var frame = PlainFrame()
    /// Whether the bytes were found to be no such block.
    private(set) var isMalformed = false

    /// - Parameter channel: whose block it is, in the state that the frames are for.
    init(_ bytes: UnsafeRawBufferPointer, channel: EntityID) {
        self.bytes = bytes
        self.channel = channel
    }

    /// The sequence of the entry that was given last.
    var sequence: UInt64 { last.sequence }

    /// The event that brought `frame`.
    var event: EventReference {
        EventReference(
            sequence: SequenceNumber(last.sequence),
            recordedAt: Timestamp(microseconds: last.recordedAt)
        )
    }

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
    private mutating func head() -> UInt8? {
        let tag = bytes[offset]
        offset += 1
        guard let step = number(), step > 0 || last.sequence == 0 else { return nil }
        last.sequence &+= step
        return tag
    }

    @inline(__always)
    private mutating func entry() -> Entry? {
        guard let tag = head() else { return nil }
        switch JournalWriter.Form(rawValue: tag & 3) {
        case .reference: return .reference
        case .naming: return .naming
        case .written: return readFrame(.written, tag) ? .plain : nil
        case .deleted: return readFrame(.deleted, tag) ? .plain : nil
        case nil: return nil
        }
    }

    @inline(__always)
    private mutating func readFrame(_ happening: PlainFrame.Happening, _ tag: UInt8) -> Bool {
        guard let recordedAt = signed(), let step = signed() else { return false }
        last.recordedAt &+= recordedAt
        last.id &+= step
        if tag & JournalWriter.guildBit != 0 {
            guard let guild = signed() else { return false }
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
        guard bytes.count - offset >= 8 else { return numberByBytes(0, 0) }
        let word = bytes.word(offset)
        let ends = ~word & 0x8080_8080_8080_8080
        // Of longer numbers the last bytes lie beyond the word.
        guard ends != 0 else {
            offset += 8
            return numberByBytes(Self.joined(word & 0x7F7F_7F7F_7F7F_7F7F), 56)
        }
        offset += ends.trailingZeroBitCount / 8 + 1
        return Self.joined(word & (ends ^ (ends &- 1)) & 0x7F7F_7F7F_7F7F_7F7F)
    }

    /// The bits of eight groups of seven, one after another.
    @inline(__always)
    private static func joined(_ groups: UInt64) -> UInt64 {
        var bits = groups
        bits = (bits & 0x7F00_7F00_7F00_7F00) >> 1 | bits & 0x007F_007F_007F_007F
        bits = (bits & 0x3FFF_0000_3FFF_0000) >> 2 | bits & 0x0000_3FFF_0000_3FFF
        return (bits & 0x0FFF_FFFF_0000_0000) >> 4 | bits & 0x0000_0000_0FFF_FFFF
    }

    /// Goes on with a number of which the lower bits have been read.
    private mutating func numberByBytes(_ lower: UInt64, _ lowerBits: UInt64) -> UInt64? {
        var value = lower
        var shift = lowerBits
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
