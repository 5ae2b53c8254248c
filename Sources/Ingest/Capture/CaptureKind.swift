import EventLog

/// The kind of a capture's frames.
public enum CaptureKind: String, CaseIterable, Sendable {
    /// Frames of a gateway WebSocket.
    case gateway
    /// Frames of Phoenix channels that carry database rows.
    case realtime
    /// Bytes of a stream of Server-Sent Events.
    case sse
    /// Messages of a WebSocket that carry item lists.
    case items
    /// Observations of status files.
    case status

    var eventKind: EventKind {
        switch self {
        case .gateway: .gatewayFrame
        case .realtime: .realtimeFrame
        case .sse: .serverSentEvent
        case .items: .itemsMessage
        case .status: .statusFile
        }
    }
}
