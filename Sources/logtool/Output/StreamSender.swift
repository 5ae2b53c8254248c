import EventLog
import JetStream
import Shipping

/// Publishes a log to a stream as it grows, and answers receivers. For one thread.
struct StreamSender {
    /// The stream in messages.
    let name: String
    let shipment: CourierShipment
    private let store: EventStore
    private let lookEach: Duration
    /// What the stream holds, as of the last round.
    private(set) var checkpoint: Checkpoint
    private var generation: UInt32
    private var looked = ContinuousClock.now

    /// Publishes what the stream lacks.
    ///
    /// - Parameter lookEach: how often the stream is looked at where nothing happens: it may have lost its end.
    /// - Throws: as `CourierShipment.round`.
    init(
        of store: EventStore,
        by courier: any Courier,
        _ request: LogShipment.Request,
        lookEach: Duration = .seconds(5),
        _ report: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws {
        (name, self.store, self.lookEach) = (courier.name, store, lookEach)
        shipment = try CourierShipment(of: store, by: courier, request)
        generation = try store.read { $0.generationNumber }
        checkpoint = try shipment.round(report)
    }

    /// Answers questions for a tenth of a second, and publishes what is new.
    ///
    /// - Throws: as `CourierShipment.round`; after an error with code `io`, the next call tries again.
    mutating func step() throws {
        try shipment.serve(within: .milliseconds(100))
        let now = try store.read { ($0.head.rawValue, $0.generationNumber) }
        guard now != (checkpoint.size, generation) || looked.duration(to: .now) > lookEach else { return }
        checkpoint = try shipment.round()
        (generation, looked) = (now.1, .now)
    }
}
