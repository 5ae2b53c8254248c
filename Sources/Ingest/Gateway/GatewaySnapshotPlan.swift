#if Recorders
import EventLog
import JSON

/// The REST requests of a snapshot of a gateway's state, one after another: guilds, their channels, roles, members and
/// bans, direct-message channels, and the newest messages of each channel, back to where the gap began.
///
/// Decides only: the caller sends each request and hands the answer back.
struct GatewaySnapshotPlan {
    /// The service whose routes are used.
    enum Style: Equatable, Sendable {
        case retrocast, discord
    }

    /// The content of an answer.
    enum Subject: Equatable, Sendable {
        case plain
        case guilds(page: Int)
        case channels
        case members(guild: String, count: Int)
        case messages(channel: String, page: Int)
    }

    /// One request.
    struct Request: Equatable, Sendable {
        /// The path below the base, and the query.
        let path: String
        let subject: Subject

        fileprivate var isForGuilds: Bool { if case .guilds = subject { true } else { false } }
    }

    /// The most pages of messages of one channel, of guilds, and of members of one guild; with more, the snapshot is
    /// incomplete and the gap stays open.
    static let pageCountMax = 100
    static let memberPageCountMax = 1_000
    /// The greatest `limit` of Discord's route.
    private static let messagesPerPage = 100
    /// The page size of Discord's route without a `limit`.
    private static let discordGuildsPerPage = 200

    private let style: Style
    /// Messages are read back to this instant.
    private let since: Timestamp
    /// All requests so far, in the order in which they are sent; answers add more.
    private var requests: [Request] = []
    /// The index of the next request in `requests`.
    private var position = 0
    /// False once something that matters could not be read.
    private(set) var isComplete = true

    init(style: Style, since: Timestamp) {
        self.style = style
        self.since = since
        add("/users/@me")
        add("/users/@me/guilds", .guilds(page: 0))
        if style == .retrocast {
            add("/users/@me/channels", .channels)
            add("/users/@me/read-states")
        }
    }

    /// The next request; `nil` once none is left.
    mutating func next() -> Request? {
        guard position < requests.count else { return nil }
        defer { position += 1 }
        return requests[position]
    }

    /// Takes an answer and adds the requests that follow from it.
    ///
    /// - Parameter status: the HTTP status; `nil` if there was no answer.
    mutating func take(_ body: [UInt8], status: Int?, of request: Request) {
        // Resources that are forbidden or gone are no part of the state, but without the guilds there is no state at
        // all.
        guard let status, status == 200 || (!request.isForGuilds && (status == 403 || status == 404)) else {
            isComplete = false
            return
        }
        guard status == 200, request.subject != .plain else { return }
        guard let elements = JSONValue(received: body).flatMap({ $0.array ?? $0["data"]?.array }) else {
            isComplete = false
            return
        }
        switch request.subject {
        case .plain: break
        case .guilds(let page): addGuilds(elements, page: page + 1)
        case .channels: for channel in elements { addChannel(channel) }
        case .members(let guild, let count): addMembers(after: elements, guild: guild, count: count + elements.count)
        case .messages(let channel, let page): addMessages(after: elements, channel: channel, page: page + 1)
        }
    }
}

extension GatewaySnapshotPlan {
    private mutating func add(_ path: String, _ subject: Subject = .plain) {
        requests.append(Request(path: path, subject: subject))
    }

    /// Adds the requests for each guild, and for the next page of guilds if this one is full.
    private mutating func addGuilds(_ guilds: [JSONValue], page: Int) {
        for guild in guilds { addGuild(guild) }
        guard style == .discord, guilds.count >= Self.discordGuildsPerPage else { return }
        guard page < Self.pageCountMax, let last = guilds.last.flatMap(Self.id) else {
            isComplete = false
            return
        }
        add("/users/@me/guilds?after=\(last)", .guilds(page: page))
    }

    private mutating func addGuild(_ guild: JSONValue) {
        guard let id = Self.id(guild) else { return }
        add("/guilds/\(id)/channels", .channels)
        add("/guilds/\(id)/roles")
        add("/guilds/\(id)/members?limit=\(membersPerPage)", .members(guild: id, count: 0))
        add("/guilds/\(id)/bans")
    }

    private mutating func addChannel(_ channel: JSONValue) {
        guard let id = Self.id(channel) else { return }
        switch (channel["type"]?.number?.int64 ?? 0, style) {
        // 4: a category, which has no messages.
        case (4, _): break
        // 2: a voice channel. Discord's has a text chat of its own, and no route for voice states.
        case (2, .retrocast): add("/channels/\(id)/voice/states")
        default: add("/channels/\(id)/messages?limit=\(Self.messagesPerPage)", .messages(channel: id, page: 0))
        }
    }

    /// The largest page of members that the service gives; a shorter page is the last.
    private var membersPerPage: Int { style == .discord ? 1_000 : 100 }

    /// Adds the next page of members after a full one. Discord counts from the last user's id, Retrocast from an
    /// offset.
    private mutating func addMembers(after elements: [JSONValue], guild: String, count: Int) {
        guard elements.count >= membersPerPage else { return }
        let place =
            if style == .discord {
                elements.last?["user"].flatMap { Self.id($0) }.map { "after=\($0)" }
            } else {
                String?.some("offset=\(count)")
            }
        guard count < Self.memberPageCountMax * membersPerPage, let place else {
            isComplete = false
            return
        }
        add("/guilds/\(guild)/members?limit=\(membersPerPage)&\(place)", .members(guild: guild, count: count))
    }

    /// Adds the page before this one, unless the page is the first of the channel or reaches back beyond `since`. Pages
    /// come newest first.
    private mutating func addMessages(after elements: [JSONValue], channel: String, page: Int) {
        guard elements.count >= Self.messagesPerPage, let oldest = elements.last, let id = Self.id(oldest) else {
            return
        }
        let text = oldest["created_at"]?.string
        if let text, let time = Timestamp(rfc3339: text), time < since { return }
        guard page < Self.pageCountMax else {
            isComplete = false
            return
        }
        let path = "/channels/\(channel)/messages?limit=\(Self.messagesPerPage)&before=\(id)"
        add(path, .messages(channel: channel, page: page))
    }

    /// The entity's id if it consists of digits only, so that it can go into a path as it is.
    private static func id(_ entity: JSONValue) -> String? {
        guard let id = entity["id"]?.identifier, !id.isEmpty, id.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return id
    }
}
#endif
