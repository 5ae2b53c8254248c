#if Recorders
import AsyncHTTPClient
import EventLog
import Logging
import NIOCore

/// One run of a recorder of an event stream: what connects the connections.
struct EventStreamSession {
    private let recording: Recording
    private var journal: ConnectionJournal
    private var backoff: Backoff
    private var fields: EventStreamFields
    private var isOpen = false
    private var lastRefusal: Int?

    private static let waitMax = Duration.seconds(30)

    init(_ recording: Recording, journal: ConnectionJournal) {
        self.recording = recording
        self.journal = journal
        backoff = Backoff(max: Self.waitMax, random: recording.random)
        fields = EventStreamFields(lastEventID: journal.session.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }

    var http: HTTPAccess { recording.http }

    /// What a reconnection sends; nothing that could break out of a header.
    var lastEventID: String {
        fields.lastEventID.unicodeScalars.contains { $0 == "\r" || $0 == "\n" } ? "" : fields.lastEventID
    }

    /// What closes a gap of this stream: the remote's replay after an id, or the list that it sends at each start.
    private var closer: String { lastEventID.isEmpty || lastEventID == "0" ? "snapshot" : "replay" }

    mutating func beginRun() throws {
        try journal.beginRun(topics: [nil], asksForPast: false, closes: closer, at: recording.clock.now())
    }

    /// Records what an answer gives; false where there is to be no other connection.
    ///
    /// - Throws: `IngestError` with code `refused` for an answer that is no event stream; `HTTPTrouble`.
    mutating func take(_ stream: HTTPAccess.Stream, path: String) async throws -> Bool {
        switch stream.status {
        case 200: break
        case 204:
            try await refused(204, path: path, retryAfter: nil)
            return false
        case 408, 429, 500...599:
            let wait = stream.headers["retry-after"].flatMap { Int($0) }
            try await refused(stream.status, path: path, retryAfter: wait)
            if let wait, wait > 0 { try await recording.clock.sleep(.seconds(min(wait, 3_600))) }
            return true
        default:
            try await refused(stream.status, path: path, retryAfter: nil)
            throw Self.error(.refused, "the server answered with status \(stream.status)")
        }
        guard Self.isEventStream(stream.headers["content-type"]) else {
            throw Self.error(.refused, "the answer's content type is not text/event-stream")
        }
        try await read(stream)
        return true
    }

    /// The connection is gone, or there was none.
    mutating func lost(_ reason: String) async throws {
        recording.log.notice("disconnected", metadata: ["reason": "\(reason)"])
        let time = recording.clock.now()
        if isOpen { try journal.close(WebSocketClosure(code: 0, reason: reason), at: time) }
        isOpen = false
        try openGap(at: time)
        try await append()
    }

    /// Waits before the next connection.
    mutating func wait() async throws {
        let asked = fields.retryMilliseconds.map { Duration.milliseconds($0) }
        let own = backoff.next()
        try await recording.clock.sleep(max(own, asked ?? .zero))
    }

    /// Says in the log that the recorder stops.
    mutating func stop() async throws {
        let time = recording.clock.now()
        if isOpen { try journal.close(WebSocketClosure(code: 0, reason: "recorder stopped"), at: time) }
        isOpen = false
        try journal.endRun(topics: [nil], closes: closer, at: time)
        try await append()
    }
}

extension EventStreamSession {
    private mutating func read(_ stream: HTTPAccess.Stream) async throws {
        try journal.open(at: recording.clock.now())
        isOpen = true
        lastRefusal = nil
        fields.beginStream()
        recording.log.info("connected")
        try await append()
        var splitter = EventStreamSplitter()
        var isFirst = true
        do {
            for try await chunk in stream.body {
                let time = recording.clock.now()
                let events = chunk.withUnsafeReadableBytes { bytes in
                    splitter.push(bytes.bindMemory(to: UInt8.self), at: time)
                }
                for event in events { try take(event, isFirst: &isFirst) }
                try await append()
            }
        } catch {
            let trouble = try HTTPAccess.trouble(error)
            if let last = splitter.end() { try take(last, isFirst: &isFirst) }
            throw trouble
        }
        if let last = splitter.end() { try take(last, isFirst: &isFirst) }
        try await lost("the server ended the stream")
    }

    private mutating func take(_ event: EventStreamSplitter.Event, isFirst: inout Bool) throws {
        switch event.content {
        case .oversize(let length, let hash):
            try journal.oversize(length: length, hash: hash, at: event.completedAt)
        case .whole(let bytes):
            try journal.frame(.in, bytes[...], at: event.completedAt)
            let before = fields.lastEventID
            _ = fields.read(bytes)
            // A batch may end with this event: then the next run asks for what comes after it.
            if fields.lastEventID != before { remember() }
            // A frame that only sets the time to wait says nothing of what was missed.
            guard isFirst, before != fields.lastEventID || bytes.starts(with: "data".utf8) || Self.hasID(bytes) else {
                return
            }
            let closer = fields.lastEventID == "0" ? "snapshot" : before.isEmpty ? "nothing" : "replay"
            try journal.closeGaps(by: closer, at: event.completedAt) { _ in true }
        }
        isFirst = false
        backoff.reset()
        remember()
    }

    private mutating func remember() {
        journal.session = Array(fields.lastEventID.utf8)
        journal.markLast()
    }

    private static func hasID(_ bytes: [UInt8]) -> Bool {
        bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { $0.starts(with: "id".utf8) }
    }

    private mutating func refused(_ status: Int, path: String, retryAfter: Int?) async throws {
        if status != lastRefusal {
            try journal.http(status, path: path, retryAfter: retryAfter, at: recording.clock.now())
        }
        lastRefusal = status
        recording.log.notice("refused", metadata: ["status": "\(status)"])
        try await append()
    }

    private mutating func openGap(at time: Timestamp) throws {
        guard !journal.openGaps.contains(where: { $0.to == nil }), journal.hasConnected else { return }
        try journal.openGap("disconnected", from: journal.lastInbound ?? time, closes: closer, at: time)
    }

    private mutating func append() async throws {
        try await recording.append(journal.take())
    }

    /// Whether a content type is that of event streams, whatever its parameters.
    static func isEventStream(_ type: String?) -> Bool {
        let essence = type?.prefix { $0 != ";" } ?? ""
        return essence.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined().lowercased() == "text/event-stream"
    }

    /// What a run that does not try again says.
    func unreachable(_ trouble: HTTPTrouble) -> IngestError {
        Self.error(.io, trouble.description, advice: "try again later, or go on trying with --follow")
    }

    private static func error(
        _ code: IngestError.Code,
        _ reason: String,
        advice: String = "check the address, and whether it needs a token"
    ) -> IngestError {
        IngestError(code, operation: "ingest sse", object: "", reason: reason, advice: advice)
    }
}
#endif
