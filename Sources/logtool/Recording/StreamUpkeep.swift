#if Recorders
import EventLog
import Ingest
import JetStream
import Logging
import Shipping
import Synchronization

/// Publishes a log that is recorded to a stream, and answers receivers, until its task is cancelled. A thread of its own does it, because the
/// library of NATS blocks.
struct StreamUpkeep: Sendable {
    let log: String
    /// How often the stream is looked at where nothing happens.
    let lookEach: Duration
    let shipping: RecordConfiguration.Shipping
    let access: StreamAccess
    let replicas: Int
    let options: EventStore.Options
    let notes: Logger

    /// How long nothing is tried after a failure.
    private static let wait = Duration.seconds(5)

    /// Whether the thread is to end.
    private final class End: Sendable {
        let isDue = Mutex(false)
    }

    /// Runs until the task is cancelled. What fails is said, and tried again from the connection on.
    func run(_ clock: LiveClock) async {
        while !Task.isCancelled {
            let end = End()
            do {
                try await withTaskCancellationHandler {
                    try await DetachedThread.result(stackBytes: 8 << 20) { try publish(until: end) }
                } onCancel: {
                    end.isDue.withLock { $0 = true }
                }
            } catch let error as EventLogError where error.code == .noLog {
                notes.notice("nothing to ship yet")
            } catch {
                notes.error("not shipped; the next try makes up for it", metadata: ["error": "\(error)"])
            }
            do { try await clock.sleep(min(Self.wait, lookEach)) } catch { return }
        }
    }

    private func publish(until end: End) throws {
        let store = try EventStore.open(at: log, options: options)
        let courier = try access.courier(as: .sender(store.identity, replicas: replicas), operation: "ship to")
        var sender = try StreamSender(of: store, by: courier, try shipping.request(), lookEach: lookEach)
        var counts = CourierShipment.Counts()
        while true {
            say(sender, since: counts)
            counts = sender.shipment.counts
            if end.isDue.withLock({ $0 }) { return }
            try sender.step()
        }
    }

    private func say(_ sender: StreamSender, since counts: CourierShipment.Counts) {
        let now = sender.shipment.counts
        if now.foreign > 0, counts.foreign == 0 {
            notes.warning("somebody else publishes under this log's identity", metadata: ["batches": "\(now.foreign)"])
        }
        guard now.published > counts.published else { return }
        notes.notice(
            "shipped",
            metadata: [
                "events": "\(sender.checkpoint.size)",
                "to": "\(sender.name)",
                "messages": "\(now.published - counts.published)",
                "resent": "\(now.resent - counts.resent)",
            ]
        )
    }
}
#endif
