#if Recorders
import EventLog
import Ingest
import Kinds

/// One step of a script: an event of the log, or an opening or closing that the log lacks. A step that was added has
/// the sequence and time of the event that shows it.
struct PlayStep: Sendable {
    /// What happens.
    enum Act: Sendable {
        /// A connection was opened; `connection` is its name in the log, empty if it has none.
        case open(connection: String)
        /// The connection ended; `code` is 0 if the log has none.
        case close(code: UInt16, reason: String)
        /// A frame or an event of a stream came in; its bytes as recorded.
        case frame([UInt8])
        /// The recorder sent a frame.
        case sent([UInt8])
        /// The recorder requested a route and got an answer; `path` includes the query.
        case answer(path: String)
        /// A file was written, or removed if the bytes are `nil`. With `isEncoded`, bytes of the path that are not
        /// UTF-8 are escaped (`UTF8Text`).
        case file(path: String, isEncoded: Bool, [UInt8]?)
        /// A commit; the payload of `git.commit/1`.
        case commit([UInt8])
        /// The branch was set to another commit; the payload of `git.rewrite/1`.
        case rewrite([UInt8])
        /// Something that was too large to be recorded.
        case lost
    }

    let sequence: SequenceNumber
    let recordedAt: Timestamp
    let act: Act
}

/// The events of one source as a script, in the order of the log.
///
/// Events are read in batches so that memory does not grow with the log (I32). A copy of the value goes on from the
/// same place independently.
struct PlayScript {
    /// The limits of one batch; the first of them that is reached ends it.
    private static let countMax = 1_024
    private static let bytesMax = 1 << 20

    private let store: EventStore
    private let source: SourceName
    /// The last event to play.
    let end: SequenceNumber
    /// The next event to read; `end` + 1 when all are read.
    private var next = SequenceNumber(1)
    /// The steps of the current batch, and the place of the next one in it.
    private var batch: [PlayStep] = []
    private var place = 0
    private var link = PlayLink()

    init(store: EventStore, source: SourceName, end: SequenceNumber) {
        self.store = store
        self.source = source
        self.end = end
    }

    /// The next step; `nil` at the end. Reads the next batch if the current one is used up.
    mutating func step() throws -> PlayStep? {
        while place == batch.count {
            guard next <= end else { return nil }
            try readBatch()
        }
        defer { place += 1 }
        return batch[place]
    }

    /// Goes back to an event within a connection, which counts as open: no opening is given again.
    mutating func rewind(to sequence: SequenceNumber, in connection: String) {
        (batch, place, next) = ([], 0, sequence)
        link = PlayLink(openedAgain: connection)
    }

    /// The part of an event stream that a client has not received, as far as ids show.
    struct Rest {
        /// The sequence of its first event; one past the range if the client has everything.
        let first: SequenceNumber
        /// True if the range contains the client's id, so the rest follows that event. False if the client has nothing
        /// of the range.
        let isKnown: Bool
        /// True if the last id set in the range differs from the client's: the client would name that id if it had
        /// received it.
        let setsID: Bool
    }

    /// Finds the part of a range that a client lacks, by the id that it names in `Last-Event-ID`. `nil` if the range
    /// has no event of a stream.
    ///
    /// Cost: reads the range's events of all sources.
    func rest(after id: String, from first: SequenceNumber, through last: SequenceNumber) throws -> Rest? {
        guard first <= last else { return nil }
        var (beginning, place): (SequenceNumber?, SequenceNumber?)
        var setsID = false
        try store.read { session in
            try session.forEachEvent(in: first...last) { event in
                guard event.source == source, event.kind.is(.serverSentEvent) else { return true }
                beginning = beginning ?? event.sequence
                guard let named = event.withPayload({ EventStreamFields.id(setBy: Array($0)) }) else { return true }
                // The last event that sets an id decides.
                setsID = named != id
                if named == id { place = event.sequence }
                return true
            }
        }
        let next = place.map { SequenceNumber($0.rawValue + 1) }
        return (next ?? beginning).map { Rest(first: $0, isKnown: place != nil, setsID: setsID) }
    }

    /// Reads the next batch in a session of its own. A session kept open while a client waits would keep LMDB from
    /// reusing pages. Each event of the source is checked against its leaf hash before it is given (I7).
    private mutating func readBatch() throws {
        (batch, place) = ([], 0)
        var (batch, link, next, bytes) = (batch, link, next, 0)
        let range = next...end
        // Stays if the walk reaches the end of the range.
        next = SequenceNumber(end.rawValue + 1)
        let source = source
        try store.read { session in
            // Lane numbers have a meaning within one session only.
            var lanes: [UInt32: PlayLane] = [:]
            try session.forEachEvent(in: range) { event in
                let number = event.laneNumber
                let lane = lanes[number] ?? PlayLane(of: event, source: source)
                lanes[number] = lane
                guard lane.role != nil else { return true }
                if batch.count >= Self.countMax || bytes >= Self.bytesMax {
                    next = event.sequence
                    return false
                }
                try session.check(event)
                bytes += event.payloadCount
                link.add(event, lane, to: &batch)
                return true
            }
        }
        assert(next > range.lowerBound, "each batch moves the script on")
        (self.batch, self.link, self.next) = (batch, link, next)
    }
}

/// What events of one lane have in common: source, kind and attributes. It is read once for each lane and batch, so
/// that texts are not compared for each event.
private struct PlayLane {
    /// What the lane's events do to a playback; `nil` for those of other sources, and of kinds that are not played.
    let role: KnownKind.Play?
    /// True for frames that the recorder sent.
    let isOut: Bool
    let connection: String?
    let attributes: Attributes

    init(of event: borrowing EventView, source: SourceName) {
        attributes = event.attributes
        isOut = attributes["dir"] == "out"
        connection = attributes["connection"]
        role = event.source == source ? KnownKind(event.kind)?.row.play : nil
    }
}

/// Tracks a script's place within its connections, and adds the openings and closings that the log lacks (captures, a
/// recorder that was killed).
private struct PlayLink {
    private var isOpen = false
    /// The name of the connection that the last frame or link belongs to; `nil` in captures without names.
    private var connection: String?
    /// Frames since the opening, in both directions.
    private var frames = 0

    init() {}

    /// A place within an open connection. One frame counts as given, so that a HELLO there begins a new connection.
    init(openedAgain name: String) {
        (isOpen, connection, frames) = (true, name.isEmpty ? nil : name, 1)
    }

    /// Adds the steps that an event makes.
    mutating func add(_ event: borrowing EventView, _ lane: PlayLane, to steps: inout [PlayStep]) {
        let (sequence, time, attributes) = (event.sequence, event.recordedAt, lane.attributes)
        assert((steps.last?.sequence ?? .zero) <= sequence, "steps are in the order of the log")
        func add(_ act: PlayStep.Act) { steps.append(PlayStep(sequence: sequence, recordedAt: time, act: act)) }
        switch lane.role {
        case .link: link(lane, add)
        case .frame:
            let bytes = event.withPayload { Array($0) }
            beginConnection(lane.connection, with: bytes, add)
            add(lane.isOut ? .sent(bytes) : .frame(bytes))
        // The body of a request gives nothing.
        case .answer where lane.isOut: break
        case .answer: add(.answer(path: attributes["path"] ?? ""))
        case .file:
            let bytes = attributes["op"] == "remove" ? nil : event.withPayload { Array($0) }
            add(.file(path: attributes["path"] ?? "", isEncoded: attributes["encoded"] == "true", bytes))
        case .commit: add(.commit(event.withPayload { Array($0) }))
        case .rewrite: add(.rewrite(event.withPayload { Array($0) }))
        case .lost: add(.lost)
        case nil: break
        }
    }

    /// Adds the steps of a `recorder.link/1` event: the closing of an open connection, then the opening.
    private mutating func link(_ lane: PlayLane, _ add: (PlayStep.Act) -> Void) {
        let isOpening = lane.attributes["link"] == "open"
        if isOpen {
            // An opening within an open connection means that its closing is missing: 1006 is RFC 6455's code for a
            // connection that broke without a close frame.
            let code = lane.attributes["code"].flatMap { UInt16($0) } ?? 0
            add(.close(code: isOpening ? 1006 : code, reason: lane.attributes["reason"] ?? ""))
        }
        (isOpen, connection, frames) = (isOpening, lane.connection, 0)
        if isOpening { add(.open(connection: lane.connection ?? "")) }
    }

    /// Adds an opening, after a closing if needed, where a frame belongs to another connection than the frame before
    /// it. In a capture without links and names, each HELLO begins a connection.
    private mutating func beginConnection(_ name: String?, with frame: [UInt8], _ add: (PlayStep.Act) -> Void) {
        frames += 1
        let isOther = name != connection || (name == nil && frames > 1 && GatewayText.isHello(frame))
        guard !isOpen || isOther else { return }
        if isOpen { add(.close(code: 1006, reason: "")) }
        (isOpen, connection, frames) = (true, name, 1)
        add(.open(connection: name ?? ""))
    }
}
#endif
