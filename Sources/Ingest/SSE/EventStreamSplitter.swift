import EventLog

/// Cuts a stream of Server-Sent Events into its events, verbatim (I2). The result does not depend on the pieces in
/// which the stream arrives.
///
/// Follows the WHATWG HTML Standard, section 9.2.5 (parsing an event stream): lines end with LF, CR or CRLF, an empty
/// line ends an event, and a byte order mark may begin the stream. An event's bytes are its lines and the empty line,
/// with line ends; the first event's also include the mark. Empty lines between events belong to none.
struct EventStreamSplitter {
    /// One event of the stream, with its line ends and the empty line.
    struct Event: Equatable {
        enum Content: Equatable {
            case whole([UInt8])
            /// An event too large to keep (I3).
            case oversize(length: Int, hash: Hash256)
        }

        let content: Content
        /// When the piece that completed the event arrived.
        let completedAt: Timestamp
    }

    /// The most bytes of an event that is kept whole.
    private let limit: Int
    /// The current event so far, or a byte order mark before it.
    private var buffer = Buffer()
    /// The number of bytes in the current line so far, without a byte order mark.
    private var lineLength = 0
    /// The number of lines of the current event so far.
    private var lineCount = 0
    /// The number of bytes of a byte order mark seen so far; `nil` once none can begin or go on.
    private var markLength: Int? = 0
    /// Tells what a CR as the last byte ended; an LF right after it belongs to the same line end.
    private var carriageReturn = CarriageReturn.none
    /// When that CR arrived; counts only for `endedEvent`.
    private var carriageReturnTime = Timestamp(seconds: 0)
    /// True if the current event's last line that was not empty ended with a CR without an LF.
    private var lastLineEndedWithBareReturn = false

    private enum CarriageReturn {
        case none, endedLine, endedEvent
    }

    /// True if a content type is that of event streams, with any parameters.
    static func isEventStream(_ type: String?) -> Bool { MediaType(type).name == "text/event-stream" }

    init(limit: Int = EnvelopeLimits.payloadBytesMax) {
        self.limit = limit
    }

    /// Takes the next bytes of the stream; returns the events that they complete, in order. Cost: O(bytes), whatever
    /// the pieces.
    mutating func push(_ bytes: UnsafeBufferPointer<UInt8>, at time: Timestamp) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            if let event = push(byte, at: time) { events.append(event) }
        }
        return events
    }

    /// Ends the stream and discards an unfinished event. The next bytes begin another stream.
    ///
    /// If the last byte was the CR of an event's empty line, an LF might have followed. The event is complete, and
    /// returned, if its last line ended with a bare CR too.
    mutating func end() -> Event? {
        let isComplete = carriageReturn == .endedEvent && lastLineEndedWithBareReturn
        let event = isComplete ? takeEvent(at: carriageReturnTime) : nil
        self = EventStreamSplitter(limit: limit)
        return event
    }
}

extension EventStreamSplitter {
    /// Takes one byte; first decides what a CR before it has ended.
    private mutating func push(_ byte: UInt8, at time: Timestamp) -> Event? {
        var completed: Event?
        switch carriageReturn {
        case .none: break
        case .endedLine:
            carriageReturn = .none
            if byte == 0x0A {
                buffer.append(byte, limit: limit)
                lastLineEndedWithBareReturn = false
                return nil
            }
        case .endedEvent:
            carriageReturn = .none
            if byte == 0x0A {
                buffer.append(byte, limit: limit)
                return takeEvent(at: time)
            }
            completed = takeEvent(at: carriageReturnTime)
        }
        // One byte cannot complete two events: after a whole one it begins a line or is an empty line between events.
        let event = take(byte, at: time)
        assert(completed == nil || event == nil, "one byte completes one event at most")
        return completed ?? event
    }

    /// Takes a byte that is not the LF of a CRLF.
    private mutating func take(_ byte: UInt8, at time: Timestamp) -> Event? {
        assert(carriageReturn == .none, "a byte after a CR is judged before it is taken")
        if byte != 0x0A, byte != 0x0D {
            buffer.append(byte, limit: limit)
            if !isMark(byte) { lineLength += 1 }
            return nil
        }
        // The beginning of a mark, unless the mark is whole, is text of the line.
        let endsEvent = lineLength + (markLength ?? 0) == 0
        if endsEvent, lineCount == 0 {
            skipEmptyLine()
            return nil
        }
        buffer.append(byte, limit: limit)
        markLength = nil
        lineLength = 0
        if !endsEvent {
            lineCount += 1
            lastLineEndedWithBareReturn = byte == 0x0D
            if byte == 0x0D { carriageReturn = .endedLine }
            return nil
        }
        if byte == 0x0D {
            carriageReturn = .endedEvent
            carriageReturnTime = time
            return nil
        }
        return takeEvent(at: time)
    }

    /// Drops an empty line between events, with a mark before it. An LF after a CR is dropped as another empty line.
    private mutating func skipEmptyLine() {
        markLength = nil
        buffer = Buffer()
    }

    /// True if the byte belongs to a byte order mark (EF BB BF) at the beginning of the stream. Updates `markLength`.
    private mutating func isMark(_ byte: UInt8) -> Bool {
        guard let length = markLength else { return false }
        if byte == [0xEF, 0xBB, 0xBF][length] {
            markLength = length == 2 ? nil : length + 1
            return true
        }
        // The bytes that looked like a mark began a line.
        lineLength += length
        markLength = nil
        return false
    }

    /// Gives out the event in the buffer, and begins the next one.
    private mutating func takeEvent(at time: Timestamp) -> Event {
        let event = Event(content: buffer.content, completedAt: time)
        buffer = Buffer()
        lineCount = 0
        lastLineEndedWithBareReturn = false
        return event
    }
}

/// The bytes of an event; once there are too many, their length and hash. Then at most 64 KiB wait to be hashed.
private struct Buffer {
    private var bytes: [UInt8] = []
    /// Length and hash so far of an event that is too large to keep; `nil` while the event is kept whole.
    private var overflow: (length: Int, hasher: Hasher256)?

    var content: EventStreamSplitter.Event.Content {
        guard let overflow else { return .whole(bytes) }
        var hasher = overflow.hasher
        hasher.update(bytes)
        return .oversize(length: overflow.length + bytes.count, hash: hasher.finalize())
    }

    /// Adds a byte. `limit` must be the same in all calls.
    mutating func append(_ byte: UInt8, limit: Int) {
        if bytes.count >= (overflow == nil ? limit : 1 << 16) { spill() }
        bytes.append(byte)
    }

    /// Hashes the bytes so far and frees them.
    private mutating func spill() {
        var (length, hasher) = overflow ?? (0, Hasher256())
        hasher.update(bytes)
        length += bytes.count
        overflow = (length, hasher)
        bytes.removeAll(keepingCapacity: false)
    }
}

/// The name of a content type (RFC 9110, section 8.3.1), in lower case, without parameters and white space; empty if
/// there is none.
struct MediaType {
    let name: String

    init(_ type: String?) {
        let essence = type?.prefix { $0 != ";" } ?? ""
        name = essence.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined().lowercased()
    }

    /// True if the type is a form of JSON.
    var isJSON: Bool { name == "application/json" || name == "text/json" || name.hasSuffix("+json") }
}
