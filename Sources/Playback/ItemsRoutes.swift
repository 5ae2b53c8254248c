#if Recorders
import EventLog
import Projections

/// Punchlist's routes: `/subscribe/#TAG`, `/status/#TAG` and `/events` are the stream, `POST /ko` takes the words of a
/// command line.
struct ItemsRoutes: RemoteRoutes {
    /// The path of the recorded stream, without its query; `nil` where the log has none.
    var stream: String?

    func isStream(_ request: PlayRequest) -> Bool {
        guard request.method == "GET" else { return false }
        let isNamed = ["/subscribe", "/status", "/events"].contains { request.path.hasPrefix($0) }
        return isNamed || request.target.prefix { $0 != "?" } == stream ?? ""
            || request.headers["accept"]?.contains("text/event-stream") == true
    }

    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer? {
        guard request.path == "/ko" else { return nil }
        guard request.method == "POST" else { return .text("method not allowed\n", status: 405) }
        guard let words = (try? JSONValue.parse(request.body))?["argv"]?.array?.compactMap(\.string) else {
            return .text("invalid JSON: argv is missing\n", status: 400)
        }
        guard let command = words.first else { return .text("argv must have at least one element\n", status: 400) }
        return try run(command, Array(words.dropFirst()), play)
    }

    /// Answers the commands that read from the state. All others are confirmed and noted, and change nothing.
    private func run(_ command: String, _ words: [String], _ play: PlayContext) throws -> PlayAnswer {
        let rows = try play.states.rows(.items, at: play.report.sequence)
        let project = words.first { $0.hasPrefix("--project=") }.map { String($0.dropFirst("--project=".count)) }
        switch (command, words.first) {
        // Projects are the lists of the state; the first by name counts as the default.
        case ("project", _):
            let lists = Set(rows.compactMap { $0["list"]?.string }).sorted()
            return .json(.array(lists.enumerated().map { Self.project($0.element, isDefault: $0.offset == 0) }))
        case ("ls", _), ("ready", _):
            let wanted = rows.filter {
                // Clients name a list with or without its `#`.
                project == nil || $0["list"]?.string == project || $0["list"]?.string == "#\(project ?? "")"
            }
            let open =
                command == "ready" || !words.contains("--all") ? wanted.filter { $0["done"]?.bool != true } : wanted
            return .json(.array(open.map(Self.ticket)))
        case ("show", let id?):
            guard let row = rows.first(where: { $0["id"]?.string == id }) else {
                return .json(.object(["error": .string("ticket '\(id)' not found")]), status: 400)
            }
            return .json(Self.ticket(row))
        // No agent runs in a recording.
        case ("agent", "status"):
            return .json(.object(["provisioned": .bool(false), "running": .bool(false), "actionable": .bool(false)]))
        default:
            // Changing the state would make later frames contradict it.
            play.report.note(recorded: "no command", client: "sent \"\(command)\", which changes nothing")
            return .text("\(words.first { !$0.hasPrefix("--") } ?? "") updated\n")
        }
    }

    private static func project(_ tag: String, isDefault: Bool) -> JSONValue {
        .object([
            "tag": .string(tag.hasPrefix("#") ? String(tag.dropFirst()) : tag), "path": .string("/play/\(tag)"),
            "is_default": .bool(isDefault), "is_hidden": .bool(false),
        ])
    }

    /// An item in the shape of Punchlist's tickets. Members that the item had and the state does not interpret
    /// (`extra`) override the fixed ones.
    private static func ticket(_ row: JSONValue) -> JSONValue {
        var ticket: JSONObject = [
            "id": row["id"], "title": row["text"] ?? .string(""), "status": row["status"] ?? .string("open"),
            "type": .string("task"), "priority": .int(2), "deps": .array([]),
            "created": row["created"] ?? .string("1970-01-01T00:00:00Z"), "modified": .string(""),
            "hasUnresolvedDep": .bool(false),
        ]
        for member in row["extra"]?.object?.members ?? [] { ticket[member.name] = member.value }
        return .object(ticket)
    }

    func missing(_ request: PlayRequest) -> PlayAnswer { .text("not found\n", status: 404) }
}
#endif
