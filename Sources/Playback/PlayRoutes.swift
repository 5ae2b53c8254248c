#if Recorders
import EventLog
import Projections

/// A playback's answers to requests: its own routes first, then those of the remote that it replaces. Several requests
/// may run at the same time; the values in `play` are safe for that.
struct PlayRoutes: Sendable {
    let play: PlayContext
    let remote: any RemoteRoutes

    /// Answers any request. Errors of store and folds become answers with status 500.
    func answer(_ request: PlayRequest) async -> PlayAnswer {
        do {
            if request.path.hasPrefix("/_play/") { return try own(request) }
            if remote.isStream(request) { return .stream }
            return try answerAsRemote(request)
        } catch {
            return .json(.object(["error": .string("\(error)")]), status: 500)
        }
    }

    /// The routes below `/_play/`, for people and tests that watch a playback.
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

    /// Answers a request with the next recorded answer of its method and path, else from the state, else with the last
    /// recorded answer at or before the position.
    private func answerAsRemote(_ request: PlayRequest) throws -> PlayAnswer {
        if let recorded = try play.answers.next(request.method, request.target) {
            play.report.count(.recorded)
            if remote.isGeneric { play.report.change { $0.sequence = max($0.sequence, recorded.sequence) } }
            // The script may wait for this very request.
            play.inbox.push(.asked)
            return .body(status: recorded.status, recorded.bytes)
        }
        if let made = try remote.answer(request, play) {
            play.report.count(.state)
            return made
        }
        if let last = try play.answers.last(request.method, request.target, before: play.report.sequence) {
            play.report.count(.recorded)
            return .body(status: last.status, last.bytes)
        }
        play.report.count(.nowhere)
        play.report.note(recorded: "no such request", client: "\(request.method) \(Self.shown(request.target))")
        return remote.missing(request)
    }

    /// A request's path for reports, at most 200 characters. The query is left out, because it may contain a token.
    private static func shown(_ target: String) -> String {
        String(target.prefix { $0 != "?" }.prefix(200))
    }
}

/// The routes of a remote, answered from the state. Several requests may run at the same time.
protocol RemoteRoutes: Sendable {
    /// Whether it gives the answers of any app, at the client's pace.
    var isGeneric: Bool { get }
    /// Whether a request is for the event stream.
    func isStream(_ request: PlayRequest) -> Bool
    /// The answer from the state or from the protocol alone; `nil` if neither has one.
    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer?
    /// The answer to a request that nothing else answers.
    func missing(_ request: PlayRequest) -> PlayAnswer
}

extension RemoteRoutes {
    var isGeneric: Bool { false }
    func isStream(_ request: PlayRequest) -> Bool { false }

    func missing(_ request: PlayRequest) -> PlayAnswer {
        .json(.object(["message": .string("the recording has no answer to this")]), status: 404)
    }
}

/// The remote of any app: recorded answers alone, and the paths of its event streams.
struct GenericRoutes: RemoteRoutes {
    /// The paths of streams, without their queries.
    let streams: Set<String>

    var isGeneric: Bool { true }

    func isStream(_ request: PlayRequest) -> Bool {
        request.method == "GET" && streams.contains(String(request.target.prefix { $0 != "?" }))
    }

    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer? { nil }
}

/// For directories and repositories, which have only play's own routes.
struct NoRoutes: RemoteRoutes {
    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer? { nil }
}

extension PlayAnswer {
    /// An answer with a JSON document.
    static func json(_ value: JSONValue, status: Int = 200) -> PlayAnswer {
        .body(status: status, Array(value.text.utf8))
    }

    static func text(_ text: String, status: Int = 200) -> PlayAnswer {
        .body(status: status, type: "text/plain; charset=utf-8", Array(text.utf8))
    }
}
#endif
