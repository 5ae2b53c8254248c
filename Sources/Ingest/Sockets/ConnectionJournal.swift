#if Recorders
import EventLog

/// Makes the events of a recorder that works through connections: their numbers, keys, attributes and bookmark.
///
/// Connections are numbered across restarts, so that no key is used twice (I4): the bookmark holds the last number, and
/// the latest key does if the bookmark is lost. Used by one task. It only makes events; the caller takes them by `take`
/// and appends them in that order.
struct ConnectionJournal {
    let source: SourceName
    /// The kind of the frames; links, gaps and HTTP answers have kinds of their own.
    private let kind: EventKind
    /// The number of the open connection; without one, that of the next if `isReserved`, else of the last.
    private(set) var number: UInt64
    /// True while `number` belongs to a connection that was not opened yet.
    private var isReserved = true
    /// True once this run opened a connection.
    private(set) var hasConnected = false
    /// The counters of connection `number`; tasks that work for the connection share them.
    private(set) var counters: ConnectionCounters
    private var gaps: OpenGaps
    /// The open gaps, in the order in which they were opened.
    var openGaps: [RecordedGap] { gaps.all }
    /// When the remote was last heard: a frame came in, a connection was opened, or a poll was complete; `nil` if that
    /// is not known. A gap that opens now begins here (I29). By the wall clock as it goes now: if it was set since, the
    /// time is moved with it.
    private(set) var lastInbound: Timestamp? {
        get { heard.map { Timestamp(microseconds: $0.time.microseconds &+ (steps() &- $0.steps)) } }
        set { heard = newValue.map { ($0, steps()) } }
    }
    private var heard: (time: Timestamp, steps: Int64)?
    /// `LiveClock.steps`.
    private let steps: @Sendable () -> Int64
    /// Whether a connection was open before, in this run or an earlier one that the log knows.
    var hasWorked: Bool { hasConnected || worked }
    private let worked: Bool
    /// The last mark of life of the previous run.
    private let aliveBefore: Timestamp?
    /// The `lastInbound` of the last bookmark made; decides when a bookmark alone is due.
    private var markedInbound: Timestamp?
    /// The recorder's tokens; `nil` if it has none.
    private let secrets: KnownSecrets?
    /// The path that every frame names, without secrets; `nil` for none. Set before the first frame.
    var path: String?
    /// The protocol's own state for the next run; must be UTF-8.
    var session: [UInt8]?
    /// The `session` of the last bookmark made.
    private var markedSession: [UInt8]?
    /// The events made since the last `take`.
    private var waiting = SourceBatch()
    /// The attributes that all frames of the connection share, made once per direction.
    private var inAttributes: Attributes?
    private var outAttributes: Attributes?

    /// - Parameter clock: the run's; without it no steps of the wall clock are noticed.
    init(
        source: SourceName,
        kind: EventKind,
        history: RecordedHistory,
        secrets: KnownSecrets? = nil,
        clock: LiveClock? = nil
    ) throws {
        self.source = source
        self.secrets = secrets
        self.kind = kind
        if let clock { steps = clock.steps } else { steps = { 0 } }
        let start = try JournalStart(history)
        let bookmark = start.bookmark
        number = start.number + 1
        counters = ConnectionCounters(number: number)
        gaps = start.gaps(of: source, steps: steps)
        heard = (bookmark?.lastInbound).map { (time: $0, steps: 0) }
        if bookmark?.lastInbound != nil {
            worked = true
        } else {
            worked = try start.latestNumber > 0 && history.holds(EventKey("c\(start.latestNumber)/open"))
        }
        markedInbound = bookmark?.lastInbound
        aliveBefore = bookmark?.alive
        session = bookmark?.session
        markedSession = bookmark?.session
        isFirstRun = start.isFirstRun
    }

    /// As `JournalStart.isFirstRun`.
    let isFirstRun: Bool

    /// Everything made since the last call, with the bookmark that is valid once it is stored. If nothing was made but
    /// the remote was heard, a bookmark alone, at most once a minute.
    mutating func take() -> SourceBatch {
        // A session that was given up must not be tried again by the next run, though nothing came meanwhile.
        if waiting.drafts.isEmpty, isMarkDue || session != markedSession { mark() }
        markLast()
        defer { waiting = SourceBatch(roomOf: waiting) }
        return waiting
    }

    /// Gives the last event a bookmark of its own. A batch may be cut anywhere, so every event that changes what the
    /// next run must know needs one.
    mutating func markLast() {
        guard !waiting.drafts.isEmpty else { return }
        mark()
    }

    /// Sets the bookmark of everything made so far.
    private mutating func mark() {
        // A session that holds a secret is not kept (I14): the next run begins without it.
        let kept = session.flatMap { session in
            let isSecret = secrets?.isSecret(id: session, kind: kind) ?? (Secrets.redact(session, kind: kind).count > 0)
            return isSecret ? nil : session
        }
        waiting.mark(JournalBookmark(number: number, gaps: gaps.all, lastInbound: lastInbound, session: kept).bytes)
        markedInbound = lastInbound
        markedSession = session
    }

    private var isMarkDue: Bool {
        guard let lastInbound else { return false }
        let least = LifeMarks.interval.components.seconds * 1_000_000
        // The clock may have been set back since.
        return (lastInbound.microseconds &- (markedInbound?.microseconds ?? 0)).magnitude >= least
    }

    /// The last instant at which the recorder is known to have listened (I29).
    private var lastAlive: Timestamp? {
        guard let lastInbound, let aliveBefore else { return lastInbound ?? aliveBefore }
        return max(lastInbound, aliveBefore)
    }
}

// MARK: - Connections

extension ConnectionJournal {
    /// Records that a connection was opened. Call `close` before the next `open`.
    mutating func open(at time: Timestamp) throws {
        reserve()
        assert(counters.name == "c\(number)", "the keys of a connection carry its own number")
        isReserved = false
        hasConnected = true
        lastInbound = time
        try add(.recorderLink, "\(counters.name)/open", [pair("link", "open")], at: time)
    }

    /// Records that the connection ended.
    mutating func close(_ closure: WebSocketClosure, at time: Timestamp) throws {
        // Code 0: the connection is not a WebSocket.
        let code = closure.code == 0 ? [] : [pair("code", String(closure.code))]
        let pairs = [pair("link", "close"), pair("reason", closure.reason)] + code
        try add(.recorderLink, "\(counters.name)/close", pairs, at: time)
    }

    /// Records an HTTP answer that tells the recorder when to go on, or why it cannot (`fault`).
    mutating func http(
        _ status: Int,
        path: String,
        retryAfter: Int? = nil,
        headers: HTTPAccess.Headers? = nil,
        fault: String? = nil,
        at time: Timestamp
    ) throws {
        reserve()
        let draft = try counters.http(
            status,
            path: path,
            retryAfter: retryAfter,
            headers: headers,
            fault: fault,
            source: source,
            at: time
        )
        add(draft)
        markLast()
    }

    /// Takes the next connection number, unless one is reserved already.
    mutating func reserve() {
        guard !isReserved else { return }
        isReserved = true
        number += 1
        counters = ConnectionCounters(number: number)
        (inAttributes, outAttributes) = (nil, nil)
    }

    /// Records a frame, in or out, with its secrets replaced (I14). A frame that can hold no secret is copied once,
    /// straight into the batch.
    ///
    /// A frame gets no bookmark of its own, because it changes neither numbers nor gaps; the one that `take` sets
    /// behind the last event is enough.
    mutating func frame(_ direction: FrameDirection, _ bytes: ArraySlice<UInt8>, at time: Timestamp) throws {
        let isPlain = bytes.withUnsafeBufferPointer { !SecretName.mayOccur(in: $0) }
        guard isPlain, bytes.count <= EnvelopeLimits.payloadBytesMax else {
            return add(try nextFrame(direction, at: time).redacted(payload: Array(bytes)))
        }
        // The short way from here on does by itself what `nextFrame` does.
        if direction == .in { lastInbound = time }
        let attributes = try attributes(of: direction)
        counters.withNextFrameKey { key in
            bytes.withUnsafeBytes { payload in
                waiting.drafts.append(
                    recordedAt: time,
                    source: source,
                    kind: kind,
                    key: key,
                    attributes: attributes,
                    payload: payload
                )
            }
        }
    }

    /// Records the length and hash of a frame that is too large to keep.
    mutating func oversize(length: Int, hash: Hash256, at time: Timestamp) throws {
        add(try nextFrame(.in, at: time).oversize(length: length, hash: hash))
    }

    /// The next frame's event but for its payload.
    ///
    /// - Parameter isHeard: true if the frame proves that everything before it was received.
    mutating func nextFrame(
        _ direction: FrameDirection,
        at time: Timestamp,
        isHeard: Bool = true
    ) throws -> FrameDraft {
        if direction == .in, isHeard { lastInbound = time }
        return FrameDraft(
            recordedAt: time,
            source: source,
            kind: kind,
            key: counters.nextFrameKey(),
            attributes: try attributes(of: direction)
        )
    }

    /// The shared attributes of a direction, made at the first frame of the connection.
    private mutating func attributes(of direction: FrameDirection) throws -> Attributes {
        if let known = direction == .in ? inAttributes : outAttributes { return known }
        let attributes = try makeAttributes(direction)
        if direction == .in { inAttributes = attributes } else { outAttributes = attributes }
        return attributes
    }

    private func makeAttributes(_ direction: FrameDirection) throws -> Attributes {
        // Server-sent events only come in, so they need no direction.
        let isTwoWay = kind != .serverSentEvent
        return try Attributes(
            (isTwoWay ? [pair("dir", direction.rawValue)] : []) + [pair("connection", counters.name)]
                + (path.map { [pair("path", $0)] } ?? [])
        )
    }

    /// Adds an event made elsewhere.
    mutating func add(_ draft: DraftEvent) {
        waiting.drafts.append(draft)
    }

    /// Notes that the remote was heard and had nothing new: a gap that opens later begins no earlier than `time`.
    mutating func noteAlive(at time: Timestamp) {
        lastInbound = time
    }

    private mutating func add(
        _ kind: EventKind,
        _ key: String,
        _ pairs: [Attributes.Pair],
        at time: Timestamp
    ) throws {
        let attributes = try Attributes(pairs + [pair("connection", counters.name)])
        let frame = FrameDraft(recordedAt: time, source: source, kind: kind, key: key, attributes: attributes)
        add(try frame.draft(payload: []))
        markLast()
    }

    private func pair(_ name: String, _ value: String) -> Attributes.Pair {
        Attributes.Pair(name: name, value: value)
    }
}

// MARK: - Gaps

extension ConnectionJournal {
    /// Opens a gap from the end of the last run for each topic that has no open gap without an end. In the first run
    /// the gap begins at `time`, and only if the source reads its past (`asksForPast`).
    ///
    /// Gaps that have an end are over but not closed: what was missed in them is still missing, and a new gap opens
    /// beside them.
    ///
    /// - Parameters:
    ///   - topics: the parts of the source that have gaps of their own; a single `nil` for the whole source.
    ///   - closes: what would close the gap, as `RecordedGap.closes`.
    mutating func beginRun(topics: [String?], asksForPast: Bool, closes: String, at time: Timestamp) throws {
        if isFirstRun, !asksForPast { return }
        let reason = isFirstRun ? GapReason.start : .stopped
        // What an earlier run heard may lie ahead of a clock that was set back since.
        let from = isFirstRun ? time : min(lastAlive ?? time, time)
        for topic in topics where !gaps.hasGoing(topic) {
            try openGap(reason.rawValue, topic: topic, from: from, closes: closes, at: time)
        }
    }

    /// Opens the gaps that begin when a run ends. The next run would open them anyway; recorded now, they show in the
    /// log while nothing runs. A first run without a connection has nothing to miss.
    mutating func endRun(topics: [String?], closes: String, at time: Timestamp) throws {
        guard !isFirstRun || hasConnected else { return }
        for topic in topics where !gaps.hasGoing(topic) {
            let from = lastAlive ?? time
            try openGap(GapReason.stopped.rawValue, topic: topic, from: from, closes: closes, at: time)
        }
    }

    /// Opens a gap and returns its key.
    @discardableResult
    mutating func openGap(
        _ reason: String,
        topic: String? = nil,
        from: Timestamp,
        closes: String,
        at time: Timestamp
    ) throws -> String? {
        add(try gaps.open(reason, topic: topic, from: from, closes: closes, counters, at: time))
        markLast()
        return openGaps.last?.key
    }

    /// As `OpenGaps.end`.
    mutating func endGaps(at time: Timestamp, where isMeant: (RecordedGap) -> Bool) {
        gaps.end(at: time, where: isMeant)
    }

    /// As `OpenGaps.resumeLast`.
    mutating func resumeLastGap() { gaps.resumeLast() }

    /// Closes the gaps that `isMeant` accepts, each by an event. Cost: O(closed × open gaps).
    mutating func closeGaps(by closer: String, at time: Timestamp, where isMeant: (RecordedGap) -> Bool) throws {
        while let draft = try gaps.closeFirst(by: closer, connection: counters.name, at: time, where: isMeant) {
            add(draft)
            markLast()
        }
    }
}

extension WebSocketClosure {
    /// The end of a link that the recorder itself ends: it was stopped, or gave up for a reason of its own.
    static func ended(by error: (any Error)?) -> WebSocketClosure {
        switch error {
        case nil, is CancellationError: WebSocketClosure(code: 0, reason: "recorder stopped")
        case let error as IngestError:
            WebSocketClosure(code: 0, reason: "gave up: \(ConnectionCounters.shown(error.reason))")
        default: WebSocketClosure(code: 0, reason: "recorder failed")
        }
    }
}
#endif
