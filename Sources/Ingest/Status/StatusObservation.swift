#if Recorders
import EventLog

/// One observation of a file: its content, or that it is gone.
struct StatusObservation: Sendable {
    /// The observed content.
    enum Content: Sendable {
        case whole([UInt8])
        /// More bytes than an event can hold (I3).
        case oversize(length: Int, hash: Hash256)
        case absent
    }

    /// The file's name within the directory, as bytes.
    let name: [UInt8]
    let content: Content
    /// When the file had been read.
    let observedAt: Timestamp

    /// The weight in a queue, in bytes.
    var weight: Int {
        if case .whole(let bytes) = content { bytes.count + 256 } else { 256 }
    }
}
#endif
