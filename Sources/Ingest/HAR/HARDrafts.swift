import EventLog
import JSON

/// The events of one run over a HAR, in the order of their times. Payloads are read out of the document when they are
/// asked for, one event at a time.
public struct HARDrafts: DraftSequence {
    private let document: HARDocument
    private let timeline: HARTimeline
    private let kind: HARKind
    private let source: SourceName
    /// What the log holds of the source.
    private let history: RecordedHistory
    /// Issues of entries that were passed over; `next` has not given them out yet.
    private var issues: ArraySlice<IngestIssue>
    /// The index in `timeline.pieces` of the next piece.
    private var position = 0
    /// The body whose events are given out; `nil` between bodies.
    private var stream: HARStream?
    /// The name of the WebSocket that was opened last, while it is open.
    private var connection: String?
    private var queries = CloudKitQueries()

    init(
        _ document: HARDocument,
        _ timeline: HARTimeline,
        issues: [IngestIssue],
        kind: HARKind,
        source: SourceName,
        after history: RecordedHistory
    ) {
        self.history = history
        self.document = document
        self.timeline = timeline
        self.issues = issues[...]
        self.kind = kind
        self.source = source
    }

    /// The next event, or an entry that was passed over; those come first.
    public mutating func next() throws -> SourceItem? {
        if let issue = issues.popFirst() { return .skipped(issue) }
        while true {
            if let event = stream?.next() { return .draft(try draft(event)) }
            stream = nil
            guard position < timeline.pieces.count else { return nil }
            position += 1
            if let draft = try draft(of: timeline.pieces[position - 1]) { return .draft(draft) }
        }
    }
}

extension HARDrafts {
    /// The event of a piece; `nil` for a stream, whose events follow.
    private mutating func draft(of piece: HARTimeline.Piece) throws -> DraftEvent? {
        let part = timeline.parts[Int(piece.part)]
        switch piece.what {
        case .open, .close, .failure: return try link(piece, part)
        case .frame: return try frame(piece, part)
        case .event: return try event(piece, part)
        case .request: return try request(part)
        case .answer: return try answer(part)
        case .missing: return try gap(part, isClosed: false)
        case .found: return try history.holds(EventKey(Self.gapKey(part))) ? gap(part, isClosed: true) : nil
        case .stream:
            stream = HARStream(
                part,
                body: try document.read { (reader) throws(HARFault) in try part.entry.body(reader) }
            )
            return nil
        }
    }

    /// A `recorder.link/1`. Its attribute `by` marks that a HAR tells of the connection, without pings and close codes.
    private mutating func link(_ piece: HARTimeline.Piece, _ part: HARTimeline.Part) throws -> DraftEvent {
        let isOpen = piece.what == .open
        if isOpen { connection = part.name } else if connection == part.name { connection = nil }
        var attributes = ["link": isOpen ? "open" : "close", "connection": part.name, "by": "har"]
        if piece.what == .failure { attributes["reason"] = "the connection failed" }
        attributes["path"] = rawPath(part)
        let key = isOpen ? "open" : "close"
        return try frame(.recorderLink, part, key, attributes, at: piece.time).draft(payload: [])
    }

    private static func gapKey(_ part: HARTimeline.Part) -> String { "gap/\(part.name)/1" }

    /// A `recorder.gap/1` for a WebSocket whose messages the file lacks. It has no end, because nothing shows when the
    /// connection ended; a later file that has the messages takes it back.
    private func gap(_ part: HARTimeline.Part, isClosed: Bool) throws -> DraftEvent {
        let from = Timestamp(microseconds: part.started)
        var writer = JSONWriter()
        writer.begin("{")
        let to = isClosed ? Timestamp(microseconds: part.ended).description : nil
        let members: [(StaticString, String?)] = [
            ("reason", "no messages"), ("from", from.description), ("to", to), ("closes", "file"),
        ]
        for (name, value) in members {
            guard let value else { continue }
            writer.name(name)
            writer.string(value)
        }
        writer.end("}")
        return try FrameDraft(
            recordedAt: from,
            source: source,
            kind: .recorderGap,
            key: Self.gapKey(part) + (isClosed ? "/closed" : ""),
            attributes: try Attributes([
                Attributes.Pair(name: "connection", value: part.name),
                Attributes.Pair(name: "gap", value: isClosed ? "close" : "open"),
            ])
        ).draft(payload: writer.bytes)
    }

    /// A frame of a WebSocket, with the message's own time where it has one: the piece's may be later, to keep the order
    /// of the connection.
    private func frame(_ piece: HARTimeline.Piece, _ part: HARTimeline.Part) throws -> DraftEvent? {
        let message = try document.read { (reader) throws(HARFault) in try HARMessage(piece.range, reader) }
        guard let kind = kind.frameKind, case .frame(let direction, let bytes) = message.content else { return nil }
        var attributes = ["dir": direction.rawValue, "connection": part.name]
        attributes["path"] = rawPath(part)
        return try frame(kind, part, "\(piece.number)", attributes, at: message.time ?? piece.time).redacted(
            payload: bytes
        )
    }

    /// An event made from what a browser understood of it. The attribute `bytes` marks that these are not the remote's
    /// bytes.
    private func event(_ piece: HARTimeline.Piece, _ part: HARTimeline.Part) throws -> DraftEvent {
        let event = try document.read { (reader) throws(HARFault) in try HAREvent(piece.range, reader) }
        var attributes = ["connection": part.name, "bytes": "made"]
        attributes["path"] = rawPath(part)
        let frame = try frame(.serverSentEvent, part, "m/\(piece.number)", attributes, at: event.time ?? piece.time)
        return try frame.redacted(payload: event.bytes)
    }

    /// An event of a stream's body. HAR has one time for a whole body, which the attribute `time` marks.
    private func draft(_ event: HARStream.Event) throws -> DraftEvent {
        let part = event.part
        var attributes = ["connection": part.name, "time": "body"]
        attributes["path"] = rawPath(part)
        let frame = try frame(.serverSentEvent, part, "e/\(event.number)", attributes, at: part.ended)
        switch event.content {
        case .whole(let bytes): return try frame.redacted(payload: bytes)
        case .oversize(let length, let hash): return try frame.oversize(length: length, hash: hash)
        }
    }

    /// The path of what kind `raw` takes, by which a decoder file tells connections apart; `nil` for other kinds.
    private func rawPath(_ part: HARTimeline.Part) -> String? { kind == .raw ? part.address.path : nil }

    /// The body of a request, which only kind `raw` keeps; `nil` for a kind without answers.
    private func request(_ part: HARTimeline.Part) throws -> DraftEvent? {
        let body = try document.read { (reader) throws(HARFault) in
            try part.entry.asked.map { (range) throws(HARFault) in try reader.text(range) } ?? []
        }
        guard let kind = kind.answerKind else { return nil }
        let attributes = ["dir": FrameDirection.out.rawValue, "path": part.address.path, "method": method(part)]
        return try frame(kind, part, "q", attributes, at: part.started).redacted(payload: body)
    }

    /// The method of a request, cut because it is remote text.
    private func method(_ part: HARTimeline.Part) -> String { String(part.entry.method.prefix(32)) }

    /// A REST answer; `nil` if the kind has none. Its `connection` is the WebSocket that was opened last and is open.
    private mutating func answer(_ part: HARTimeline.Part) throws -> DraftEvent? {
        guard let kind = kind.answerKind else { return nil }
        let entry = part.entry
        let body = try document.read { (reader) throws(HARFault) in try entry.body(reader) }
        var attributes = ["status": String(entry.status)]
        attributes["connection"] = connection
        switch kind {
        case .cloudKitRecords:
            let asked = document.read { reader in entry.asked.flatMap { try? reader.text($0) } }
            let said = queries.attributes(route: part.address.route, asked: asked ?? [], body: body)
            attributes.merge(said) { _, said in said }
        case .httpAnswer:
            attributes["connection"] = nil
            attributes.merge(["dir": "in", "path": part.address.path, "method": method(part)]) { _, new in new }
        case .realtimeREST:
            attributes["path"] = part.address.path
            attributes["table"] = part.address.route.split(separator: "/").last.map(String.init)
        default: attributes["path"] = part.address.path
        }
        // Rows are at least as new as the request; a change that comes in before the answer may be newer than it.
        let time = kind == .realtimeREST ? part.started : part.ended
        return try frame(kind, part, "r", attributes, at: time).redacted(payload: body)
    }

    private func frame(
        _ kind: EventKind,
        _ part: HARTimeline.Part,
        _ key: String,
        _ attributes: [String: String],
        at time: Int64
    ) throws -> FrameDraft {
        FrameDraft(
            recordedAt: Timestamp(microseconds: time),
            source: source,
            kind: kind,
            key: "\(part.name)/\(key)",
            attributes: try Attributes(attributes.map { Attributes.Pair(name: $0.key, value: $0.value) })
        )
    }
}

/// Cuts one body into its events, a piece at a time, so that a long body does not become all its events at once.
private struct HARStream {
    struct Event {
        let part: HARTimeline.Part
        /// From 1 in its body.
        let number: Int
        let content: EventStreamSplitter.Event.Content
    }

    private let part: HARTimeline.Part
    private let body: [UInt8]
    private var splitter = EventStreamSplitter()
    /// Events of the last piece that are not given out yet.
    private var waiting: ArraySlice<EventStreamSplitter.Event> = []
    /// How much of the body the splitter has taken, in bytes.
    private var offset = 0
    private var count = 0
    private var isOver = false

    /// The bytes that the splitter takes at once.
    private static let pieceBytes = 64 << 10

    init(_ part: HARTimeline.Part, body: [UInt8]) {
        self.part = part
        self.body = body
    }

    mutating func next() -> Event? {
        while waiting.isEmpty, !isOver { fill() }
        guard let event = waiting.popFirst() else { return nil }
        count += 1
        return Event(part: part, number: count, content: event.content)
    }

    private mutating func fill() {
        guard offset < body.count else {
            isOver = true
            return waiting = (splitter.end().map { [$0] } ?? [])[...]
        }
        let end = min(body.count, offset + Self.pieceBytes)
        let time = Timestamp(microseconds: part.ended)
        waiting = body[offset..<end].withUnsafeBufferPointer { splitter.push($0, at: time) }[...]
        offset = end
    }
}

/// Numbers the pages of queries: each answer contains the marker with which the next request continues.
private struct CloudKitQueries {
    /// The page that each continuation marker leads to. A request without a known marker is for page 1.
    private var pages: [String: Int] = [:]

    /// The attributes of an answer.
    mutating func attributes(route: Substring, asked: [UInt8], body: [UInt8]) -> [String: String] {
        let (request, answer) = (JSONValue(received: asked), JSONValue(received: body))
        let op = route.hasSuffix("lookup") ? "lookup" : "query"
        var attributes = ["op": op]
        // A lookup names no type, so its records do. Cut, because remote text becomes an attribute.
        let type = request?["query"]?["recordType"] ?? answer?["records"]?[0]?["recordType"]
        attributes["type"] = type?.string.map { String($0.prefix(256)) }
        if op == "query" {
            let page = request?["continuationMarker"]?.string.flatMap { pages[$0] } ?? 1
            let marker = answer?["continuationMarker"]?.string
            if let marker { pages[marker] = page + 1 }
            attributes["page"] = String(page)
            if marker == nil { attributes["last"] = "true" }
        }
        return attributes
    }
}
