#if Recorders
import EventLog
import Projections

/// What a playback answers to requests: its own routes, then those of the remote that it stands in for.
struct PlayRoutes: Sendable {
    let play: PlayContext
    let remote: any RemoteRoutes

    func answer(_ request: PlayRequest) async -> PlayAnswer {
        do {
            if request.path.hasPrefix("/_play/") { return try own(request) }
            if remote.isStream(request) { return .stream }
            return try answerAsRemote(request)
        } catch {
            return .json(.object(["error": .string("\(error)")]), status: 500)
        }
    }

    private func own(_ request: PlayRequest) throws -> PlayAnswer {
        switch (request.method, request.path) {
        case ("GET", "/_play/position"): return .json(play.report.position)
        case ("GET", "/_play/report"): return .json(play.report.document)
        case ("GET", "/_play/state"):
            let document = try play.states.with(at: play.report.sequence) { $0.document() }
            return .json(document)
        case ("POST", "/_play/step"):
            let count = request.parameter("n").map { Int($0) ?? 0 } ?? 1
            guard (1...1_000_000).contains(count) else {
                return .json(.object(["error": .string("n is a number from 1 to 1000000")]), status: 400)
            }
            play.inbox.push(.stepped(count))
            return .json(play.report.position)
        default:
            let routes = "GET /_play/position, /_play/state, /_play/report; POST /_play/step"
            return .json(.object(["error": .string("play has \(routes)")]), status: 404)
        }
    }

    /// The recorded answer in its order, else what the state says, else the last one recorded.
    private func answerAsRemote(_ request: PlayRequest) throws -> PlayAnswer {
        let isRead = request.method == "GET"
        if isRead, let recorded = try play.answers.next(request.target) {
            play.report.count(.recorded)
            play.inbox.push(.asked)
            return .body(status: recorded.status, recorded.bytes)
        }
        if let made = try remote.answer(request, play) {
            play.report.count(.state)
            return made
        }
        if isRead, let last = try play.answers.last(request.target, before: play.report.sequence) {
            play.report.count(.recorded)
            return .body(status: last.status, last.bytes)
        }
        play.report.count(.nowhere)
        play.report.note(recorded: "no such request", client: "\(request.method) \(Self.shown(request.target))")
        return remote.missing(request)
    }

    /// A target as it may be told: without its query, which may hold a token.
    private static func shown(_ target: String) -> String {
        String(target.prefix { $0 != "?" }.prefix(200))
    }
}

/// The routes of a remote, answered from the state.
protocol RemoteRoutes: Sendable {
    /// Whether a request is for the event stream.
    func isStream(_ request: PlayRequest) -> Bool
    /// What the state, or the protocol alone, answers; `nil` where neither does.
    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer?
    /// The answer where nothing is known.
    func missing(_ request: PlayRequest) -> PlayAnswer
}

extension RemoteRoutes {
    func isStream(_ request: PlayRequest) -> Bool { false }

    func missing(_ request: PlayRequest) -> PlayAnswer {
        .json(.object(["message": .string("the recording has no answer to this")]), status: 404)
    }
}

/// A directory or a repository has no routes but play's own.
struct NoRoutes: RemoteRoutes {
    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer? { nil }
}

extension PlayAnswer {
    static func json(_ value: JSONValue, status: Int = 200) -> PlayAnswer {
        .body(status: status, Array(value.text.utf8))
    }

    static func text(_ text: String, status: Int = 200) -> PlayAnswer {
        .body(status: status, type: "text/plain; charset=utf-8", Array(text.utf8))
    }
}
#endif
