#if Recorders
import EventLog
import Synchronization

/// The recorded answers of a source, by path. Only their places are kept in memory, not their bodies (I32).
final class PlayAnswers: Sendable {
    /// An answer as it goes out.
    struct Body: Sendable {
        let status: Int
        let bytes: [UInt8]
    }

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
    private let places: [String: [Place]]
    private let given = Mutex(Given())

    /// Reads the log once. Cost: one place in memory for each answer.
    init(store: EventStore, source: SourceName, end: SequenceNumber) throws {
        self.store = store
        var places: [String: [Place]] = [:]
        try store.read { session in
            guard end > .zero else { return }
            var lanes: [UInt32: Bool] = [:]
            try session.forEachEvent(in: SequenceNumber(1)...end) { event in
                let lane = event.laneNumber
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

    /// Notes that a recorded connection has begun, which makes its answers available.
    func begin(connection: String) {
        given.withLock { _ = $0.connections.insert(connection) }
    }

    /// Whether an answer was given.
    func isGiven(_ sequence: SequenceNumber) -> Bool {
        given.withLock { $0.past.contains(sequence) }
    }

    /// Marks an answer as past: `next` does not give it any more.
    func pass(_ sequence: SequenceNumber) {
        given.withLock { _ = $0.past.insert(sequence) }
    }

    /// Takes the next answer of a path from the connections that have begun; `nil` if there is none.
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

    /// The last answer of a path at or before a point.
    func last(_ path: String, before point: SequenceNumber) throws -> Body? {
        try places[path]?.last { $0.sequence <= point }.flatMap { try body(at: $0.sequence) }
    }

    private func body(at sequence: SequenceNumber) throws -> Body? {
        try store.read { session in
            try session.event(at: sequence).map { event in
                Body(status: event.envelope.attributes["status"].flatMap { Int($0) } ?? 200, bytes: event.payload)
            }
        }
    }
}
#endif
