import EventLog

/// Cuts a stream of Server-Sent Events into its events, verbatim, however the stream arrives in pieces.
///
/// Follows the WHATWG HTML Standard, section 9.2.5 (parsing an event stream): lines end with LF, CR or CRLF, an empty
/// line ends an event, a byte order mark may begin the stream. An event's bytes are its lines and the empty line, line
/// ends included; a mark stands before the first event's lines. Empty lines between events belong to none.
struct EventStreamSplitter {
    /// One event of the stream.
    struct Event: Equatable {
        enum Content: Equatable {
            case whole([UInt8])
            /// An event with more bytes than are kept.
            case oversize(length: Int, hash: Hash256)
        }

        let content: Content
        /// When the piece that completed it arrived.
        let completedAt: Timestamp
    }

    private let limit: Int
    private var buffer = Buffer()
    /// Bytes in the current line so far; a byte order mark at the stream's beginning is none.
    private var lineLength = 0
    /// Lines of the current event so far.
    private var lineCount = 0
    private var markLength: Int? = 0
    /// A CR has ended a line, and an LF right after it would belong to it.
    private var carriageReturn = CarriageReturn.none
    private var carriageReturnTime = Timestamp(seconds: 0)
    private var lastLineEndedWithBareReturn = false

    private enum CarriageReturn {
        case none, endedLine, endedEvent
    }

    /// Whether a content type is that of event streams, whatever its parameters.
    static func isEventStream(_ type: String?) -> Bool { MediaType(type).name == "text/event-stream" }

    init(limit: Int = EnvelopeLimits.payloadBytesMax) {
        self.limit = limit
    }

    /// Takes the next bytes of the stream and gives the events that they complete, in order.
    mutating func push(_ bytes: UnsafeBufferPointer<UInt8>, at time: Timestamp) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            if let event = push(byte, at: time) { events.append(event) }
        }
        return events
    }

    /// Ends the stream: an unfinished event is discarded, and the next bytes begin another stream.
    ///
    /// An event that ended with a CR, of which nobody could know yet whether an LF follows, is complete if the line
    /// before ended with a bare CR too.
    mutating func end() -> Event? {
        let isComplete = carriageReturn == .endedEvent && lastLineEndedWithBareReturn
        let event = isComplete ? takeEvent(at: carriageReturnTime) : nil
        self = EventStreamSplitter(limit: limit)
        return event
    }
}

extension EventStreamSplitter {
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
        return completed ?? event
    }

    private mutating func take(_ byte: UInt8, at time: Timestamp) -> Event? {
        if byte != 0x0A, byte != 0x0D {
            buffer.append(byte, limit: limit)
            if !isMark(byte) { lineLength += 1 }
            return nil
        }
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

    /// An empty line that ends nothing. Its bytes go, with a mark before them, and so does an LF after a CR: as the next
    /// byte it is an empty line again.
    private mutating func skipEmptyLine() {
        markLength = nil
        buffer = Buffer()
    }

    /// Whether the byte belongs to a byte order mark (EF BB BF) at the beginning of the stream.
    private mutating func isMark(_ byte: UInt8) -> Bool {
        guard let length = markLength else { return false }
        if byte == [0xEF, 0xBB, 0xBF][length] {
            markLength = length == 2 ? nil : length + 1
            return true
        }
        // What looked like a mark was the beginning of a line.
        lineLength += length
        markLength = nil
        return false
    }

    private mutating func takeEvent(at time: Timestamp) -> Event {
        let event = Event(content: buffer.content, completedAt: time)
        buffer = Buffer()
        lineCount = 0
        lastLineEndedWithBareReturn = false
        return event
    }
}

/// The bytes of an event, or their length and hash once there are too many.
private struct Buffer {
    private var bytes: [UInt8] = []
    private var overflow: (length: Int, hasher: Hasher256)?

    var content: EventStreamSplitter.Event.Content {
        guard let overflow else { return .whole(bytes) }
        var hasher = overflow.hasher
        hasher.update(bytes)
        return .oversize(length: overflow.length + bytes.count, hash: hasher.finalize())
    }

    mutating func append(_ byte: UInt8, limit: Int) {
        if bytes.count >= (overflow == nil ? limit : 1 << 16) { spill() }
        bytes.append(byte)
    }

    private mutating func spill() {
        var (length, hasher) = overflow ?? (0, Hasher256())
        hasher.update(bytes)
        length += bytes.count
        overflow = (length, hasher)
        bytes.removeAll(keepingCapacity: false)
    }
}

/// The name of a content type, in lower case, without its parameters and white space; empty where there is none.
struct MediaType {
    let name: String

    init(_ type: String?) {
        let essence = type?.prefix { $0 != ";" } ?? ""
        name = essence.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined().lowercased()
    }

    /// Whether it is a form of JSON.
    var isJSON: Bool { name == "application/json" || name == "text/json" || name.hasSuffix("+json") }
}
