#if Recorders
import EventLog
import Ingest

/// One step of a script.
struct PlayStep: Sendable {
    /// What happens.
    enum Act: Sendable {
        /// A connection was opened; `connection` is its name in the log, empty if it has none.
        case open(connection: String)
        /// The connection ended; `code` is 0 if the log has none.
        case close(code: UInt16, reason: String)
        /// A frame, an event of a stream or a message came in.
        case frame([UInt8])
        /// The recorder sent a frame.
        case sent([UInt8])
        /// The recorder requested a route.
        case answer(path: String)
        /// A file was written, or removed if there are no bytes.
        case file(path: String, isEncoded: Bool, [UInt8]?)
        /// A commit document.
        case commit([UInt8])
        /// A rewrite document.
        case rewrite([UInt8])
        /// Something that was too large to be recorded.
        case lost
    }

    let sequence: SequenceNumber
    let recordedAt: Timestamp
    let act: Act
}

/// The events of one source as a script, read in batches so that memory does not grow with the log (I32).
struct PlayScript {
    private static let countMax = 1_024
    private static let bytesMax = 1 << 20

    private let store: EventStore
    private let source: SourceName
    /// The last event to play.
    let end: SequenceNumber
    /// The next event to read.
    private var next = SequenceNumber(1)
    private var batch: [PlayStep] = []
    private var place = 0
    private var link = PlayLink()

    init(store: EventStore, source: SourceName, end: SequenceNumber) {
        self.store = store
        self.source = source
        self.end = end
    }

    /// The next step; `nil` at the end.
    mutating func step() throws -> PlayStep? {
        while place == batch.count {
            guard next <= end else { return nil }
            try readBatch()
        }
        defer { place += 1 }
        return batch[place]
    }

    /// Goes back to an event within a connection, which counts as open.
    mutating func rewind(to sequence: SequenceNumber, in connection: String) {
        (batch, place, next) = ([], 0, sequence)
        link = PlayLink(openedAgain: connection)
    }

    /// The part of an event stream that a client has not received.
    struct Rest {
        /// Its first event.
        let first: SequenceNumber
        /// Whether the event before it set the client's id; otherwise the client has nothing of the range.
        let isKnown: Bool
        /// Whether an event in it sets an id: the client would name that one if it had received it.
        let setsID: Bool
    }

    /// Finds the part of a range that a client lacks, by the id that it names; `nil` if the range has no event of a
    /// stream. Reads the whole range.
    func rest(after id: String, from first: SequenceNumber, through last: SequenceNumber) throws -> Rest? {
        guard first <= last else { return nil }
        var (beginning, place): (SequenceNumber?, SequenceNumber?)
        var setsID = false
        try store.read { session in
            try session.forEachEvent(in: first...last) { event in
                guard event.source == source, event.kind.rawValue == "sse.event/1" else { return true }
                beginning = beginning ?? event.sequence
                guard let named = event.withPayload({ EventStreamFields.id(setBy: Array($0)) }) else { return true }
                setsID = named != id
                if named == id { place = event.sequence }
                return true
            }
        }
        let next = place.map { SequenceNumber($0.rawValue + 1) }
        return (next ?? beginning).map { Rest(first: $0, isKnown: place != nil, setsID: setsID) }
    }

    private mutating func readBatch() throws {
        (batch, place) = ([], 0)
        var (batch, link, next, bytes) = (batch, link, next, 0)
        let range = next...end
        next = SequenceNumber(end.rawValue + 1)
        let source = source
        try store.read { session in
            var lanes: [UInt32: PlayLane] = [:]
            try session.forEachEvent(in: range) { event in
                let number = event.laneNumber
                let lane = lanes[number] ?? PlayLane(of: event, source: source)
                lanes[number] = lane
                guard lane.role != .none else { return true }
                if batch.count >= Self.countMax || bytes >= Self.bytesMax {
                    next = event.sequence
                    return false
                }
                bytes += event.payloadCount
                link.add(event, lane, to: &batch)
                return true
            }
        }
        assert(next > range.lowerBound, "each batch moves the script on")
        (self.batch, self.link, self.next) = (batch, link, next)
    }
}

/// What events of one lane have in common. It is read once per lane and batch.
private struct PlayLane {
    enum Role {
        case none, link, frame, answer, file, commit, rewrite, lost
    }

    let role: Role
    let isOut: Bool
    let connection: String?
    let attributes: Attributes

    init(of event: borrowing EventView, source: SourceName) {
        attributes = event.attributes
        isOut = attributes["dir"] == "out"
        connection = attributes["connection"]
        role = event.source == source ? Self.role(of: event.kind.rawValue) : .none
    }

    private static func role(of kind: String) -> Role {
        switch kind {
        case "recorder.link/1": .link
        case "gateway.frame/1", "realtime.frame/1", "sse.event/1": .frame
        case "gateway.rest/1", "realtime.rest/1": .answer
        case "status.file/1": .file
        case "git.commit/1": .commit
        case "git.rewrite/1": .rewrite
        case "recorder.oversize/1": .lost
        default: .none
        }
    }
}

/// Tracks a script's place within its connections, and adds the openings and closings that the log lacks.
private struct PlayLink {
    private var isOpen = false
    private var connection: String?
    private var frames = 0

    init() {}

    /// A place within a connection that has given frames.
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
        case .answer: add(.answer(path: attributes["path"] ?? ""))
        case .file:
            let bytes = attributes["op"] == "remove" ? nil : event.withPayload { Array($0) }
            add(.file(path: attributes["path"] ?? "", isEncoded: attributes["encoded"] == "true", bytes))
        case .commit: add(.commit(event.withPayload { Array($0) }))
        case .rewrite: add(.rewrite(event.withPayload { Array($0) }))
        case .lost: add(.lost)
        case .none: break
        }
    }

    private mutating func link(_ lane: PlayLane, _ add: (PlayStep.Act) -> Void) {
        let isOpening = lane.attributes["link"] == "open"
        if isOpen {
            let code = lane.attributes["code"].flatMap { UInt16($0) } ?? 0
            add(.close(code: isOpening ? 1006 : code, reason: lane.attributes["reason"] ?? ""))
        }
        (isOpen, connection, frames) = (isOpening, lane.connection, 0)
        if isOpening { add(.open(connection: lane.connection ?? "")) }
    }

    /// Begins a connection if the frame belongs to another one than the frame before. In a capture without links, each
    /// HELLO begins one.
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
