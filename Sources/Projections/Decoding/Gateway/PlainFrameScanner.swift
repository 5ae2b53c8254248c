import EventLog
import JSON

/// Reads a plain frame of a gateway: MESSAGE_CREATE, MESSAGE_UPDATE or MESSAGE_DELETE in the server's usual form.
///
/// Refuses every other frame, malformed JSON included; `GatewayDecoder` reads those. A plain frame gives exactly what
/// the decoder would give (I18), so every byte is checked and no known member may occur twice. Unknown members, such as
/// those of the server's next release, may occur anywhere; a message's unknown members are kept.
///
/// A way of its own beside `JSONReader`, because it takes 71 ns a frame where a loop over the reader takes 198
/// (`docs/decisions/0004-plain-frames-go-a-short-way.md`).
///
/// Each step takes a scanner and returns it after the bytes read, or `nil` if they are not plain. The position then
/// stays in registers; an `inout` scanner would live in memory.
///
/// A pure function of the bytes: a replay scans on one thread while another one folds (`ReplayBatch`). A frame refused
/// without need costs time and changes no result.
enum PlainFrameScanner {
    /// The frame under construction. A pointer and not an `inout` value: the steps fill single fields in place, and
    /// nobody else holds the frame meanwhile.
    fileprivate typealias Room = UnsafeMutablePointer<PlainFrame>

    /// The known members that have occurred, of the frame and of its `d` in one set: `JSONValue.parse` gives the last
    /// of two equal names, which one pass cannot know when it reads the first.
    fileprivate struct Members: OptionSet {
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

        // The members that the decoder requires. `s` is optional in a frame, as the decoder reads it.
        static let ofFrame: Members = [.op, .t, .d]
        static let ofDeletion: Members = [.id, .channel]
        static let ofWrite: Members = [.id, .channel, .author, .content, .createdAt]

        /// Notes a member; false if it occurred before.
        @inline(__always)
        mutating func note(_ member: Members) -> Bool {
            defer { formUnion(member) }
            return isDisjoint(with: member)
        }
    }

    /// The frame of a payload; `nil` if it is not plain. The frame borrows `bytes`.
    static func frame(_ bytes: UnsafeRawBufferPointer) -> PlainFrame? {
        var frame = PlainFrame()
        return scan(bytes, into: &frame) ? frame : nil
    }

    /// Reads a frame into initialized memory; false if it is not plain, and then `room` is meaningless.
    ///
    /// The frame borrows `bytes`, which must outlive it. Cost: one pass over the bytes, no allocation.
    static func scan(_ bytes: UnsafeRawBufferPointer, into room: UnsafeMutablePointer<PlainFrame>) -> Bool {
        // The message store has no room for a longer text.
        guard bytes.count <= TextPool.countMax else { return false }
        var scanner = JSONScanner(bytes)
        // Clears what an earlier frame left in the memory: absent members must read as absent.
        room.pointee = PlainFrame()
        var seen: Members = []
        var counter: UInt64?
        guard scanner.take(UInt8(ascii: "{")) else { return false }
        repeat {
            scanner.skipSpace()
            guard scanner.current == UInt8(ascii: "\"") else { return false }
            let member = scanner
            if scanner.takeName("d") {
                guard seen.note(.d), let next = data(scanner, room, &seen) else { return false }
                scanner = next
            } else if scanner.takeName("s") {
                guard seen.note(.s) else { return false }
                if scanner.takeNull() { continue }
                // Negative numbers, fractions and exponents go the general way, which decides what they mean.
                counter = scanner.wholeNumber()
                if counter == nil { return false }
            } else if scanner.takeName("t") {
                guard seen.note(.t), let next = eventName(scanner, room) else { return false }
                scanner = next
            } else if scanner.takeName("op") {
                // Op 0 is a dispatch; every other op is a control frame.
                guard seen.note(.op), scanner.wholeNumber() == 0 else { return false }
            } else {
                // An unknown member of the frame itself is checked and dropped, as the decoder drops it.
                scanner = member
                guard scanner.passName(), scanner.passValue() else { return false }
            }
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else { return false }
        scanner.skipSpace()
        guard scanner.isAtEnd, seen.isSuperset(of: .ofFrame) else { return false }
        if let counter {
            assert(counter < 1 << 63, "wholeNumber() gives numbers below 2^63 only")
            // The bytes are needed for the mark of a numbered dispatch alone (`GatewayConnections.isRepeat`).
            (room.pointee.counter, room.pointee.bytes) = (Int64(counter), bytes)
        }
        // Only here, because `t` may follow `d`. A deletion that repeats members of the message is checked in full as
        // well; one in another form goes the general way.
        return seen.isSuperset(of: room.pointee.happening == .deleted ? .ofDeletion : .ofWrite)
    }

    /// Reads the object under `d`.
    @inline(never)
    private static func data(_ start: JSONScanner, _ room: Room, _ members: inout Members) -> JSONScanner? {
        var scanner = start
        var seen = members
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        repeat {
            scanner.skipSpace()
            guard scanner.current == UInt8(ascii: "\""), let next = member(scanner, room, &seen) else { return nil }
            scanner = next
        } while scanner.take(UInt8(ascii: ","))
        members = seen
        return scanner.take(UInt8(ascii: "}")) ? scanner : nil
    }

    /// Reads one member of `d`. The byte after the opening quote selects the few names to compare with.
    @inline(__always)
    private static func member(_ start: JSONScanner, _ room: Room, _ seen: inout Members) -> JSONScanner? {
        var scanner = start
        switch scanner.second {
        case UInt8(ascii: "i"):
            if scanner.takeName("id") { return seen.note(.id) ? id(scanner, into: &room.pointee.id) : nil }
        case UInt8(ascii: "c"): return memberInC(scanner, room, &seen)
        case UInt8(ascii: "a"): return memberInA(scanner, room, &seen)
        case UInt8(ascii: "e"):
            guard scanner.takeName("edited_at") else { break }
            guard seen.note(.editedAt) else { return nil }
            return scanner.takeNull() ? scanner : time(scanner, into: &room.pointee.editedAt)
        case UInt8(ascii: "g"):
            guard scanner.takeName("guild_id") else { break }
            guard seen.note(.guild) else { return nil }
            return scanner.takeNull() ? scanner : id(scanner, into: &room.pointee.guild)
        default: break
        }
        return unknown(start, room)
    }

    /// Reads a member whose name begins with `c`.
    @inline(__always)
    private static func memberInC(_ start: JSONScanner, _ room: Room, _ seen: inout Members) -> JSONScanner? {
        var scanner = start
        if scanner.takeName("content") {
            return seen.note(.content) ? content(scanner, into: &room.pointee.content) : nil
        }
        if scanner.takeName("channel_id") {
            return seen.note(.channel) ? id(scanner, into: &room.pointee.channel) : nil
        }
        guard scanner.takeName("created_at") else { return unknown(start, room) }
        return seen.note(.createdAt) ? time(scanner, into: &room.pointee.createdAt) : nil
    }

    /// Reads a member whose name begins with `a`.
    @inline(__always)
    private static func memberInA(_ start: JSONScanner, _ room: Room, _ seen: inout Members) -> JSONScanner? {
        var scanner = start
        if scanner.takeName("author_id") {
            return seen.note(.author) ? author(scanner, into: &room.pointee.author) : nil
        }
        if scanner.takeName("author_username") {
            guard seen.note(.userName) else { return nil }
            return scanner.takeNull() ? scanner : name(scanner, isShown: false, into: &room.pointee.authorName)
        }
        if scanner.takeName("author_display_name") {
            guard seen.note(.displayName) else { return nil }
            return scanner.takeNull() ? scanner : name(scanner, isShown: true, into: &room.pointee.authorName)
        }
        if scanner.takeName("author_avatar_hash") { return seen.note(.avatar) ? avatar(scanner) : nil }
        if scanner.takeName("attachments") {
            return seen.note(.attachments) ? attachments(scanner, of: start, room) : nil
        }
        return unknown(start, room)
    }

    /// Keeps a member that no decoder knows, verbatim.
    ///
    /// Refuses a member that needs more runs than `MemberRuns` has. A null member equals an absent one, so it is
    /// kept only as part of a run.
    @inline(never)
    private static func unknown(_ start: JSONScanner, _ room: Room) -> JSONScanner? {
        var scanner = start
        guard scanner.passName() else { return nil }
        let isNull = scanner.takeNull()
        guard isNull || scanner.passValue(), room.pointee.rest.add(scanner.bytes(from: start), isNull: isNull) else {
            return nil
        }
        return scanner
    }
}

// MARK: - Values

extension PlainFrameScanner {
    /// Reads `t`. Creation and update are one happening: a write, whose version decides (`docs/semantics.md`,
    /// "Messages").
    @inline(never)
    private static func eventName(_ start: JSONScanner, _ room: Room) -> JSONScanner? {
        var scanner = start
        guard scanner.take(UInt8(ascii: "\"")), scanner.takeLiteral("MESSAGE_") else { return nil }
        room.pointee.isCreated = scanner.takeLiteral("CREATE\"")
        if room.pointee.isCreated || scanner.takeLiteral("UPDATE\"") { return scanner }
        room.pointee.happening = .deleted
        return scanner.takeLiteral("DELETE\"") ? scanner : nil
    }

    /// Reads an id that is a number below 2^63, as text or number. Such an id is its own handle, so no `Names` is
    /// needed; other ids go the general way.
    @inline(never)
    private static func id(_ start: JSONScanner, into room: inout EntityID) -> JSONScanner? {
        var scanner = start
        guard let id = scanner.id().flatMap(EntityID.init(number:)) else { return nil }
        room = id
        return scanner
    }

    /// Reads the author's id as a number: a message shows its author as text, not as a handle.
    @inline(never)
    private static func author(_ start: JSONScanner, into room: inout UInt64) -> JSONScanner? {
        var scanner = start
        guard let id = scanner.id() else { return nil }
        room = id
        return scanner
    }

    /// - Parameter isShown: whether this is the display name, which wins over the user name in either order.
    @inline(never)
    private static func name(_ start: JSONScanner, isShown: Bool, into room: inout JSONText?) -> JSONScanner? {
        var scanner = start
        guard let name = scanner.text() else { return nil }
        if isShown || room == nil { room = name }
        return scanner
    }

    /// Passes the avatar: a known member that no state shows.
    @inline(never)
    private static func avatar(_ start: JSONScanner) -> JSONScanner? {
        var scanner = start
        return scanner.takeNull() || scanner.text() != nil ? scanner : nil
    }

    @inline(never)
    private static func content(_ start: JSONScanner, into room: inout JSONText) -> JSONScanner? {
        var scanner = start
        guard let text = scanner.text() else { return nil }
        room = text
        return scanner
    }

    @inline(never)
    private static func time(_ start: JSONScanner, into room: inout PackedTime) -> JSONScanner? {
        var scanner = start
        guard let time = scanner.time() else { return nil }
        room = time
        return scanner
    }

    /// Keeps attachments verbatim; null and `[]` count as none.
    private static func attachments(_ start: JSONScanner, of member: JSONScanner, _ room: Room) -> JSONScanner? {
        var scanner = start
        if scanner.takeNull() { return scanner }
        guard scanner.take(UInt8(ascii: "[")) else { return nil }
        if scanner.take(UInt8(ascii: "]")) { return scanner }
        // Back to the start of the value, since a bracket was passed to look for an empty array.
        scanner = start
        guard scanner.passValue(), room.pointee.rest.add(scanner.bytes(from: member), isNull: false) else { return nil }
        return scanner
    }
}
