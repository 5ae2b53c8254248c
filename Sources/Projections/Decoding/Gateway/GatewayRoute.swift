import EventLog

/// A path of a gateway's REST interface. Anything before `users`, `guilds` or `channels` is ignored, such as `/api/v1`.
struct GatewayRoute {
    /// The things that an answer contains; after `guild` and `channel` alone, the one that the path names.
    enum Subject {
        case guilds, directChannels, readStates
        case guild, guildChannels, roles, members, bans
        case channel, messages, message, voices
        case reactions(message: String, emoji: String)
    }

    let subject: Subject
    /// The id of the guild or channel that the path names; `nil` for the user's own lists.
    let place: String?
    /// Whether the path searches the messages of a whole guild.
    let isSearch: Bool
    /// The part after `?`, not decoded; empty without one.
    private let query: Substring

    /// Whether the query selects a page relative to a message: `before`, `after` or `around`.
    var hasCursor: Bool {
        query.split(separator: "&").contains { pair in
            ["before", "after", "around"].contains { pair.hasPrefix($0 + "=") }
        }
    }

    /// `nil` for a route that is unknown or concerns no state.
    init?(_ path: String) {
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        query = halves.count > 1 ? halves[1] : ""
        let all = (halves.first ?? "").split(separator: "/")
        guard let root = all.firstIndex(where: { ["users", "guilds", "channels"].contains($0) }) else { return nil }
        let parts = all[root...].map(String.init)
        // The path behind the root and its id.
        let tail = parts.dropFirst(2).joined(separator: "/")
        guard parts.count >= 2, let subject = Self.subject(parts[0], of: parts[1], tail, parts) else { return nil }
        self.subject = subject
        place = parts[0] == "users" ? nil : parts[1]
        isSearch = parts[0] == "guilds" && tail == "messages/search"
    }

    /// The subject of a path; `nil` for all paths that are not listed here. Only `@me`, the recording user, has lists
    /// of interest.
    private static func subject(_ root: String, of id: String, _ tail: String, _ parts: [String]) -> Subject? {
        switch (root, tail) {
        case ("users", "guilds") where id == "@me": .guilds
        case ("users", "channels") where id == "@me": .directChannels
        case ("users", "read-states") where id == "@me": .readStates
        case ("guilds", ""): .guild
        case ("guilds", "channels"): .guildChannels
        case ("guilds", "roles"): .roles
        case ("guilds", "members"): .members
        case ("guilds", "bans"): .bans
        case ("guilds", "messages/search"): .messages
        case ("channels", ""): .channel
        case ("channels", "messages"): .messages
        case ("channels", "voice/states"): .voices
        case ("channels", _) where parts.count == 4 && parts[2] == "messages": .message
        case ("channels", _) where parts.count == 6 && parts[2] == "messages" && parts[4] == "reactions":
            .reactions(message: parts[3], emoji: decoded(parts[5]))
        default: nil
        }
    }

    /// Whether an answer with `count` elements is both the first and the last page.
    ///
    /// A full page proves nothing, because another may follow. So does a page behind a cursor, except `offset=0`.
    ///
    /// - Parameter limit: the server's page size for requests without `limit`.
    func isOnePage(_ count: Int, default limit: Int) -> Bool {
        var limit = limit
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            switch parts.first {
            case "limit": limit = parts.count > 1 ? Int(parts[1]) ?? limit : limit
            case "offset" where parts.count > 1 && parts[1] == "0": break
            case "offset", "after", "before", "around": return false
            default: break
            }
        }
        return count < limit
    }

    /// The members of an element with the ids that it leaves out, from the path and from its `user`.
    ///
    /// - Parameter place: the text of `self.place` in JSON, which the members borrow.
    func completed(_ object: ObjectView, place: ValueView?) -> GatewayMembers {
        var implied: [GatewayMembers.Implied] = []
        func imply(_ name: StaticString, _ value: ValueView?) {
            if let value { implied.append(GatewayMembers.Implied(name: name, value: value)) }
        }
        switch subject {
        case .members, .bans, .guildChannels:
            imply("guild_id", place)
            imply("user_id", object["user"]?.members?["id"])
        case .messages: imply("channel_id", place)
        default: break
        }
        return GatewayMembers(object, path: "", implied: implied)
    }

    /// Decodes an emoji, which a path percent-encodes as UTF-8 and a frame writes as it is.
    private static func decoded(_ text: String) -> String {
        String(decoding: PercentEncoding.decoded(Array(text.utf8)), as: UTF8.self)
    }
}
