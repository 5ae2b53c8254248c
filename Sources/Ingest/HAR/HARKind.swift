import EventLog
import Kinds

/// A protocol whose traffic a HAR may contain. The events are those that the protocol's recorder would have made.
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
    /// Everything that a site of any app sent and got: messages of WebSockets, answers in JSON with the bodies of their
    /// requests, and streams of Server-Sent Events. A decoder file says what it means.
    case raw

    /// The kind of a WebSocket by its frames; `nil` if no recorder of WebSockets takes them.
    init?(_ kind: CaptureKind?) {
        guard let kind, let known = Self(rawValue: kind.rawValue), known.frame != nil else { return nil }
        self = known
    }

    /// The kind of the events made of a WebSocket's messages; `nil` if the protocol has no WebSocket.
    var frame: KnownKind? {
        switch self {
        case .gateway: .gatewayFrame
        case .realtime: .realtimeFrame
        case .items: .itemsMessage
        case .raw: .socketFrame
        case .sse, .cloudkit: nil
        }
    }

    /// The kind of the events made of answers; `nil` if the protocol's recorder sends no requests for the state.
    var answer: KnownKind? {
        switch self {
        case .gateway: .gatewayREST
        case .realtime: .realtimeREST
        case .cloudkit: .cloudKitRecords
        case .raw: .httpAnswer
        case .sse, .items: nil
        }
    }

    var frameKind: EventKind? { frame.map { EventKind($0) } }
    var answerKind: EventKind? { answer.map { EventKind($0) } }
}
