#if Recorders
import EventLog
import Synchronization

/// The recorded answers of a source, by path and query. Only their places are kept in memory, not their bodies (I32).
///
/// Safe to use from any thread: `places` never changes, and the mutex guards which answers are past.
final class PlayAnswers: Sendable {
    /// An answer as it goes out: its status and the bytes that the remote sent.
    struct Body: Sendable {
        let status: Int
        let bytes: [UInt8]
    }

    /// Where an answer is in the log, and the connection that it was recorded beside (empty for none).
    private struct Place: Sendable {
        let sequence: SequenceNumber
        let connection: String
    }

    private struct Given {
        /// Answers that were given, or that nobody requested in time.
        var past: Set<SequenceNumber> = []
        /// Connections that have begun.
        var connections: Set<String> = []
    }

    private let store: EventStore
    /// The places of answers by path and query, in the order of the log.
    private let places: [String: [Place]]
    private let given = Mutex(Given())

    /// Reads the log up to `end` once and keeps one place for each answer.
    init(store: EventStore, source: SourceName, end: SequenceNumber) throws {
        self.store = store
        var places: [String: [Place]] = [:]
        try store.read { session in
            guard end > .zero else { return }
            var lanes: [UInt32: Bool] = [:]
            try session.forEachEvent(in: SequenceNumber(1)...end) { event in
                let lane = event.laneNumber
                // Events of a lane agree in source and kind, so texts are compared once for each lane.
                if let isWanted = lanes[lane] {
                    guard isWanted else { return true }
                } else {
                    let isWanted = event.source == source && event.kind.rawValue.hasSuffix(".rest/1")
                    lanes[lane] = isWanted
                    guard isWanted else { return true }
                }
                let attributes = event.attributes
                guard let path = attributes["path"] else { return true }
                places[path, default: []].append(
                    Place(sequence: event.sequence, connection: attributes["connection"] ?? "")
                )
                return true
            }
        }
        self.places = places
    }

    /// Notes that a recorded connection has begun, which makes its answers available to `next`.
    func begin(connection: String) {
        given.withLock { _ = $0.connections.insert(connection) }
    }

    /// Returns true if an answer was given or passed.
    func isGiven(_ sequence: SequenceNumber) -> Bool {
        given.withLock { $0.past.contains(sequence) }
    }

    /// Marks an answer as past, so that `next` does not give it any more.
    func pass(_ sequence: SequenceNumber) {
        given.withLock { _ = $0.past.insert(sequence) }
    }

    /// Takes the next answer of a path from the connections that have begun; `nil` if none is left. Each answer is
    /// taken once. Reads its event.
    func next(_ path: String) throws -> Body? {
        let place = given.withLock { given -> Place? in
            let place = places[path]?.first {
                given.connections.contains($0.connection) && !given.past.contains($0.sequence)
            }
            if let place { given.past.insert(place.sequence) }
            return place
        }
        return try place.flatMap { try body(at: $0.sequence) }
    }

    /// The last answer of a path at or before a point, taken or not; `nil` if it has none there.
    func last(_ path: String, before point: SequenceNumber) throws -> Body? {
        try places[path]?.last { $0.sequence <= point }.flatMap { try body(at: $0.sequence) }
    }

    /// Reads an answer, checked against its leaf hash (I7).
    private func body(at sequence: SequenceNumber) throws -> Body? {
        try store.read { session in
            try session.checkEvent(at: sequence)
            return try session.event(at: sequence).map { event in
                Body(status: event.envelope.attributes["status"].flatMap { Int($0) } ?? 200, bytes: event.payload)
            }
        }
    }
}
#endif
