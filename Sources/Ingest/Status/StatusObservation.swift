#if Recorders
import EventLog

/// One observation of a path: its content, or that it is not there any more.
struct StatusObservation: Sendable {
    /// What was found.
    enum Content: Sendable {
        case whole([UInt8])
        /// More than an event can hold.
        case oversize(length: Int, hash: Hash256)
        case absent
    }

    /// The file's name within the directory, as bytes.
    let name: [UInt8]
    let content: Content
    let observedAt: Timestamp

    /// What counts against a queue's limit.
    var weight: Int {
        if case .whole(let bytes) = content { bytes.count + 256 } else { 256 }
    }
}
#endif
