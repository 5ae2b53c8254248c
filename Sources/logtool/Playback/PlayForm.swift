import ArgumentParser

/// The kind of remote that `play` replaces.
enum PlayForm: String, CaseIterable, ExpressibleByArgument, Sendable {
    case gateway, sse, realtime, files, git

    /// True if clients connect to it; the other forms write into a directory.
    var isServer: Bool { self != .files && self != .git }

    /// The kind of event that a source must have to be played as this form.
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
