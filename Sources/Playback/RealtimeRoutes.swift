#if Recorders
import EventLog
import Projections

/// Supabase's routes: PostgREST's reads from the state at the position, and signing in. Nothing else is answered.
struct RealtimeRoutes: RemoteRoutes {
    func answer(_ request: PlayRequest, _ play: PlayContext) throws -> PlayAnswer? {
        let parts = request.path.split(separator: "/").map(String.init)
        if parts.starts(with: ["auth", "v1"]) { return signIn(parts.last ?? "", request) }
        guard request.method == "GET", parts.starts(with: ["rest", "v1"]), parts.count == 3 else { return nil }
        return .json(.array(try rows(of: parts[2], request, play)))
    }

    /// The rows that the filters choose (`id=gt.7`, `user_id=eq.u-1`, `deleted_at=is.null`), sorted by their ids: whole
    /// numbers by value, or a client that asks for the rows behind its last id would miss some; then texts. Parameters that are no known filter are ignored, `order` and `select` among them.
    private func rows(of table: String, _ request: PlayRequest, _ play: PlayContext) throws -> [JSONValue] {
        // PostgREST's header for a schema other than `public`. Recorded tables have a name with or without a schema.
        let schema = request.headers["accept-profile"] ?? "public"
        let names = [table, "\(schema).\(table)"]
        var records = try play.states.rows(.rows, at: play.report.sequence).filter { row in
            names.contains(row["table"]?.string ?? "")
        }.compactMap { $0["record"] }
        let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map { PercentEncoding.decoded(String($0)) }
            guard parts.count == 2, let filter = PostgRESTFilter(column: parts[0], parts[1]) else { continue }
            records.removeAll { !filter.admits($0) }
        }
        records.sort { Self.precedes(PostgRESTFilter.text($0["id"]) ?? "", PostgRESTFilter.text($1["id"]) ?? "") }
        let offset = max(request.parameter("offset").flatMap { Int($0) } ?? 0, 0)
        let limit = max(request.parameter("limit").flatMap { Int($0) } ?? .max, 0)
        return Array(records.dropFirst(offset).prefix(limit))
    }

    static func precedes(_ left: String, _ right: String) -> Bool {
        switch (Int64(left), Int64(right)) {
        case (let left?, let right?): left < right
        case (nil, nil): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (let number, _): number != nil
        }
    }

    /// Answers of Supabase's auth server for one fixed user, whatever the name and password. The token is valid until
    /// 2100, so that no client refreshes it during a playback.
    private func signIn(_ name: String, _ request: PlayRequest) -> PlayAnswer? {
        let user: JSONValue = .object([
            "id": .string("00000000-0000-0000-0000-000000000000"), "aud": .string("authenticated"),
            "role": .string("authenticated"), "email": .string("play@localhost"), "app_metadata": .object(JSONObject()),
            "user_metadata": .object(JSONObject()), "created_at": .string("1970-01-01T00:00:00Z"),
        ])
        switch name {
        case "user": return .json(user)
        case "logout": return .body(status: 204, [])
        case "token", "signup":
            return .json(
                .object([
                    "access_token": .string("play"), "refresh_token": .string("play"), "token_type": .string("bearer"),
                    "expires_in": .int(31_536_000), "expires_at": .int(4_102_444_800), "user": user,
                ])
            )
        default: return nil
        }
    }
}

/// One condition of a PostgREST query: `COLUMN=OPERATOR.VALUE`.
struct PostgRESTFilter {
    private let column: String
    private let operation: String
    private let value: String

    /// Returns `nil` for parameters that are no conditions, and for operators not listed here.
    init?(column: String, _ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !["select", "order", "limit", "offset"].contains(column),
            ["eq", "neq", "gt", "gte", "lt", "lte", "is"].contains(parts[0])
        else { return nil }
        (self.column, operation, value) = (column, parts[0], parts[1])
    }

    /// Returns true if a record fulfils the condition. A column that is null or missing fulfils only `is.null`, as in
    /// SQL.
    func admits(_ record: JSONValue) -> Bool {
        let text = Self.text(record[column])
        switch operation {
        case "is": return value == "null" ? text == nil : text == value
        case "eq": return text == value
        case "neq": return text != nil && text != value
        default: break
        }
        guard let text else { return false }
        let isLess = Self.isLess(text, value)
        return switch operation {
        case "gt": !isLess && text != value
        case "gte": !isLess
        case "lt": isLess
        default: isLess || text == value
        }
    }

    /// Compares texts that are both 64-bit integers by value, and all others by their bytes.
    private static func isLess(_ left: String, _ right: String) -> Bool {
        if let left = Int64(left), let right = Int64(right) { return left < right }
        return left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The value as PostgREST writes it in a query; `nil` for null, lists and objects.
    static func text(_ value: JSONValue?) -> String? {
        value?.string ?? value?.number?.text ?? value?.bool.map { $0 ? "true" : "false" }
    }
}
#endif
