import ArgumentParser

/// The kind of remote that `play` replaces.
enum PlayForm: String, CaseIterable, ExpressibleByArgument, Sendable {
    case gateway, sse, realtime, files, git

    /// Whether clients connect to it; the others write files.
    var isServer: Bool { self != .files && self != .git }

    /// The kind of event by which a source is recognized as one of this form.
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
