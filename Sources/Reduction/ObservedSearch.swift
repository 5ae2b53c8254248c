public import EventLog
public import Projections

/// The first observation that the state contradicts.
public struct ObservedFinding: Sendable {
    /// The event of the observation.
    public let observation: SequenceNumber
    /// The point whose state it was compared with.
    public let point: SequenceNumber
    /// The event of the last observation that agreed; `nil` if none did before.
    public let agreed: SequenceNumber?
    /// How many observations were compared, with this one.
    public internal(set) var compared = 0
    /// What differs; never empty.
    public let differences: [ObservedDifference]
    /// The last event before `point`, and after the last observation that agreed, that names the first differing row: what the
    /// client took wrongly. `nil` if no event names it.
    public internal(set) var event: SequenceNumber?
}

/// Compares what clients showed with the states of a log, and finds the first observation that differs.
///
/// ```swift
/// let search = try ObservedSearch(of: log)
/// let finding = try search.first()
/// #expect(finding == nil)
/// ```
public struct ObservedSearch {
    /// How long a client may take to show what it received, unless it says how far it had read.
    public static let lag = Duration.seconds(1)

    /// How many observations there are between the ends of the search.
    public let count: Int
    /// Events of the kind between the ends that are no observations, with the reason.
    public let faults: [(event: SequenceNumber, reason: String)]
    private let sightings: [Sighting]
    private let store: EventStore
    private let options: ReplayOptions

    /// Reads the observations of a log.
    ///
    /// - Parameters:
    ///   - lag: How long a client may take to show what it received. A client that agrees with any state of that time agrees.
    ///   - good: Observations up to here are left out.
    ///   - last: Later observations are left out; `nil` for none.
    ///   - options: Which events are folded, and how.
    /// - Throws: `EventLogError` if the log cannot be read.
    public init(
        of store: EventStore,
        lag: Duration = lag,
        after good: SequenceNumber = .zero,
        through last: SequenceNumber? = nil,
        options: ReplayOptions = ReplayOptions()
    ) throws {
        (self.store, self.options) = (store, options)
        let log = try StoredEvents(store, options)
        let sightings = try Sightings(of: log, lag: lag.microseconds)
        let isMeant = { (event: SequenceNumber) in event > good && event <= last ?? log.last }
        self.sightings = sightings.all.filter { isMeant($0.event) }
        faults = sightings.faults.filter { isMeant($0.event) }
        count = self.sightings.count
    }

    /// The first observation that differs from every state at which its client may have been.
    ///
    /// - Parameter progress: Called with the number of observations compared so far.
    /// - Returns: `nil` if all agree.
    /// - Throws: what folding throws.
    public func first(progress: (Int) -> Void = { _ in }) throws -> ObservedFinding? {
        var log = try StoredEvents(store, options)
        var comparer = SightingComparer()
        for (index, sighting) in sightings.enumerated() {
            progress(index + 1)
            guard case .differs(var finding) = try comparer.compare(sighting, in: &log) else { continue }
            finding.compared = index + 1
            finding.event = try ObservedCause(finding, since: comparer.agreedPoint).event(in: store, options)
            return finding
        }
        return nil
    }

    /// How one observation differs from the state, where it agrees with none; empty if it agrees.
    ///
    /// - Returns: The point with whose state it agrees, or with whose it was compared last.
    /// - Throws: `EngineError` if the event is no observation; what folding throws.
    public func differences(
        of event: SequenceNumber
    ) throws -> (point: SequenceNumber, differences: [ObservedDifference]) {
        if let fault = faults.first(where: { $0.event == event }) {
            throw EngineError("compare event \(event): \(fault.reason)")
        }
        guard let sighting = sightings.first(where: { $0.event == event }) else {
            throw EngineError(
                "compare event \(event): it is no observation of a client; see: logtool events LOG --kind client.observed"
            )
        }
        var log = try StoredEvents(store, options)
        var comparer = SightingComparer()
        switch try comparer.compare(sighting, in: &log) {
        case .agrees(let point): return (point, [])
        case .differs(let finding): return (finding.point, finding.differences)
        }
    }
}

/// Compares observations with states, in the order of their points.
struct SightingComparer {
    enum Answer {
        /// With the state of this point.
        case agrees(SequenceNumber)
        case differs(ObservedFinding)
    }

    /// The last observation that agreed, and the point with whose state it did.
    private var agreed: SequenceNumber?
    private(set) var agreedPoint = SequenceNumber.zero

    mutating func compare(_ sighting: Sighting, in log: inout some ObservedEvents) throws -> Answer {
        // No later observation needs an earlier state, so the log is folded once.
        log.begin(from: try log.state(at: sighting.floor))
        let differences = sighting.observation.differences(from: try log.state(at: sighting.point))
        if differences.isEmpty { return agree(sighting, at: sighting.point) }
        var (walk, point) = (log, sighting.earliest)
        while point < sighting.point {
            let state = try walk.state(at: point)
            walk.begin(from: state)
            if sighting.observation.differences(from: state).isEmpty { return agree(sighting, at: point) }
            point = point.next
        }
        return .differs(
            ObservedFinding(
                observation: sighting.event,
                point: sighting.point,
                agreed: agreed,
                differences: differences
            )
        )
    }

    private mutating func agree(_ sighting: Sighting, at point: SequenceNumber) -> Answer {
        (agreed, agreedPoint) = (sighting.event, point)
        return .agrees(point)
    }
}

/// The events of a store.
struct StoredEvents: ObservedEvents {
    private let store: EventStore
    private var walk: StateWalk
    let last: SequenceNumber
    let decoders: Decoders

    init(_ store: EventStore, _ options: ReplayOptions) throws {
        self.store = store
        walk = StateWalk(store: store, options: options)
        (last, decoders) = try store.read { ($0.head, try Decoders(inForce: $0)) }
    }

    func forEachEvent(_ body: (_ event: Envelope, _ payload: () -> [UInt8]) throws -> Void) throws {
        guard last > .zero else { return }
        try store.read { session in
            try session.forEachEvent(in: SequenceNumber(1)...last) { event in
                if event.isAct { return true }
                let envelope = event.envelope
                try event.withPayload { bytes in try body(envelope) { Array(bytes) } }
                return true
            }
        }
    }

    func lastSequence(clockAtMost time: Timestamp) throws -> SequenceNumber {
        try store.read { try $0.lastSequence(clockAtMost: time) }
    }

    func state(at point: SequenceNumber) throws -> LogState { try walk.state(at: point) }

    mutating func begin(from state: LogState) { walk.begin(from: state) }
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000
    }
}
