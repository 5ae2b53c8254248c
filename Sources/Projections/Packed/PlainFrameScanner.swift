/// Finds out whether a gateway's frame is a plain one: MESSAGE_CREATE, MESSAGE_UPDATE or MESSAGE_DELETE as the server
/// writes them.
///
/// Says `nil` for every other frame, also for one that is no JSON text: the decoder reads those. What it does say is
/// what the decoder would say; nothing in the frame is left unchecked. No member that it knows may stand twice, no
/// member that it does not know may stand at all.
struct PlainFrameScanner {
    private struct Members: OptionSet {
        let rawValue: UInt32

        static let op = Members(rawValue: 1 << 0)
        static let s = Members(rawValue: 1 << 1)
        static let t = Members(rawValue: 1 << 2)
        static let d = Members(rawValue: 1 << 3)
        static let id = Members(rawValue: 1 << 4)
        static let channel = Members(rawValue: 1 << 5)
        static let guild = Members(rawValue: 1 << 6)
        static let author = Members(rawValue: 1 << 7)
        static let displayName = Members(rawValue: 1 << 8)
        static let userName = Members(rawValue: 1 << 9)
        static let avatar = Members(rawValue: 1 << 10)
        static let content = Members(rawValue: 1 << 11)
        static let createdAt = Members(rawValue: 1 << 12)
        static let editedAt = Members(rawValue: 1 << 13)
        static let attachments = Members(rawValue: 1 << 14)
        static let reference = Members(rawValue: 1 << 15)

        static let ofFrame: Members = [.op, .t, .d]
        static let ofDeletion: Members = [.id, .channel]
        static let ofWrite: Members = [.id, .channel, .author, .content, .createdAt]
    }

    private var scanner: ByteScanner
    private let room: UnsafeMutablePointer<PlainFrame>
    private var seen: Members = []
    private var displayName: JSONText?
    private var userName: JSONText?

    private init(_ bytes: UnsafeRawBufferPointer, _ room: UnsafeMutablePointer<PlainFrame>) {
        scanner = ByteScanner(bytes)
        self.room = room
        room.pointee = PlainFrame()
    }

    private var frame: PlainFrame {
        @inline(__always) get { room.pointee }
        @inline(__always) nonmutating _modify { yield &room.pointee }
    }

    static func frame(_ bytes: UnsafeRawBufferPointer) -> PlainFrame? {
        var frame = PlainFrame()
        return scan(bytes, into: &frame) ? frame : nil
    }

    /// Reads a frame into room that is there; whether it is a plain one. What the room holds otherwise means nothing.
    @inline(__always)
    static func scan(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutablePointer<PlainFrame>) -> Bool {
        guard bytes.count <= TextPool.countMax else { return false }
        var scanner = PlainFrameScanner(bytes, room)
        return scanner.readFrame()
    }

    private mutating func readFrame() -> Bool {
        guard scanner.take(UInt8(ascii: "{")) else { return false }
        repeat {
            guard readNextFrameMember() else { return false }
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else { return false }
        scanner.skipSpace()
        guard scanner.isAtEnd, seen.isSuperset(of: .ofFrame) else { return false }
        frame.authorName = displayName ?? userName
        return seen.isSuperset(of: frame.happening == .deleted ? .ofDeletion : .ofWrite)
    }

    @inline(__always)
    private mutating func note(_ member: Members) -> Bool {
        if !seen.isDisjoint(with: member) { return false }
        seen.formUnion(member)
        return true
    }

    /// Names written without white space are compared where they stand; all others are looked for.
    @inline(__always)
    private mutating func readNextFrameMember() -> Bool {
        switch scanner.second {
        case UInt8(ascii: "d"): if scanner.takeLiteral("\"d\":") { return note(.d) && readData() }
        case UInt8(ascii: "s"): if scanner.takeLiteral("\"s\":") { return note(.s) && readCounter() }
        case UInt8(ascii: "t"): if scanner.takeLiteral("\"t\":") { return note(.t) && readEventName() }
        case UInt8(ascii: "o"): if scanner.takeLiteral("\"op\":") { return note(.op) && scanner.wholeNumber() == 0 }
        default: break
        }
        return scanner.name().map { readFrameMember($0) } ?? false
    }

    @inline(never)
    private mutating func readFrameMember(_ name: Range<Int>) -> Bool {
        if name.count == 1 {
            switch scanner.bytes[name.lowerBound] {
            case UInt8(ascii: "d"): return note(.d) && readData()
            case UInt8(ascii: "s"): return note(.s) && readCounter()
            case UInt8(ascii: "t"): return note(.t) && readEventName()
            default: return false
            }
        }
        guard name.count == 2, scanner.holds("op", at: name.lowerBound), note(.op) else { return false }
        return scanner.wholeNumber() == 0
    }

    private mutating func readCounter() -> Bool {
        if scanner.takeNull() { return true }
        guard let number = scanner.wholeNumber() else { return false }
        frame.mark = GatewayConnections.Mark(s: Int64(number), payload: scanner.bytes)
        return true
    }

    private mutating func readEventName() -> Bool {
        guard scanner.take(UInt8(ascii: "\"")), scanner.takeLiteral("MESSAGE_") else { return false }
        if scanner.takeLiteral("CREATE\"") || scanner.takeLiteral("UPDATE\"") { return true }
        frame.happening = .deleted
        return scanner.takeLiteral("DELETE\"")
    }

    private mutating func readData() -> Bool {
        guard scanner.take(UInt8(ascii: "{")) else { return false }
        repeat {
            guard readNextMember() else { return false }
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "}"))
    }

    /// As `readNextFrameMember`.
    @inline(__always)
    private mutating func readNextMember() -> Bool {
        switch scanner.second {
        case UInt8(ascii: "i"): if scanner.takeLiteral("\"id\":") { return note(.id) && readID() }
        case UInt8(ascii: "c"):
            if scanner.takeLiteral("\"content\":") { return note(.content) && readContent() }
            if scanner.takeLiteral("\"channel_id\":") { return note(.channel) && readChannel() }
            if scanner.takeLiteral("\"created_at\":") { return note(.createdAt) && readCreatedAt() }
        case UInt8(ascii: "a"):
            if scanner.takeLiteral("\"author_id\":") { return note(.author) && readAuthor() }
            if scanner.takeLiteral("\"author_username\":") { return note(.userName) && readUserName() }
            if scanner.takeLiteral("\"author_display_name\":") { return note(.displayName) && readDisplayName() }
            if scanner.takeLiteral("\"attachments\":") { return note(.attachments) && readAttachments() }
        case UInt8(ascii: "e"): if scanner.takeLiteral("\"edited_at\":") { return note(.editedAt) && readEditedAt() }
        case UInt8(ascii: "m"):
            if scanner.takeLiteral("\"message_reference\":") { return note(.reference) && readReference() }
        case UInt8(ascii: "g"): if scanner.takeLiteral("\"guild_id\":") { return note(.guild) && readGuild() }
        default: break
        }
        return scanner.name().map { readMember($0) } ?? false
    }

    @inline(never)
    private mutating func readMember(_ name: Range<Int>) -> Bool {
        let start = name.lowerBound
        switch name.count {
        case 2: return scanner.holds("id", at: start) && note(.id) && readID()
        case 7: return scanner.holds("content", at: start) && note(.content) && readContent()
        case 8: return scanner.holds("guild_id", at: start) && note(.guild) && readGuild()
        case 9:
            if scanner.holds("author_id", at: start) { return note(.author) && readAuthor() }
            return scanner.holds("edited_at", at: start) && note(.editedAt) && readEditedAt()
        case 10:
            if scanner.holds("channel_id", at: start) { return note(.channel) && readChannel() }
            return scanner.holds("created_at", at: start) && note(.createdAt) && readCreatedAt()
        default: return readLongMember(name)
        }
    }

    private mutating func readLongMember(_ name: Range<Int>) -> Bool {
        let start = name.lowerBound
        switch name.count {
        case 11: return scanner.holds("attachments", at: start) && note(.attachments) && readAttachments()
        case 15: return scanner.holds("author_username", at: start) && note(.userName) && readUserName()
        case 17: return scanner.holds("message_reference", at: start) && note(.reference) && readReference()
        case 18: return scanner.holds("author_avatar_hash", at: start) && note(.avatar) && skipText()
        case 19: return scanner.holds("author_display_name", at: start) && note(.displayName) && readDisplayName()
        default: return false
        }
    }
}

// MARK: - Values

extension PlainFrameScanner {
    @inline(__always)
    private mutating func readID() -> Bool {
        guard let id = scanner.id().flatMap(EntityID.init(number:)) else { return false }
        frame.id = id
        return true
    }

    @inline(__always)
    private mutating func readChannel() -> Bool {
        guard let id = scanner.id().flatMap(EntityID.init(number:)) else { return false }
        frame.channel = id
        return true
    }

    @inline(__always)
    private mutating func readGuild() -> Bool {
        if scanner.takeNull() { return true }
        guard let id = scanner.id().flatMap(EntityID.init(number:)) else { return false }
        frame.guild = id
        return true
    }

    private mutating func readAnswered() -> Bool {
        if scanner.takeNull() { return true }
        guard let id = scanner.id().flatMap(EntityID.init(number:)) else { return false }
        frame.replyTo = id
        return true
    }

    @inline(__always)
    private mutating func readUserName() -> Bool {
        if scanner.takeNull() { return true }
        userName = scanner.text()
        return userName != nil
    }

    @inline(__always)
    private mutating func readDisplayName() -> Bool {
        if scanner.takeNull() { return true }
        displayName = scanner.text()
        return displayName != nil
    }

    @inline(__always)
    private mutating func readAuthor() -> Bool {
        guard let id = scanner.id() else { return false }
        frame.author = id
        return true
    }

    @inline(__always)
    private mutating func readContent() -> Bool {
        guard let text = scanner.text() else { return false }
        frame.content = text
        return true
    }

    @inline(__always)
    private mutating func readCreatedAt() -> Bool {
        guard let time = scanner.time() else { return false }
        frame.createdAt = time
        return true
    }

    @inline(__always)
    private mutating func readEditedAt() -> Bool {
        if scanner.takeNull() { return true }
        guard let time = scanner.time() else { return false }
        frame.editedAt = time
        return true
    }

    private mutating func skipText() -> Bool {
        scanner.takeNull() || scanner.text() != nil
    }

    /// Attachments have no place in a packed message.
    private mutating func readAttachments() -> Bool {
        if scanner.takeNull() { return true }
        return scanner.take(UInt8(ascii: "[")) && scanner.take(UInt8(ascii: "]"))
    }

    /// The message that is answered; what else is said of it decides nothing.
    private mutating func readReference() -> Bool {
        if scanner.takeNull() { return true }
        guard scanner.take(UInt8(ascii: "{")) else { return false }
        var hasID = false
        repeat {
            guard let name = scanner.name() else { return false }
            if name.count == 10, scanner.holds("message_id", at: name.lowerBound) {
                guard !hasID, readAnswered() else { return false }
                hasID = true
            } else {
                guard scanner.takeNull() || scanner.id() != nil else { return false }
            }
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "}"))
    }
}
