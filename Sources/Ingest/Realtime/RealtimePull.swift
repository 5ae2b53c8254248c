#if Recorders
import EventLog
import JSON

/// Reads all rows of one table by PostgREST and records every page as it came (I2).
///
/// Each page begins behind the last page's greatest `id`, so that rows inserted or deleted meanwhile shift nothing. A
/// table without a usable `id` is read by offset.
struct RealtimePull: Sendable {
    let table: RealtimeTable
    /// The base URL of PostgREST's routes, without a slash at the end.
    let restBase: String
    /// The project's key; empty for none. Secret (I14).
    let apiKey: String
    /// The user's token; an empty one means the key's rights.
    let token: TokenSource
    let recording: Recording
    /// The counters of the connection that the pull belongs to.
    let counters: ConnectionCounters

    /// The `limit` of each request. The server may have a smaller one, so only an empty page is behind the last.
    private static let rowsPerPage = 1_000
    /// The most pages of one table: ten million rows, unless the server's limit is smaller.
    private static let pageCountMax = 10_000

    /// Pulls the rows; returns true if all could be read.
    ///
    /// - Throws: the errors of `append`; `CancellationError`.
    func take() async throws -> Bool {
        var client = RestClient(recording: recording, counters: counters, headers: headers) { [token, apiKey] in
            let fresh = try await token.fresh()
            return ("Authorization", "Bearer \(fresh.isEmpty ? apiKey : fresh)")
        }
        let basePath = try WebSocketEndpoint(restBase, operation: "pull rows").path
        var place = ""
        var (count, last) = (0, [UInt8]())
        for _ in 1...Self.pageCountMax {
            let route = "/\(table.name)?select=*\(filter)&order=id.asc&limit=\(Self.rowsPerPage)\(place)"
            let path = (basePath == "/" ? "" : basePath) + route
            // The rows are at least as new as the request; a change that comes in before the answer may be newer than
            // it.
            let asked = recording.clock.now()
            guard let answer = try await client.get(restBase + route, path: path) else { return false }
            try await record(answer, path: path, at: asked)
            // 206: PostgREST's status for a part of the rows.
            guard answer.status == 200 || answer.status == 206,
                let rows = JSONValue(received: answer.body)?.array
            else { return false }
            if rows.isEmpty { return true }
            // A server that gives the same page again ignores where it should begin.
            guard answer.body != last else { return false }
            (count, last) = (count + rows.count, answer.body)
            place = Self.place(after: rows, count: count)
        }
        return false
    }

    /// Records a page. Its time is that of the request.
    private func record(_ answer: HTTPAccess.Answer, path: String, at asked: Timestamp) async throws {
        let draft = try counters.rest(
            .realtimeREST,
            answer,
            path: path,
            source: recording.source,
            extra: [Attributes.Pair(name: "table", value: table.name)],
            at: asked
        )
        try await recording.append([.draft(draft)])
    }

    /// `Accept-Profile` selects the schema (PostgREST).
    private var headers: [(name: String, value: String)] {
        var fields = [(name: "Accept", value: "application/json"), (name: "Accept-Profile", value: table.schema)]
        if !apiKey.isEmpty { fields.append((name: "apikey", value: apiKey)) }
        return fields
    }

    /// The table's condition as a parameter of the query.
    private var filter: String { table.filter.map { "&\($0)" } ?? "" }

    /// The parameter with which the next page begins: behind the last row's id, or by the number of rows so far. Only
    /// an id that can go into a URL as it is counts.
    private static func place(after rows: [JSONValue], count: Int) -> String {
        let last = rows.last?["id"]?.identifier
        guard let last, !last.isEmpty, last.utf8.allSatisfy({ SecretText.isNameByte($0) }) else {
            return "&offset=\(count)"
        }
        return "&id=gt.\(last)"
    }
}
#endif
