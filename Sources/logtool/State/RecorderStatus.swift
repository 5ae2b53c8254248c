import EventLog

/// What the log says of one source's recorder.
struct RecorderStatus {
    /// The last that was said of a rate limit.
    struct Rate {
        let level: String
        let used: Int
        let reset: Timestamp?
    }

    let source: SourceName
    /// Events that came from the remote.
    var events = 0
    /// When the last of them was received.
    var lastEvent: Timestamp?
    /// Whether some process records the source now.
    var isRunning = false
    /// What was said last of the connection; `nil` where the source has none: captures, clones.
    private(set) var saysConnected: Bool?
    /// The same, but for a recorder that was killed, which had no time to say that it ended.
    var isConnected: Bool? { saysConnected.map { $0 && isRunning } }
    var linkChangedAt: Timestamp?
    /// Gaps that are open.
    var gaps: Int { openGaps.count }
    /// Connections that ended and refusals since the last event of the remote.
    var retries = 0
    var rate: Rate?
    private var openGaps: Set<String> = []

    init(source: SourceName) {
        self.source = source
    }

    /// How long ago the last event was received, in whole seconds.
    func lagSeconds(_ now: Timestamp) -> Int {
        lastEvent.map { Int(max(0, now.seconds - $0.seconds)) } ?? 0
    }

    /// The status of every source but the reserved one, by name. Cost: reads the whole log.
    static func all(in store: EventStore) throws -> [RecorderStatus] {
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
            let envelope = event.copied().envelope
            all[source, default: RecorderStatus(source: source)].take(envelope)
            return true
        }
        return all.values.sorted { $0.source < $1.source }
    }

    private mutating func take(_ envelope: Envelope) {
        switch envelope.kind.rawValue {
        case "recorder.link/1": takeLink(envelope)
        case "recorder.gap/1": takeGap(envelope)
        case "recorder.http/1":
            retries += 1
            noteUnconnected(envelope)
        case "recorder.limit/1":
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

    private mutating func takeLink(_ envelope: Envelope) {
        saysConnected = envelope.attributes["link"] == "open"
        linkChangedAt = envelope.recordedAt
        if saysConnected == false { retries += 1 }
    }

    /// A recorder that lives in connections, and has had none so far.
    private mutating func noteUnconnected(_ envelope: Envelope) {
        guard saysConnected == nil else { return }
        (saysConnected, linkChangedAt) = (false, envelope.recordedAt)
    }

    private mutating func takeGap(_ envelope: Envelope) {
        guard let key = envelope.key?.rawValue else { return }
        noteUnconnected(envelope)
        if envelope.attributes["gap"] == "open" {
            openGaps.insert(key)
        } else if key.hasSuffix("/closed") {
            openGaps.remove(String(key.dropLast("/closed".count)))
        }
    }
}
