#if NATS
import CNATS
import EventLog

/// Messages to a subject that wait to be taken.
final class NATSSubscription {
    let subject: String
    private var subscription: OpaquePointer?
    private let fault: (natsStatus) -> EventLogError

    init(_ subscription: OpaquePointer?, subject: String, fault: @escaping (natsStatus) -> EventLogError) {
        (self.subscription, self.subject, self.fault) = (subscription, subject, fault)
    }

    func end() {
        natsSubscription_Destroy(subscription)
        subscription = nil
    }

    /// The next message; `nil` if none comes in time.
    func next(within limit: Duration) throws -> NATSConnection.Message? {
        var message: OpaquePointer?
        defer { natsMsg_Destroy(message) }
        let status = natsSubscription_NextMsg(&message, subscription, limit.milliseconds)
        if status == NATS_TIMEOUT { return nil }
        guard status == NATS_OK else { throw fault(status) }
        return NATSConnection.copy(message)
    }
}

extension Duration {
    /// Whole milliseconds, at least 1.
    var milliseconds: Int64 {
        max(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000, 1)
    }
}
#endif
