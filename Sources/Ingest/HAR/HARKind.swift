import EventLog

/// A protocol whose traffic a HAR may hold. The events are those that its recorder would have made.
public enum HARKind: String, CaseIterable, Sendable {
    /// Frames of a gateway WebSocket, and answers of its REST routes.
    case gateway
    /// Frames of Phoenix channels that carry database rows, and answers of PostgREST.
    case realtime
    /// Streams of Server-Sent Events.
    case sse
    /// Messages of a WebSocket that carry item lists.
    case items
    /// Answers of CloudKit with records.
    case cloudkit

    /// What a WebSocket's frames say they are; `nil` for what no recorder takes.
    init?(_ kind: CaptureKind?) {
        switch kind {
        case .gateway: self = .gateway
        case .realtime: self = .realtime
        case .items: self = .items
        case .sse, .status, nil: return nil
        }
    }

    /// The kind of the events that a WebSocket's messages become; `nil` where the protocol has no WebSocket.
    var frameKind: EventKind? {
        switch self {
        case .gateway: .gatewayFrame
        case .realtime: .realtimeFrame
        case .items: .itemsMessage
        case .sse, .cloudkit: nil
        }
    }

    /// The kind of the events that answers become; `nil` where recorders ask for nothing.
    var answerKind: EventKind? {
        switch self {
        case .gateway: .gatewayREST
        case .realtime: .realtimeREST
        case .cloudkit: .cloudKitRecords
        case .sse, .items: nil
        }
    }
}
