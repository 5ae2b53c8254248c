#if Recorders
import EventLog
import Kinds
import Synchronization

/// The recorded answers of a source, by method, path and query. Only their places are kept in memory, not their bodies (I32).
///
/// Safe to use from any thread: `places` never changes, and the mutex guards which answers are past.
final class PlayAnswers: Sendable {
    /// An answer as it goes out: its place in the log, its status and the bytes that the remote sent.
    struct Body: Sendable {
        let sequence: SequenceNumber
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
    /// The places of answers by method, path and query, in the order of the log.
    private let places: [String: [Place]]
    /// By method and path, the one target that the recording has there; `nil` if it has several.
    private let onlyTargets: [String: String?]
    /// How many answers there are.
    private let count: Int
    private let given: Mutex<Given>

    /// Reads the log up to `end` once and keeps one place for each answer. Answers of any app (`http.answer/1`) belong to no
    /// connection and can be given from the beginning; those at or before `start` are past.
    init(store: EventStore, source: SourceName, from start: SequenceNumber, through end: SequenceNumber) throws {
        self.store = store
        var places: [String: [Place]] = [:]
        var onlyTargets: [String: String?] = [:]
        var (given, count) = (Given(), 0)
        try store.read { session in
            guard end > .zero else { return }
            var lanes: [UInt32: Bool] = [:]
            try session.forEachEvent(in: SequenceNumber(1)...end) { event in
                let lane = event.laneNumber
                // Events of a lane agree in source and kind, so texts are compared once for each lane.
                if let isWanted = lanes[lane] {
                    guard isWanted else { return true }
                } else {
                    let isAnswer = KnownKind(event.kind)?.row.play == .answer
                    let isWanted = event.source == source && isAnswer && event.attributes["dir"] != "out"
                    lanes[lane] = isWanted
                    guard isWanted else { return true }
                }
                let attributes = event.attributes
                guard let path = attributes["path"], Self.isStatus(attributes["status"]) else { return true }
                let isGeneric = event.kind.is(.httpAnswer)
                if isGeneric {
                    given.connections.insert("")
                    if event.sequence <= start { given.past.insert(event.sequence) }
                }
                let method = attributes["method"] ?? "GET"
                let connection = isGeneric ? "" : attributes["connection"] ?? ""
                let target = Self.name(method, path)
                if isGeneric {
                    let bare = Self.withoutQuery(target)
                    if let known = onlyTargets[bare] {
                        if known != target { onlyTargets[bare] = .some(nil) }
                    } else {
                        onlyTargets[bare] = .some(target)
                    }
                }
                places[target, default: []].append(Place(sequence: event.sequence, connection: connection))
                count += 1
                return true
            }
        }
        (self.places, self.onlyTargets, self.count) = (places, onlyTargets, count)
        self.given = Mutex(given)
    }

    /// What an answer is found by.
    private static func name(_ method: String, _ target: String) -> String { "\(method) \(target)" }

    private static func withoutQuery(_ name: String) -> String { String(name.prefix { $0 != "?" }) }

    /// True for a final status (RFC 9110, section 15), and where the log has none.
    private static func isStatus(_ text: String?) -> Bool {
        guard let text else { return true }
        return Int(text).map { (200...599).contains($0) } ?? false
    }

    /// The answers to a request: those of its method, path and query. Where the recording has one query alone for the path,
    /// another does for it, because a client's query may hold what changes each time, or a secret that was not recorded.
    private func places(_ method: String, _ target: String) -> [Place]? {
        let name = Self.name(method, target)
        if let places = places[name] { return places }
        return onlyTargets[Self.withoutQuery(name)].flatMap { $0 }.flatMap { places[$0] }
    }

    /// True once each answer was given or is past.
    var isAllGiven: Bool { given.withLock { $0.past.count >= count } }

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

    /// Takes the next answer to a request from the connections that have begun; `nil` if none is left. Each answer is
    /// taken once. Reads its event.
    func next(_ method: String, _ target: String) throws -> Body? {
        let places = places(method, target)
        let place = given.withLock { given -> Place? in
            let place = places?.first {
                given.connections.contains($0.connection) && !given.past.contains($0.sequence)
            }
            if let place { given.past.insert(place.sequence) }
            return place
        }
        return try place.flatMap { try body(at: $0.sequence) }
    }

    /// The last answer to a request at or before a point, taken or not; `nil` if it has none there.
    func last(_ method: String, _ target: String, before point: SequenceNumber) throws -> Body? {
        try places(method, target)?.last { $0.sequence <= point }.flatMap { try body(at: $0.sequence) }
    }

    /// Reads an answer, checked against its leaf hash (I7).
    private func body(at sequence: SequenceNumber) throws -> Body? {
        try store.read { session in
            try session.checkEvent(at: sequence)
            return try session.event(at: sequence).map { event in
                let status = event.envelope.attributes["status"].flatMap { Int($0) } ?? 200
                return Body(sequence: sequence, status: status, bytes: event.payload)
            }
        }
    }
}
#endif
