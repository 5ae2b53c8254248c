#if Recorders
import EventLog
import Projections

/// Retrocast's REST routes, answered from the state at the position: `…/users/@me/guilds`, `…/guilds/ID/channels`, ….
///
/// Some of Retrocast's routes wrap their answer in a `data` envelope and others do not; each case below follows the
/// remote.
struct GatewayRoutes: RemoteRoutes {
    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer? {
        // `/api/v1/guilds` and `/guilds` are one route.
        var parts = request.path.split(separator: "/").map(String.init)[...]
        if parts.first == "api" {
            parts = parts.dropFirst().drop { $0.hasPrefix("v") && $0.dropFirst().allSatisfy(\.isNumber) }
        }
        guard request.method == "GET" else { return write(Array(parts), request, play) }
        let point = play.report.sequence
        let rows = GatewayRows(states: play.states, point: point)
        switch Array(parts) {
        case ["health"]: return .json(.object(["status": .string("ok")]))
        case ["users", "@me"]: return .json(Self.enveloped(Self.user(play.report.now.user)))
        case ["users", "@me", "guilds"]: return .json(Self.enveloped(try rows.guilds()))
        case ["users", "@me", "channels"]: return .json(.array(try rows.directChannels()))
        case ["users", "@me", "read-states"]: return .json(.array(try rows.readStates()))
        default: return try thing(Array(parts), request, rows)
        }
    }

    /// Answers the routes below one guild or one channel; `nil` for others.
    private func thing(_ parts: [String], _ request: PlayRequest, _ rows: GatewayRows) throws -> PlayAnswer? {
        guard parts.count >= 2 else { return nil }
        let id = parts[1]
        switch (parts[0], parts.dropFirst(2).joined(separator: "/")) {
        case ("guilds", ""): return try rows.guilds().first { $0["id"]?.string == id }.map { .json(Self.enveloped($0)) }
        case ("guilds", "channels"): return .json(Self.enveloped(try rows.channels(of: id)))
        case ("guilds", "members"): return .json(Self.enveloped(try page(rows.members(of: id), request)))
        case ("guilds", "roles"): return .json(.array(try rows.roles(of: id)))
        case ("guilds", "bans"): return .json(.array(try rows.bans(of: id)))
        // The state has no invites.
        case ("guilds", "invites"): return .json(.array([]))
        case ("channels", ""): return try rows.channel(id).map { .json(Self.enveloped($0)) }
        case ("channels", "voice/states"): return .json(.array(try rows.voiceStates(in: id)))
        case ("channels", "messages"):
            let limit = min(max(request.parameter("limit").flatMap { Int($0) } ?? 50, 1), 100)
            return .json(.array(try rows.messages(of: id, before: request.parameter("before"), limit: limit)))
        default: return nil
        }
    }

    /// One page of a list: 50 rows by default, at most 1,000.
    private func page(_ rows: [JSONValue], _ request: PlayRequest) -> [JSONValue] {
        let limit = min(max(request.parameter("limit").flatMap { Int($0) } ?? 50, 1), 1_000)
        let offset = max(request.parameter("offset").flatMap { Int($0) } ?? 0, 0)
        return Array(rows.dropFirst(offset).prefix(limit))
    }

    /// Answers signing in and similar calls, without doing anything. Other writes get `nil`, which becomes 403, so that
    /// the client sees that nothing was changed.
    private func write(_ parts: [String], _ request: PlayRequest, _ play: PlayContext) -> PlayAnswer? {
        switch (parts.first, parts.last) {
        case ("auth", "login"), ("auth", "register"), ("auth", "refresh"):
            return .json(Self.session(of: play.report.now.user))
        // Clients send these without reading an answer.
        case ("auth", "logout"), (_, "typing"), (_, "ack"): return .body(status: 204, [])
        default: return nil
        }
    }

    func missing(_ request: PlayRequest) -> PlayAnswer {
        let (code, status) = request.method == "GET" ? ("NOT_FOUND", 404) : ("FORBIDDEN", 403)
        let message = "a recording is played back: it has no answer to this"
        return .json(
            .object(["error": .object(["code": .string(code), "message": .string(message)])]),
            status: status
        )
    }

    /// The session, bare and in an envelope: clients read either.
    private static func session(of user: String) -> JSONValue {
        var session: JSONObject = [
            "access_token": .string("play"), "refresh_token": .string("play"), "user": Self.user(user),
        ]
        session["data"] = .object(session)
        return .object(session)
    }

    private static func user(_ id: String) -> JSONValue {
        .object([
            "id": .string(id), "username": .string("play"), "display_name": .string("Playback"),
            "created_at": .string("1970-01-01T00:00:00Z"),
        ])
    }

    private static func enveloped(_ value: JSONValue) -> JSONValue { .object(["data": value]) }
    private static func enveloped(_ rows: [JSONValue]) -> JSONValue { enveloped(.array(rows)) }
}

/// The state's rows in the shape of Retrocast's answers, at one point.
///
/// Each call goes through a whole section of the state: O(rows in it). Members that the state does not know have fixed
/// values.
struct GatewayRows {
    let states: PlayStates
    let point: SequenceNumber

    /// Stands in for times that no event states.
    private static let unknownTime = JSONValue.string("1970-01-01T00:00:00Z")

    func guilds() throws -> [JSONValue] {
        // `joined` is false for guilds that the user has left.
        try states.rows(.guilds, at: point).filter { $0["joined"]?.bool != false }.map { row in
            .object([
                "id": row["id"], "name": row["name"] ?? .string(""), "owner_id": row["owner"] ?? .string("0"),
                "created_at": Self.unknownTime,
            ])
        }
    }

    func channels(of guild: String) throws -> [JSONValue] {
        try states.rows(.channels, at: point).filter { $0["guild"]?.string == guild }.map(Self.channel)
    }

    func directChannels() throws -> [JSONValue] {
        try states.rows(.channels, at: point).filter { ["dm", "group"].contains($0["kind"]?.string ?? "") }
            .map(Self.channel)
    }

    func channel(_ id: String) throws -> JSONValue? {
        try states.rows(.channels, at: point).first { $0["id"]?.string == id }.map(Self.channel)
    }

    private static func channel(_ row: JSONValue) -> JSONValue {
        // Retrocast numbers its kinds of channels as Discord does; 0 is a text channel.
        let types = ["voice": 2, "category": 4, "dm": 1, "group": 3]
        let type = types[row["kind"]?.string ?? ""] ?? 0
        let users = (row["recipients"]?.array ?? []).map { id -> JSONValue in
            .object([
                "id": id, "username": id, "display_name": id, "created_at": unknownTime,
            ])
        }
        let isDirect = type == 1 || type == 3
        return .object([
            "id": row["id"], "guild_id": row["guild"], "name": isDirect ? nil : row["name"] ?? .string(""),
            "type": .int(type), "position": isDirect ? nil : row["position"] ?? .int(0), "topic": row["topic"],
            "parent_id": row["parent"], "recipients": isDirect ? .array(users) : nil,
            "created_at": isDirect ? unknownTime : nil,
        ])
    }

    func members(of guild: String) throws -> [JSONValue] {
        try states.rows(.members, at: point).filter { $0["guild"]?.string == guild }.map { row in
            // Role ids are JSON numbers here, with all their digits.
            let roles = (row["roles"]?.array ?? []).compactMap { $0.string.flatMap { UInt64($0) } }
            return .object([
                "guild_id": row["guild"], "user_id": row["user"], "nickname": row["nickname"],
                "joined_at": Self.unknownTime, "roles": roles.isEmpty ? .null : .array(roles.map { .int($0) }),
            ])
        }
    }

    func roles(of guild: String) throws -> [JSONValue] {
        try states.rows(.roles, at: point).filter { $0["guild"]?.string == guild }.map { row in
            .object([
                "id": row["id"], "guild_id": row["guild"], "name": row["name"] ?? .string(""),
                "color": row["color"] ?? .int(0), "permissions": row["permissions"] ?? .string("0"),
                "position": row["position"] ?? .int(0), "is_default": .bool(row["name"]?.string == "@everyone"),
            ])
        }
    }

    func bans(of guild: String) throws -> [JSONValue] {
        try states.rows(.bans, at: point).filter { $0["guild"]?.string == guild }.map { row in
            .object([
                "guild_id": row["guild"], "user_id": row["user"], "created_by": .string("0"),
                "created_at": Self.unknownTime,
            ])
        }
    }

    func readStates() throws -> [JSONValue] {
        try states.rows(.readStates, at: point).map { row in
            .object([
                "user_id": .string("0"), "channel_id": row["channel"], "last_message_id": row["lastMessage"],
                "mention_count": .int(0), "updated_at": Self.unknownTime,
            ])
        }
    }

    func voiceStates(in channel: String) throws -> [JSONValue] {
        try states.rows(.voiceStates, at: point).filter { $0["channel"]?.string == channel }.map { row in
            .object([
                "guild_id": row["guild"], "channel_id": row["channel"], "user_id": row["user"],
                "session_id": .string("voice-\(channel)"), "self_mute": .bool(false), "self_deaf": .bool(false),
                "joined_at": Self.unknownTime,
            ])
        }
    }

    /// A page of a channel's messages, newest first.
    func messages(of channel: String, before: String?, limit: Int) throws -> [JSONValue] {
        var rows = try states.messages(of: channel, at: point)
        if let before {
            if let place = rows.firstIndex(where: { $0["id"]?.string == before }) {
                // Rows are in the remote's order, oldest first.
                rows.removeSubrange(place...)
            } else if let bound = UInt64(before) {
                // The message was deleted since the client saw it: ids grow with time, so its number still bounds the
                // page.
                rows.removeAll { $0["id"]?.string.flatMap { UInt64($0) }.map { $0 >= bound } ?? false }
            }
        }
        return rows.suffix(limit).reversed().map { row in
            let name = row["authorName"] ?? row["author"]
            return .object([
                "id": row["id"], "channel_id": row["channel"], "author_id": row["author"] ?? .string("0"),
                "content": row["content"] ?? .string(""), "created_at": row["createdAt"] ?? Self.unknownTime,
                "edited_at": row["editedAt"], "author_username": name, "author_display_name": name,
                "attachments": .null,
            ])
        }
    }
}
#endif
