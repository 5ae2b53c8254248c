public import EventLog
import JSON
import Kinds

/// One recorder's status, as its source's events in the log show it. Only `isRunning` comes from elsewhere: the
/// source's lock.
public struct RecorderStatus: Sendable {
    /// The last recorded state of a rate limit.
    public struct Rate: Hashable, Sendable {
        /// `normal` if the event has none.
        public let level: String
        /// Percent of the limit.
        public let used: Int
        /// When the limit is set back; `nil` if the event has no such time.
        public let reset: Timestamp?
    }

    /// The recorder's name in the log.
    public let source: SourceName
    /// Events that came from the remote.
    public private(set) var events = 0
    /// When the last of these events was received, by the recorder's clock.
    public private(set) var lastEvent: Timestamp?
    /// True if some process records the source now.
    public private(set) var isRunning = false
    /// True if the last recorded link was open; `nil` for sources without connections, such as captures and clones.
    public private(set) var saysConnected: Bool?
    /// True if the recorder is connected. A killed recorder could not record its end, so its process must be running,
    /// too.
    public var isConnected: Bool? { saysConnected.map { $0 && isRunning } }
    /// When the link was last opened or closed, or when a source without a link first failed.
    public private(set) var linkChangedAt: Timestamp?
    /// True if the recorder ended without a word: its last link is open, and nobody records the source.
    public var wasKilled: Bool { saysConnected == true && !isRunning }
    /// The number of open gaps that recorders report, with that of a recorder that was killed.
    public var gaps: Int { openGaps.count + (wasKilled && !openGaps.values.contains(true) ? 1 : 0) }
    /// Ended connections and refused requests since the remote's last event.
    public private(set) var retries = 0
    /// The last recorded state of a rate limit; `nil` if none was recorded.
    public private(set) var rate: Rate?
    /// The gaps that have not been closed, by their keys, and whether each concerns the whole source.
    private var openGaps: [String: Bool] = [:]

    /// The greatest time of an event of any kind; `nil` before the first.
    public private(set) var lastTime: Timestamp?

    private init(source: SourceName) {
        self.source = source
    }

    /// The time from the last received event until `now`, in whole seconds; 0 without events, or if the clock went back.
    public func lagSeconds(_ now: Timestamp) -> Int {
        lastEvent.map { Int(max(0, now.seconds - $0.seconds)) } ?? 0
    }

    /// The status of every source but `logtool`, ordered by name. Cost: reads the whole log.
    public static func all(in store: EventStore) throws -> [RecorderStatus] {
        try store.read { try all(in: $0) }.map { status in
            var status = status
            status.isRunning = store.hasRecorder(of: status.source)
            return status
        }
    }

    private static func all(in session: borrowing ReadSession) throws -> [RecorderStatus] {
        var all: [SourceName: RecorderStatus] = [:]
        guard session.head > .zero else { return [] }
        try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
            let source = event.source
            guard source != .logtool else { return true }
            let event = event.copied()
            all[source, default: RecorderStatus(source: source)].take(event.envelope, event.payload)
            return true
        }
        return all.values.sorted { $0.source < $1.source }
    }

    /// Takes the source's next event. Kinds that are not the recorder's own come from the remote.
    private mutating func take(_ envelope: Envelope, _ payload: [UInt8]) {
        lastTime = max(lastTime ?? envelope.recordedAt, envelope.recordedAt)
        switch KnownKind(envelope.kind) {
        case .recorderLink: takeLink(envelope)
        case .recorderGap: takeGap(envelope, payload)
        case .recorderHTTP:
            retries += 1
            noteUnconnected(envelope)
        case .recorderLimit:
            let reset = envelope.attributes["reset"].flatMap { Int64($0) }.map { Timestamp(seconds: $0) }
            let used = envelope.attributes["used"].flatMap { Int($0) } ?? 0
            rate = Rate(level: envelope.attributes["level"] ?? "normal", used: used, reset: reset)
        default:
            guard envelope.attributes["dir"] != "out" else { return }
            events += 1
            retries = 0
            lastEvent = max(lastEvent ?? envelope.recordedAt, envelope.recordedAt)
        }
    }

    /// Takes a link of a recorder. Captures give theirs no name, and those of HARs are of a browser.
    private mutating func takeLink(_ envelope: Envelope) {
        guard envelope.attributes["connection"] != nil, envelope.attributes["by"] == nil else { return }
        saysConnected = envelope.attributes["link"] == "open"
        linkChangedAt = envelope.recordedAt
        if saysConnected == false { retries += 1 }
    }

    /// Marks a source as not connected if it uses connections (a failed request or a gap shows that) and no link was
    /// recorded.
    private mutating func noteUnconnected(_ envelope: Envelope) {
        guard saysConnected == nil else { return }
        (saysConnected, linkChangedAt) = (false, envelope.recordedAt)
    }

    /// Opens a gap, or closes the one whose key is this key without `/closed`.
    private mutating func takeGap(_ envelope: Envelope, _ payload: [UInt8]) {
        guard let key = envelope.key?.rawValue else { return }
        noteUnconnected(envelope)
        if envelope.attributes["gap"] == "open" {
            openGaps[key] = JSONValue(received: payload)?["topic"] == nil
        } else if key.hasSuffix("/closed") {
            openGaps[String(key.dropLast("/closed".count))] = nil
        }
    }
}
