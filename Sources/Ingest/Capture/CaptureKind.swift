import EventLog
import Kinds

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
    /// Messages of a WebSocket of any app, among them answers of HTTP and pieces of event streams, by their paths.
    case ws
    /// Answers of HTTP of any app, and the bodies of requests.
    case http
    /// Records in JSON of any app.
    case json
    /// What a client itself showed. Captures of any app may have such lines among their frames.
    case observed

    /// What frames of the kind are recorded as.
    var known: KnownKind {
        switch self {
        case .gateway: .gatewayFrame
        case .realtime: .realtimeFrame
        case .sse: .serverSentEvent
        case .items: .itemsMessage
        case .status: .statusFile
        case .ws: .socketFrame
        case .http: .httpAnswer
        case .json: .jsonRecord
        case .observed: .clientObserved
        }
    }

    /// Whether the payloads are of any app: a decoder file says what they mean.
    var isGeneric: Bool { known.row.family == .generic }

    var eventKind: EventKind { EventKind(known) }

    /// What shows that frames are of the kind (`CaptureKindGuess`).
    enum Sign {
        /// Members that every frame has, or most frames have.
        case members, someMembers
        /// The beginning of a stream.
        case stream
        /// Nothing within a frame: the kind is given, or shown by lines of another form.
        case nothing
    }

    var sign: Sign {
        switch self {
        case .gateway, .realtime: .members
        case .items: .someMembers
        case .sse: .stream
        case .status, .ws, .http, .json, .observed: .nothing
        }
    }
}
