import EventLog
import Kinds
import Projections

/// The events of a log and its states, as a search for observations needs them: of a store, or of a part of one in memory.
protocol ObservedEvents {
    /// The last event.
    var last: SequenceNumber { get }
    /// The decoder files in force, which may know the words of clients.
    var decoders: Decoders { get }

    /// Calls `body` with each event that is no act, in order; `payload` reads its bytes.
    func forEachEvent(_ body: (_ event: Envelope, _ payload: () -> [UInt8]) throws -> Void) throws

    /// The last event of the longest prefix whose clock is at or before an instant; zero if there is none.
    func lastSequence(clockAtMost time: Timestamp) throws -> SequenceNumber

    /// The state at a point; cheap for points behind the one of `begin`.
    func state(at point: SequenceNumber) throws -> LogState

    /// Makes this state the one that later states are folded from.
    mutating func begin(from state: LogState)
}

/// One observation, with the points of the log at which its state may be.
struct Sighting {
    /// The event of the observation.
    let event: SequenceNumber
    let time: Timestamp
    let observation: Observation
    /// The point with whose state it is compared: what the client says, or where the log was at its time.
    let point: SequenceNumber
    /// The first point at which a client that lags may be. As `point` where the client said how far it had read.
    let earliest: SequenceNumber
    /// The least `earliest` of this and all later ones: a state there serves them all.
    fileprivate(set) var floor = SequenceNumber.zero
}

/// The observations of a log, with the points at which their clients were.
struct Sightings {
    /// By their points, then in the order of the log.
    private(set) var all: [Sighting] = []
    /// Events that are no observations though their kind says so.
    private(set) var faults: [(event: SequenceNumber, reason: String)] = []

    /// The most events that a client may lag behind, whatever their times.
    private static let lagMax: UInt64 = 256

    /// - Parameter lag: how long a client may take to show what it received, in microseconds.
    init(of events: some ObservedEvents, lag: Int64) throws {
        var found: [(event: Envelope, observation: Observation)] = []
        try events.forEachEvent { event, payload in
            guard event.kind.is(.clientObserved) else { return }
            do throws(ObservationError) {
                found.append((event, try Observation(payload(), of: event, events.decoders)))
            } catch {
                faults.append((event.sequence, error.description))
            }
        }
        let received = try Self.received(found, events)
        for (event, observation) in found {
            let before = SequenceNumber(event.sequence.rawValue - 1)
            let (point, earliest): (SequenceNumber, SequenceNumber)
            switch observation.position {
            case .sequence(let sequence): (point, earliest) = (min(sequence, events.last), min(sequence, events.last))
            case .received:
                let exact = received[event.sequence] ?? before
                (point, earliest) = (exact, exact)
            case nil:
                point = min(before, try events.lastSequence(clockAtMost: event.recordedAt))
                let instant = Timestamp(microseconds: event.recordedAt.microseconds &- lag)
                let reached = try events.lastSequence(clockAtMost: instant)
                let least = SequenceNumber(point.rawValue - min(point.rawValue, Self.lagMax))
                earliest = min(point, max(reached, least))
            }
            all.append(
                Sighting(
                    event: event.sequence,
                    time: event.recordedAt,
                    observation: observation,
                    point: point,
                    earliest: earliest
                )
            )
        }
        all.sort { ($0.point, $0.event) < ($1.point, $1.event) }
        var least = events.last
        for index in all.indices.reversed() {
            least = min(least, all[index].earliest)
            all[index].floor = least
        }
    }

    /// The points of observations that count the messages of a connection, by the observations' events. Reads the events only if
    /// there is one.
    private static func received(
        _ found: [(event: Envelope, observation: Observation)],
        _ events: some ObservedEvents
    ) throws -> [SequenceNumber: SequenceNumber] {
        var waiting: [SequenceNumber: Observation] = [:]
        for (event, observation) in found {
            if case .received = observation.position { waiting[event.sequence] = observation }
        }
        guard !waiting.isEmpty else { return [:] }
        var connections = ObservedConnections()
        var points: [SequenceNumber: SequenceNumber] = [:]
        try events.forEachEvent { event, _ in
            connections.note(event)
            guard case .received(let count, let path) = waiting[event.sequence]?.position else { return }
            points[event.sequence] = connections.point(
                received: count,
                path: path,
                source: waiting[event.sequence]?.source
            )
        }
        return points
    }
}

/// The incoming messages of the newest connections.
private struct ObservedConnections {
    private struct Connection {
        let source: SourceName
        let name: String
        let path: String?
        /// Where it was opened, and its incoming messages, ascending.
        let opened: SequenceNumber
        var messages: [SequenceNumber] = []
    }

    /// The newest last.
    private var connections: [Connection] = []
    private static let connectionsMax = 256

    mutating func note(_ event: Envelope) {
        let (name, path) = (event.attributes["connection"] ?? "", event.attributes["path"])
        if event.kind.is(.recorderLink) {
            if event.attributes["link"] == "open" { begin(event, name, path) }
            return
        }
        guard event.kind.is(.serverSentEvent) || event.attributes["dir"] == "in", !event.kind.is(.httpAnswer) else {
            return
        }
        let place = connections.lastIndex {
            $0.source == event.source && $0.name == name && ($0.path == nil || path == nil || $0.path == path)
        }
        if place == nil { begin(event, name, path) }
        connections[place ?? connections.count - 1].messages.append(event.sequence)
    }

    private mutating func begin(_ event: Envelope, _ name: String, _ path: String?) {
        if connections.count == Self.connectionsMax { connections.removeFirst() }
        connections.append(Connection(source: event.source, name: name, path: path, opened: event.sequence))
    }

    /// The event of the so many-th message of the newest connection; the last one if it has fewer. `nil` without a connection.
    func point(received count: Int, path: String?, source: SourceName?) -> SequenceNumber? {
        let fits = { (connection: Connection) in
            (source == nil || connection.source == source)
                && (path == nil || connection.path == path || connection.path?.prefix { $0 != "?" } == path?[...])
        }
        guard let connection = connections.last(where: fits) else { return nil }
        guard count > 0, let last = connection.messages.last else { return connection.opened }
        return count <= connection.messages.count ? connection.messages[count - 1] : last
    }
}
