import ArgumentParser

/// What `play` stands in for.
enum PlayForm: String, CaseIterable, ExpressibleByArgument, Sendable {
    case gateway, sse, realtime, files, git

    /// Whether a client connects to it.
    var isServer: Bool { self != .files && self != .git }

    /// The kind of event that makes a source one of this form.
    var kind: String {
        switch self {
        case .gateway: "gateway.frame/1"
        case .sse: "sse.event/1"
        case .realtime: "realtime.frame/1"
        case .files: "status.file/1"
        case .git: "git.commit/1"
        }
    }
}
