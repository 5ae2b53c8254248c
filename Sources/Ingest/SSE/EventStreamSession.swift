#if Recorders
import AsyncHTTPClient
import EventLog
import JSON
import Logging
import NIOCore

/// One run of a recorder of an event stream: the state that outlives a connection. Used by one task.
struct EventStreamSession {
    private let recording: Recording
    /// The session of its journal is the last event's id.
    private let connection: PolledConnection
    /// What the stream's fields have set: the last id, also of earlier runs, and the wait.
    private var fields: EventStreamFields
    /// The id that this connection's request sent; `nil` for none.
    private var sentID: String?
    /// True once people were told that the id cannot be sent.
    private var hasToldOfID = false
    /// Whether the route is one of Punchlist's, whose streams begin with the whole list, under the id 0.
    private let beginsWithSnapshot: Bool
    /// When the connection was first heard, by the clock's `elapsed`; `nil` before.
    private var heardAt: Duration?

    /// How long after a connection was first heard a replay may begin. A server that has one to send sends it at once.
    private static let replayWait = Duration.seconds(10)

    /// The longest wait of the backoff.
    private static let waitMax = Duration.seconds(30)
    /// The longest id that is sent: servers refuse long header fields.
    private static let idBytesMax = 4_096

    /// - Parameter path: the path of the stream's URL.
    init(_ recording: Recording, journal: ConnectionJournal, path: String) {
        self.recording = recording
        beginsWithSnapshot = path.split(separator: "/").contains { $0 == "subscribe" || $0 == "status" }
        connection = PolledConnection(recording, journal: journal, closes: "nothing", waitMax: Self.waitMax)
        fields = EventStreamFields(lastEventID: journal.session.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }

    var http: HTTPAccess { recording.http }
    var secrets: KnownSecrets { recording.secrets }

    /// The id to send with the next request; `nil` if there is none, or none that a header can hold, or if it holds a
    /// secret: a redirect may lead to another server (I14).
    mutating func nextLastEventID() -> String? {
        let isSecret = recording.secrets.isSecret(id: Array(fields.lastEventID.utf8), kind: .serverSentEvent)
        sentID = Self.isSendable(fields.lastEventID) && !isSecret ? fields.lastEventID : nil
        if sentID == nil, !fields.lastEventID.isEmpty, !hasToldOfID {
            hasToldOfID = true
            recording.log.warning("the last event's id cannot be sent, so nothing is asked for again")
        }
        return sentID
    }

    /// True if a header field can hold the id.
    private static func isSendable(_ id: String) -> Bool {
        // RFC 9110, section 5.5: a field contains no control character but the tab.
        !id.isEmpty && id.utf8.count <= idBytesMax && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// The means that would close a gap of this stream that opens now: the list that Punchlist sends at each start, or a
    /// replay that is proved by numbers.
    private var closer: String {
        if beginsWithSnapshot, fields.lastEventID.isEmpty || fields.lastEventID == "0" { return "snapshot" }
        return Self.number(fields.lastEventID) == nil ? "nothing" : "replay"
    }

    /// The means by which a connection's first event, with this id and data, closes the gap before it.
    ///
    /// A server may ignore `Last-Event-ID`, so only the directly following number proves that nothing is missing (I29).
    /// The id 0 proves a snapshot only where the protocol says so: on Punchlist's routes, of tickets alone.
    private func closer(firstID: String, data: String) -> String {
        if beginsWithSnapshot, firstID == "0", Self.isTickets(data) { return "snapshot" }
        guard let sent = sentID.flatMap(Self.number), let first = Self.number(firstID) else { return "nothing" }
        return sent + 1 == first ? "replay" : "nothing"
    }

    /// Whether each line is one of those that a list of Punchlist has; an empty list has none.
    private static func isTickets(_ data: String) -> Bool {
        data.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).allSatisfy { line in
            guard let ticket = JSONValue(received: Array(line)) else { return false }
            return ticket["id"]?.string != nil || ["agent", "ticket"].contains(ticket["type"]?.string)
        }
    }

    /// The id as a number that has a successor; `nil` for other ids.
    private static func number(_ id: String) -> UInt64? {
        id.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(id).flatMap { $0 < .max ? $0 : nil } : nil
    }

    /// Opens the gap since the last run, if there was one. Its events are appended with those of the first attempt.
    mutating func beginRun() throws {
        connection.closes = closer
        try connection.beginRun()
    }

    /// Records the stream of an answer until it ends; returns false if the remote wants no other connection (status
    /// 204).
    ///
    /// - Parameter waits: Whether statuses that pass are waited out; otherwise they are errors. An address that gave a
    ///   stream before, in this run or an earlier one, may do so again, whatever it answers now.
    /// - Throws: `IngestError` with code `refused` for an answer that is not an event stream, with code `io` for a status
    ///   that is not waited out; `HTTPTrouble`.
    mutating func take(_ stream: HTTPAccess.Stream, path: String, waits: Bool) async throws -> Bool {
        switch stream.status {
        case 200: break
        case 204:
            try await refused(stream, path: path)
            return false
        case 408, 429, 500...599:
            try await refused(stream, path: path)
            guard waits else { throw Self.unreachable("the server answered with status \(stream.status)") }
            let wait = stream.headers["retry-after"].flatMap { Int($0) }
            // At most an hour: a server must not keep the recorder away for good.
            if let wait, wait > 0 { try await recording.clock.sleep(.seconds(min(wait, 3_600))) }
            return true
        default:
            try await refused(stream, path: path)
            if waits, connection.journal.hasWorked { return true }
            throw Self.error(.refused, "the server answered with status \(stream.status)")
        }
        if let fault = Self.fault(of: stream) {
            try await refused(stream, path: path, fault: fault)
            if waits, connection.journal.hasWorked { return true }
            throw Self.error(.refused, fault)
        }
        try await read(stream)
        return true
    }

    /// Why an answer with status 200 is not a stream that can be read; `nil` if it is.
    private static func fault(of stream: HTTPAccess.Stream) -> String? {
        if !EventStreamSplitter.isEventStream(stream.headers["content-type"]) {
            return "the answer's content type is not text/event-stream"
        }
        return stream.headers.isCoded ? HTTPTrouble.coded.description : nil
    }

    /// Records that the connection is lost, or that none could be made, and opens a gap.
    ///
    /// - Parameter reason: a few fixed words, never remote text.
    mutating func lost(_ reason: String) async throws {
        connection.complain("disconnected", reason)
        let time = recording.clock.now()
        try connection.close(reason, at: time)
        connection.journal.resumeLastGap()
        try openGap(at: time)
        try await connection.append()
    }

    /// Waits before the next connection: by the backoff, or longer if the remote's `retry` demands it.
    mutating func wait() async throws {
        let asked = fields.retryMilliseconds.map { Duration.milliseconds($0) }
        let own = connection.backoff.next()
        try await recording.clock.sleep(max(own, asked ?? .zero))
    }

    /// Records that the recorder stops.
    ///
    /// - Parameter error: why it gives up; `nil` if it was told to stop or is done.
    mutating func stop(_ error: (any Error)? = nil) async throws {
        let time = recording.clock.now()
        try connection.close(WebSocketClosure.ended(by: error).reason, at: time)
        connection.journal.resumeLastGap()
        connection.closes = closer
        try await connection.stop(error, at: time)
    }
}

extension EventStreamSession {
    /// Records an open stream until it ends.
    ///
    /// - Throws: `HTTPTrouble` if the connection fails; `CancellationError`; the errors of `append`.
    private mutating func read(_ stream: HTTPAccess.Stream) async throws {
        connection.forgetTrouble()
        heardAt = nil
        fields.beginStream()
        try await connection.open()
        var splitter = EventStreamSplitter()
        var isFirst = true
        do {
            let marks = recording.startLifeMarks()
            defer { marks.cancel() }
            for try await chunk in stream.body {
                let time = recording.clock.now()
                // The chunk's bytes are plain memory, so they may be bound to `UInt8`; the splitter copies what it
                // keeps.
                let events = chunk.withUnsafeReadableBytes { bytes in
                    splitter.push(bytes.bindMemory(to: UInt8.self), at: time)
                }
                if chunk.readableBytes > 0 { try heard(at: time, waitsForReplay: isFirst) }
                for event in events { try take(event, isFirst: &isFirst) }
                try await connection.append()
            }
        } catch {
            // An event can be complete and still wait for an LF, which cannot come any more.
            let trouble = try HTTPAccess.trouble(error)
            if let last = splitter.end() { try take(last, isFirst: &isFirst) }
            throw trouble
        }
        if let last = splitter.end() { try take(last, isFirst: &isFirst) }
        try await lost("the server ended the stream")
    }

    /// Records one event, and lets a connection's first event close the gaps.
    ///
    /// - Parameter isFirst: true until an event came that shows where the stream goes on.
    private mutating func take(_ event: EventStreamSplitter.Event, isFirst: inout Bool) throws {
        switch event.content {
        case .oversize(let length, let hash):
            try connection.journal.oversize(length: length, hash: hash, at: event.completedAt)
            if isFirst { try connection.journal.closeGaps(by: "nothing", at: event.completedAt) { _ in true } }
        case .whole(let bytes):
            try connection.journal.frame(.in, bytes[...], at: event.completedAt)
            let before = fields.lastEventID
            let message = fields.read(bytes)
            // A batch may end with this event, so its bookmark must already name its id.
            if fields.lastEventID != before { remember() }
            // An event that only sets the time to wait proves nothing about missed events.
            let hasID = Self.hasID(bytes)
            guard isFirst, message != nil || hasID else { return }
            let closer = closer(firstID: hasID ? fields.lastEventID : "", data: message?.data ?? "")
            try connection.journal.closeGaps(by: closer, at: event.completedAt) { _ in true }
        }
        isFirst = false
        connection.backoff.reset()
        remember()
    }

    /// Ends the gaps: the connection is heard, be it a comment. They stay open until the first event shows whether the
    /// remote sent what was missed; one that keeps the connection alive and sends nothing has nothing to replay. A
    /// connection that is lost before that shows nothing, and its gaps go on.
    private mutating func heard(at time: Timestamp, waitsForReplay: Bool) throws {
        let now = recording.clock.elapsed()
        guard let since = heardAt else {
            heardAt = now
            return connection.journal.endGaps(at: time) { _ in true }
        }
        if waitsForReplay, now - since >= Self.replayWait { try closeEndedGaps(at: time) }
    }

    /// Closes, by nothing, the gaps that have an end: nothing will show what was missed in them.
    private mutating func closeEndedGaps(at time: Timestamp) throws {
        try connection.journal.closeGaps(by: "nothing", at: time) { $0.to != nil }
    }

    /// Puts the last id into the bookmark of the last event made.
    private mutating func remember() {
        connection.journal.session = Array(fields.lastEventID.utf8)
        connection.journal.markLast()
    }

    /// True if the event has a field `id`. The id itself does not tell: it stays from the event before.
    private static func hasID(_ bytes: [UInt8]) -> Bool {
        let lines = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return lines.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains { line in
            line.prefix { $0 != 0x3A }.elementsEqual("id".utf8)
        }
    }

    /// Records an answer that is no stream, and opens a gap.
    private mutating func refused(_ stream: HTTPAccess.Stream, path: String, fault: String? = nil) async throws {
        let time = recording.clock.now()
        try connection.record(stream.status, path: path, headers: stream.headers, fault: fault, at: time)
        connection.complain("refused", fault ?? "status \(stream.status)")
        // After 204 the stream has ended for good, so nothing can be missed.
        if stream.status != 204 { try openGap(at: time) }
        try await connection.append()
    }

    /// Before the first connection nothing was heard, so the gap begins at the first attempt.
    private mutating func openGap(at time: Timestamp) throws {
        let journal = connection.journal
        let reason = journal.hasConnected ? GapReason.disconnected : .unreachable
        connection.closes = closer
        try connection.openGap(reason.rawValue, from: journal.hasConnected ? journal.lastInbound : time, at: time)
    }

    /// The error of a run that does not follow and got no answer.
    func unreachable(_ trouble: HTTPTrouble) -> IngestError { Self.unreachable(trouble.description) }

    private static func unreachable(_ reason: String) -> IngestError {
        error(.io, reason, advice: "try again later, or go on trying with --follow")
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
