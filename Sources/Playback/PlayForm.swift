import Kinds

/// The kind of remote that a playback replaces.
public enum PlayForm: String, CaseIterable, Sendable {
    case ws, http, sse, gateway, realtime, files, git

    /// True if clients connect to it; the other forms write into a directory.
    package var isServer: Bool { self != .files && self != .git }

    /// The kind of event that a source must have to be played as this form.
    var kind: KnownKind {
        switch self {
        case .ws: .socketFrame
        case .http: .httpAnswer
        case .gateway: .gatewayFrame
        case .sse: .serverSentEvent
        case .realtime: .realtimeFrame
        case .files: .statusFile
        case .git: .gitCommit
        }
    }
}
