/// One entry of a HAR: a request and its answer, reduced to what ingesting needs. Large values stay in the file; the
/// entry holds their ranges, which mean something only with a reader of the same document.
///
/// Members whose names begin with `_` are extensions: `_webSocketMessages`, `_resourceType` and `_fromCache` come from
/// Chrome, and proxies write some of them, too. `_file` comes from Playwright: the name of a file beside the HAR that
/// holds the body, or a WebSocket's messages.
struct HAREntry {
    /// The kind of an entry.
    enum Content {
        /// A WebSocket, with the range of its messages if the file has them: a list, or JSON lines of an attached file.
        case socket(messages: Range<Int>?)
        /// A stream of Server-Sent Events, with the range of its list of events if the file has one.
        case stream(events: Range<Int>?)
        /// Anything else.
        case answer
    }

    /// From 1, in the file's order.
    let number: Int
    /// As in the file; `GET` if the file does not say.
    let method: String
    /// `nil` if the URL names no server.
    let address: HARAddress?
    let content: Content
    /// The HTTP status; 0 if there was no answer.
    let status: Int
    /// True if the answer came out of the browser's own cache.
    let isCached: Bool
    /// The answer's; empty if the file does not say.
    let mediaType: MediaType
    /// The range of the request's body.
    let asked: Range<Int>?
    /// The name of the attached file with the body or messages; `nil` if they lie in the HAR, or are left out.
    let attachment: String?
    /// The ranges of `startedDateTime`, `time` and the body's text; `nil` if the file has none.
    private let startedPlace: Range<Int>?
    private let elapsedPlace: Range<Int>?
    private let bodyPlace: Range<Int>?
    private let isBase64: Bool
    /// The range of the attached file; `nil` if there is none.
    private let attached: Range<Int>?

    /// Reads the entry in a range of the file. Checks only what decides whether the entry is taken; times are checked
    /// when they are read, so that an entry of another site cannot refuse the file.
    init(_ range: Range<Int>, number: Int, _ reader: HARReader) throws(HARFault) {
        let entry = try reader.members(
            of: range,
            [
                "startedDateTime", "time", "request", "response", "_webSocketMessages", "_resourceType", "_fromCache",
                "_eventSourceMessages",
            ]
        )
        guard let request = entry[2] else { throw HARFault("\"request\" is missing") }
        let asked = try reader.members(of: request, ["method", "url", "postData"])
        guard let url = asked[1] else { throw HARFault("\"request.url\" is missing") }
        let response = try entry[3].map { (range) throws(HARFault) in
            try reader.members(of: range, ["status", "content"])
        }
        let body = try (response?[1]).map { (range) throws(HARFault) in
            try reader.members(of: range, ["mimeType", "text", "encoding", "_file"])
        }
        self.number = number
        method = try asked[0].map { (range) throws(HARFault) in try reader.string(range) } ?? "GET"
        address = HARAddress(try reader.string(url))
        status = (response?[0]).flatMap { reader.number($0) }.flatMap { Int(exactly: $0) } ?? 0
        isCached = entry[6] != nil
        mediaType = MediaType(try (body?[0]).map { (range) throws(HARFault) in try reader.string(range) })
        self.asked = try asked[2].flatMap { (range) throws(HARFault) in try reader.members(of: range, ["text"])[0] }
        (startedPlace, elapsedPlace, bodyPlace) = (entry[0], entry[1], body?[1])
        isBase64 = try (body?[2]).map { (range) throws(HARFault) in try reader.string(range) } == "base64"
        attachment = try (body?[3]).map { (range) throws(HARFault) in try reader.string(range) }
        attached = attachment.flatMap { reader.attachments[$0] }
        let type = try entry[5].map { (range) throws(HARFault) in try reader.string(range) }
        if entry[4] != nil || type == "websocket" || address?.isSocket == true {
            content = .socket(messages: entry[4] ?? attached)
        } else {
            let isStream = mediaType.name == "text/event-stream" || type == "eventsource"
            content = isStream ? .stream(events: try HAREvent.list(entry[7], reader)) : .answer
        }
    }

    /// True if the type does not say that the body is something else than JSON. Chrome writes `x-unknown` for an answer
    /// without a type.
    var mayBeJSON: Bool { ["", "x-unknown"].contains(mediaType.name) || mediaType.isJSON }

    /// True if the file contains the answer's body.
    var hasBody: Bool { bodyPlace != nil || attached != nil }

    /// The answer's body, decoded; empty if the file has none. Cost: a copy at each call.
    ///
    /// - Throws: a fault if the text is no base64 where `encoding` says so, or not UTF-8.
    func body(_ reader: HARReader) throws(HARFault) -> [UInt8] {
        guard let bodyPlace else { return attached.map { Array(reader.bytes[$0]) } ?? [] }
        if isBase64 { return try reader.base64(bodyPlace) }
        let text = try reader.text(bodyPlace)
        if case .stream = content { return MisreadText.restored(text) }
        return text
    }

    /// When the request was made, in microseconds since 1970 UTC.
    func started(_ reader: HARReader) throws(HARFault) -> Int64 {
        guard let startedPlace else { throw HARFault("\"startedDateTime\" is missing") }
        return try HARTime.microseconds(date: try reader.string(startedPlace))
    }

    /// The duration from the request to the answer's end, in microseconds; 0 if it is not known.
    func elapsed(_ reader: HARReader) throws(HARFault) -> Int64 {
        try HARTime.microseconds(elapsed: elapsedPlace.flatMap { reader.number($0) })
    }
}

/// One element of `_webSocketMessages`.
struct HARMessage {
    /// The content of a message, by its form.
    enum Content: Equatable {
        case frame(FrameDirection, [UInt8])
        /// The connection was closed, or (`isFailure`) failed.
        case end(isFailure: Bool)
        /// A ping or pong.
        case control
    }

    /// In microseconds since 1970; `nil` if the file was saved without times.
    let time: Int64?
    let content: Content

    /// Reads the message in a range of the file.
    ///
    /// - Throws: a fault for an invalid time, type, opcode or data.
    init(_ range: Range<Int>, _ reader: HARReader) throws(HARFault) {
        let parts = try reader.members(of: range, ["type", "time", "opcode", "data"])
        time = try HARTime.microseconds(message: parts[1].flatMap { reader.number($0) })
        content = try Self.content(parts, reader)
    }

    /// The bytes of a frame, even if its time is invalid; `nil` if it has none that can be read.
    static func bytes(_ range: Range<Int>, _ reader: HARReader) -> [UInt8]? {
        guard let parts = try? reader.members(of: range, ["type", "time", "opcode", "data"]),
            case .frame(_, let bytes)? = try? content(parts, reader)
        else { return nil }
        return bytes
    }

    private static func content(_ parts: [Range<Int>?], _ reader: HARReader) throws(HARFault) -> Content {
        guard let type = parts[0] else { throw HARFault("\"type\" is missing") }
        let direction: FrameDirection
        switch try reader.string(type) {
        case "send": direction = .out
        case "receive": direction = .in
        case "error": return .end(isFailure: true)
        default: throw HARFault("\"type\" is neither \"send\" nor \"receive\"")
        }
        let isBase64: Bool
        // The opcodes of RFC 6455, section 11.8. A message without one is text.
        switch parts[2].map({ reader.number($0) ?? -1 }) {
        case nil, 1: isBase64 = false
        case 2: isBase64 = true
        case 8: return .end(isFailure: false)
        case 9, 10: return .control
        default: throw HARFault("\"opcode\" is none of a WebSocket's message")
        }
        guard let data = parts[3] else { throw HARFault("\"data\" is missing") }
        return .frame(direction, isBase64 ? try reader.base64(data) : try reader.text(data))
    }
}

/// One element of `_eventSourceMessages`: a browser's reading of a Server-Sent Event, not its bytes.
struct HAREvent {
    /// In microseconds since 1970; `nil` if the file was saved without times.
    let time: Int64?
    /// The bytes of an event with the same name, id and data.
    let bytes: [UInt8]

    private static let names: [StaticString] = ["time", "eventName", "eventId", "data"]

    init(_ range: Range<Int>, _ reader: HARReader) throws(HARFault) {
        let parts = try reader.members(of: range, Self.names)
        time = try HARTime.microseconds(message: parts[0].flatMap { reader.number($0) })
        guard let data = parts[3] else { throw HARFault("\"data\" is missing") }
        let name = try parts[1].map { (range) throws(HARFault) in try reader.text(range) } ?? []
        let id = try parts[2].map { (range) throws(HARFault) in try reader.text(range) } ?? []
        // `message` is the name of an event that names none.
        let isNamed = !name.isEmpty && !name.elementsEqual("message".utf8)
        let fields = (isNamed ? Self.lines("event", name) : []) + (id.isEmpty ? [] : Self.lines("id", id))
        bytes = fields + Self.lines("data", try reader.text(data)) + [0x0A]
    }

    /// The lines of a field: one for each line of its value, because a field of an event stream cannot contain a line
    /// end.
    private static func lines(_ field: String, _ value: [UInt8]) -> [UInt8] {
        let lines = value.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
        return lines.flatMap { Array("\(field): ".utf8) + $0 + [0x0A] }
    }

    /// The range of a list of events; `nil` if it is empty, or if a sanitized export left out the events' data. The
    /// body is read instead then, if the file has it.
    static func list(_ range: Range<Int>?, _ reader: HARReader) throws(HARFault) -> Range<Int>? {
        guard let range else { return nil }
        var elements = reader.elements(of: range)
        guard let first = try elements.next() else { return nil }
        return try reader.members(of: first, names)[3] == nil ? nil : range
    }
}
