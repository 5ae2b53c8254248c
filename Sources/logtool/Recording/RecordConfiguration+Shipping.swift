#if Recorders
import EventLog
import Shipping

extension RecordConfiguration.Shipping {
    /// What is asked of the shipment. The key is read anew for each round.
    func request() throws -> LogShipment.Request {
        var request = LogShipment.Request()
        request.origin = origin
        request.key = try key.map { try SigningKeyFile.key(at: $0) }
        return request
    }
}
#endif
