#if Recorders
import EventLog
import Testing

@testable import Ingest

@Suite struct GatewaySnapshotPlanTests {
    private static let since = Timestamp(seconds: 1_772_366_400)

    /// Answers every request by a script; the paths asked for.
    private func run(
        _ style: GatewaySnapshotPlan.Style = .retrocast,
        _ answer: (String) -> (status: Int?, body: String)
    ) -> (paths: [String], isComplete: Bool) {
        var plan = GatewaySnapshotPlan(style: style, since: Self.since)
        var paths: [String] = []
        while let request = plan.next(), paths.count < 1_000 {
            paths.append(request.path)
            let (status, body) = answer(request.path)
            plan.take(Array(body.utf8), status: status, of: request)
        }
        return (paths, plan.isComplete)
    }

    @Test func withoutTheGuildsNothingIsComplete() {
        #expect(!run { _ in (404, "") }.isComplete)
        #expect(!run { _ in (nil, "") }.isComplete)
        #expect(!run { _ in (200, "not json") }.isComplete)
        #expect(run { _ in (200, "[]") }.isComplete)
    }

    @Test func membersArePagedByOffset() {
        let full = "[" + (0..<100).map { #"{"user_id":"\#($0)"}"# }.joined(separator: ",") + "]"
        let result = run { path in
            if path.hasSuffix("@me/guilds") { return (200, #"{"data":[{"id":"5"}]}"#) }
            return (200, path.hasPrefix("/guilds/5/members") && !path.contains("offset=200") ? full : "[]")
        }
        let members = result.paths.filter { $0.contains("/members") }
        #expect(members == ["", "&offset=100", "&offset=200"].map { "/guilds/5/members?limit=100\($0)" })
    }

    /// Ids of a guild may be numbers; a category has no messages, a voice channel has voice states.
    @Test func channelsAreReadByTheirType() {
        let channels = #"{"data":[{"id":1,"type":0},{"id":"2","type":2},{"id":"3","type":4},{"id":"../x"}]}"#
        let result = run { path in
            if path.hasSuffix("@me/guilds") { return (200, #"{"data":[{"id":5}]}"#) }
            return (200, path == "/guilds/5/channels" ? channels : "[]")
        }
        #expect(result.paths.contains("/channels/1/messages?limit=100"))
        #expect(result.paths.contains("/channels/2/voice/states"))
        #expect(!result.paths.contains { $0.hasPrefix("/channels/3") || $0.contains("..") })
    }

    @Test(arguments: [("2026-03-01T11:59:59Z", 1), ("2026-03-01T12:00:01Z", 3)])
    func messagesAreReadBackToTheGap(createdAt: String, pages: Int) {
        let result = run { path in
            if path.hasSuffix("@me/guilds") { return (200, #"{"data":[{"id":"5"}]}"#) }
            if path == "/guilds/5/channels" { return (200, #"{"data":[{"id":"1","type":0}]}"#) }
            guard path.hasPrefix("/channels/1/messages"), !path.contains("before=200") else { return (200, "[]") }
            let first = path.contains("before=300") ? 299 : 399
            let ids = (0..<100).map { #"{"id":"\#(first - $0)","created_at":"\#(createdAt)"}"# }
            return (200, "[\(ids.joined(separator: ","))]")
        }
        #expect(result.paths.count { $0.hasPrefix("/channels/1/messages") } == pages)
        #expect(result.isComplete)
    }

    @Test func aChannelThatNeverEndsLeavesTheSnapshotIncomplete() {
        let page = "[" + (0..<100).map { #"{"id":"\#(500 - $0)"}"# }.joined(separator: ",") + "]"
        let result = run { path in
            if path.hasSuffix("@me/guilds") { return (200, #"{"data":[{"id":"5"}]}"#) }
            if path == "/guilds/5/channels" { return (200, #"{"data":[{"id":"1","type":0}]}"#) }
            return (200, path.contains("/messages") ? page : "[]")
        }
        #expect(result.paths.count { $0.contains("/messages") } == GatewaySnapshotPlan.pageCountMax)
        #expect(!result.isComplete)
    }

    @Test(arguments: [GatewaySnapshotPlan.Style.discord, .retrocast])
    func membersThatNeverEndLeaveTheSnapshotIncomplete(style: GatewaySnapshotPlan.Style) {
        var plan = GatewaySnapshotPlan(style: style, since: Self.since)
        let size = style == .discord ? 1_000 : 100
        let page = "[" + (0..<size).map { #"{"user":{"id":"\#($0)"}}"# }.joined(separator: ",") + "]"
        var count = 0
        while let request = plan.next(), count < 2_000 {
            let isMembers = request.path.hasPrefix("/guilds/5/members")
            if isMembers { count += 1 }
            let body = request.path == "/users/@me/guilds" ? #"[{"id":"5"}]"# : isMembers ? page : "[]"
            plan.take(Array(body.utf8), status: 200, of: request)
        }
        #expect(count == GatewaySnapshotPlan.memberPageCountMax)
        #expect(!plan.isComplete)
    }

    @Test func guildsThatNeverEndLeaveTheSnapshotIncomplete() {
        var plan = GatewaySnapshotPlan(style: .discord, since: Self.since)
        let page = "[" + (1...200).map { #"{"id":"\#($0)"}"# }.joined(separator: ",") + "]"
        var count = 0
        while let request = plan.next(), count < 1_000 {
            let isGuilds = request.path.hasPrefix("/users/@me/guilds")
            if isGuilds { count += 1 }
            plan.take(Array((isGuilds ? page : "[]").utf8), status: 200, of: request)
        }
        #expect(count == GatewaySnapshotPlan.pageCountMax)
        #expect(!plan.isComplete)
    }

    /// Without the last one's id, nobody can ask for the next page.
    @Test func aFullPageWithoutIdsLeavesTheSnapshotIncomplete() {
        let guilds = "[" + Array(repeating: "{}", count: 200).joined(separator: ",") + "]"
        #expect(!run(.discord) { path in (200, path == "/users/@me/guilds" ? guilds : "[]") }.isComplete)
    }

    @Test func discordsRoutesArePagedByTheLastId() {
        let guilds = "[" + (1...200).map { #"{"id":"\#($0)"}"# }.joined(separator: ",") + "]"
        let result = run(.discord) { path in
            (200, path == "/users/@me/guilds" ? guilds : "[]")
        }
        #expect(result.paths.contains("/users/@me/guilds?after=200"))
        #expect(result.paths.contains("/guilds/7/members?limit=1000"))
        #expect(!result.paths.contains("/users/@me/read-states"))
    }
}
#endif
