#if Recorders
import EventLog
import Kinds
import Projections

/// One recorded connection of any app, a WebSocket or an event stream, as a script of its own.
///
/// Recorded connections may interleave, so each is read by itself, between its first and last event. Steps are read in
/// batches, so that memory does not grow with the log (I32).
struct PlayTrack: Sendable {
    /// The connection's name in the log; empty in captures without names.
    let connection: String
    /// Path and query of the recorded request; empty where the log has none, which any request fits.
    let target: String
    /// The events that are not read yet.
    private var next: SequenceNumber
    private let last: SequenceNumber
    private var batch: ArraySlice<PlayStep> = []

    /// The limits of one batch; the first of them that is reached ends it.
    private static let countMax = 1_024
    private static let bytesMax = 1 << 20
    /// The most connections that are played; each costs about 200 bytes.
    private static let tracksMax = 1_000_000

    private init(connection: String, target: String, at sequence: SequenceNumber) {
        (self.connection, self.target, next, last) = (connection, target, sequence, sequence)
    }

    private init(_ track: PlayTrack, through last: SequenceNumber, target: String) {
        (connection, next, self.last) = (track.connection, track.next, last)
        self.target = target
    }

    /// The path of the recorded request.
    var route: String { String(target.prefix { $0 != "?" }) }

    /// Finds the connections of a source that have frames behind `start`, in the order of their first events.
    ///
    /// An event stream whose events name no path belongs to no app in particular, and is none of them.
    ///
    /// Cost: reads the log once, without payloads.
    /// - Throws: `EngineError` for more than a million connections.
    static func tracks(
        in store: EventStore,
        of source: SourceName,
        kind: KnownKind,
        _ start: SequenceNumber,
        _ end: SequenceNumber
    ) throws -> [PlayTrack] {
        var tracks: [PlayTrack] = []
        var places: [String: Int] = [:]
        guard start < end else { return [] }
        try store.read { session in
            var lanes: [UInt32: (connection: String, target: String)?] = [:]
            try session.forEachEvent(in: SequenceNumber(start.rawValue + 1)...end) { event in
                let number = event.laneNumber
                if lanes[number] == nil {
                    let (attributes, isFrame) = (event.attributes, event.kind.is(kind))
                    let isPlayed = event.source == source && (isFrame || event.kind.is(.recorderLink))
                    lanes[number] = .some(
                        isPlayed ? (attributes["connection"] ?? "", attributes["path"] ?? "") : nil
                    )
                }
                guard let (connection, target) = lanes[number] ?? nil else { return true }
                // A stream of a capture has no name, but a path.
                let name = "\(connection) \(connection.isEmpty ? target : "")"
                if let place = places[name] {
                    let known = tracks[place]
                    let target = known.target.isEmpty ? target : known.target
                    tracks[place] = PlayTrack(known, through: event.sequence, target: target)
                } else {
                    guard tracks.count < tracksMax else {
                        throw EngineError("play: source \"\(source)\" has more than \(tracksMax) connections")
                    }
                    places[name] = tracks.count
                    tracks.append(PlayTrack(connection: connection, target: target, at: event.sequence))
                }
                return true
            }
        }
        return kind == .serverSentEvent ? tracks.filter { !$0.target.isEmpty } : tracks
    }

    /// Returns true if a client's request is for this connection: path and query are the recorded ones, or the path alone
    /// if `isLoose`.
    func fits(_ request: String, isLoose: Bool) -> Bool {
        target.isEmpty || request == target || (isLoose && request.prefix { $0 != "?" } == route)
    }

    /// The next step, which stays; `nil` at the end.
    mutating func peek(in play: PlayContext) throws -> PlayStep? {
        while batch.isEmpty {
            guard next <= last else { return nil }
            try readBatch(play)
        }
        return batch.first
    }

    /// Goes on to the step behind the one that `peek` gave.
    mutating func advance() { batch = batch.dropFirst() }

    /// Reads the next batch. Each event is checked against its leaf hash before it is given (I7).
    private mutating func readBatch(_ play: PlayContext) throws {
        var (steps, bytes, reached): ([PlayStep], Int, SequenceNumber) = ([], 0, SequenceNumber(last.rawValue + 1))
        let (connection, target, range) = (connection, target, next...last)
        try play.store.read { session in
            var roles: [UInt32: KnownKind.Play?] = [:]
            try session.forEachEvent(in: range) { event in
                let number = event.laneNumber
                if roles[number] == nil {
                    let attributes = event.attributes
                    let isOwn =
                        event.source == play.source && (attributes["connection"] ?? "") == connection
                        && (!connection.isEmpty || (attributes["path"] ?? "") == target)
                    roles[number] = .some(isOwn ? KnownKind(event.kind)?.row.play : nil)
                }
                guard let role = roles[number] ?? nil, [.frame, .link, .lost].contains(role) else { return true }
                if steps.count >= Self.countMax || bytes >= Self.bytesMax {
                    reached = event.sequence
                    return false
                }
                try session.check(event)
                bytes += event.payloadCount
                steps.append(
                    PlayStep(sequence: event.sequence, recordedAt: event.recordedAt, act: Self.act(event, role))
                )
                return true
            }
        }
        (batch, next) = (steps[...], reached)
    }

    private static func act(_ event: borrowing EventView, _ role: KnownKind.Play) -> PlayStep.Act {
        let attributes = event.attributes
        switch role {
        case .link where attributes["link"] == "open": return .open(connection: attributes["connection"] ?? "")
        case .link:
            let code = attributes["code"].flatMap { UInt16($0) } ?? 0
            return .close(code: code, reason: attributes["reason"] ?? "")
        case .frame:
            let bytes = event.withPayload { Array($0) }
            return attributes["dir"] == "out" ? .sent(bytes) : .frame(bytes)
        default: return .lost
        }
    }
}
#endif
