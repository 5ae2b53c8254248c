/// Interprets the fields of a stream's events by the WHATWG HTML Standard, section 9.2.6 (interpreting an event
/// stream).
///
/// A recorder needs only the last event id and the time to wait.
package struct EventStreamFields {
    /// The message that an event dispatches.
    struct Message: Equatable {
        var type = "message"
        var data = ""
        var lastEventID = ""
    }

    /// The id that an event sets; `nil` if it sets none, or is cut off before the empty line that ends it.
    package static func id(setBy event: [UInt8]) -> String? {
        guard let end = event.last, end == 0x0A || end == 0x0D, lines(of: event[...]).last?.isEmpty == true else {
            return nil
        }
        // The standard ignores ids with a NUL, so this value means that no id was set.
        let none = "\0"
        var fields = EventStreamFields(lastEventID: none)
        _ = fields.read(event)
        return fields.lastEventID == none ? nil : fields.lastEventID
    }

    /// The id that a reconnection sends as `Last-Event-ID`; empty for none.
    private(set) var lastEventID: String
    /// The wait before a reconnection that the remote demands, in milliseconds; `nil` if it demanded none.
    private(set) var retryMilliseconds: Int?
    /// True until the first event of the stream was read.
    private var isFirst = true

    /// The longest wait that a remote may demand: a day.
    private static let retryMillisecondsMax = 86_400_000

    init(lastEventID: String = "") {
        self.lastEventID = lastEventID
    }

    /// Begins another stream, whose first event may begin with a byte order mark.
    mutating func beginStream() {
        isFirst = true
    }

    /// Reads one event's bytes, including its empty line; `nil` if the event dispatches no message.
    mutating func read(_ event: [UInt8]) -> Message? {
        var bytes = event[...]
        // The standard ignores one byte order mark at the stream's beginning.
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        isFirst = false
        var message = Message()
        var type = ""
        var data: String?
        for line in Self.lines(of: bytes) where !line.isEmpty {
            let (name, value) = Self.field(line)
            switch name {
            // A repeated `event` replaces, repeated `data` lines are joined by LF (the standard's own rule).
            case "event": type = value
            case "data": data = data.map { $0 + "\n" + value } ?? value
            case "id": if !value.unicodeScalars.contains("\0") { lastEventID = value }
            case "retry": readRetry(value)
            default: continue
            }
        }
        guard let data else { return nil }
        message.data = data
        message.lastEventID = lastEventID
        if !type.isEmpty { message.type = type }
        return message
    }

    /// Takes a `retry` of ASCII digits, as the standard says; other values are ignored. A number too large for `Int`
    /// counts as the longest wait.
    private mutating func readRetry(_ value: String) {
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
        retryMilliseconds = min(Int(value) ?? Self.retryMillisecondsMax, Self.retryMillisecondsMax)
    }

    /// The name before the first colon, and the value after it without one leading space. Without a colon the whole
    /// line is the name.
    private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: 0x3A) else { return (String(decoding: line, as: UTF8.self), "") }
        var value = line[(colon + 1)...]
        if value.first == 0x20 { value = value.dropFirst() }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// The lines that end, without their ends: LF, CR or CRLF. Bytes behind the last end are left out.
    private static func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var index = start
        while index < bytes.endIndex {
            let byte = bytes[index]
            guard byte == 0x0A || byte == 0x0D else {
                index += 1
                continue
            }
            lines.append(bytes[start..<index])
            index += byte == 0x0D && index + 1 < bytes.endIndex && bytes[index + 1] == 0x0A ? 2 : 1
            start = index
        }
        return lines
    }
}
