#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// Recording what an address answers.
@Suite(.hangGuard) struct AnswerSourceTests {
    private func source(_ url: String, token: TokenSource? = nil, follows: Bool = true) throws -> AnswerSource {
        try AnswerSource(url: url, token: token, name: SourceName("posts"), follows: follows)
    }

    /// Only what is new is recorded, and a server that can say so is asked for no more.
    @Test func eachAnswerThatIsNewIsRecorded() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1, 2: .text(200, "[1]", ["ETag": #""a""#, "Last-Modified": "Mon, 02 Feb 2026 08:00:00 GMT"])
            case 3: .full(304)
            case 4: .text(201, "[1,2]")
            case 5: .text(500, "broken")
            case 6: .text(429, "later", ["Retry-After": "7"])
            default: .text(200, "[1,2,3]")
            }
        }
        let url = server.url + "/posts?limit=5&access_token=query-secret-2"
        try await bench.record(source(url, token: TokenSource { "tok-12345678" })) { events in
            events.contains { $0.text == "[1,2,3]" && $0.kind == "http.answer/1" }
        }
        await server.stop()
        await bench.stop()
        let answers = try bench.events().filter { $0.kind == "http.answer/1" }
        #expect(answers.map(\.text) == ["[1]", "[1,2]", "[1,2,3]"])
        #expect(answers.map { $0.attribute("status") } == ["200", "201", "200"])
        #expect(Set(answers.map { $0.attribute("path") }) == ["/posts?limit=5&access_token=[redacted]"])
        #expect(answers.allSatisfy { $0.attribute("method") == "GET" && $0.attribute("dir") == "in" })
        let asked = server.requests.prefix(5)
        #expect(asked.map { $0.headers["if-none-match"] } == [nil, #""a""#, #""a""#, #""a""#, nil])
        #expect(asked.allSatisfy { $0.headers["authorization"] == "Bearer tok-12345678" })
        #expect(
            bench.waits.all.prefix(6) == [
                .seconds(10), .seconds(10), .seconds(10), .seconds(10), .seconds(1), .seconds(7),
            ]
        )
        // Both failures are one gap, which the next good answer closes.
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open"])
        #expect(
            try bench.events().filter { $0.kind == "recorder.http/1" }.map { $0.attribute("status") } == ["500", "429"]
        )
        #expect(try !bench.events().contains { ["tok-12345678", "query-secret-2"].contains(where: "\($0)".contains) })
    }

    /// A later run compares with what the log holds.
    @Test func aLaterRunRecordsNothingTwice() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in .text(200, #"{"a":1}"#) }
        for _ in 0..<3 { try await bench.record(source(server.url + "/x", follows: false)) }
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("http.answer/1") == [#"{"a":1}"#])
    }

    @Test(arguments: [401, 404, 302]) func anAddressThatNeverWorkedIsAnError(status: Int) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in .text(status, "no") }
        await #expect(throws: IngestError.self) { try await bench.record(source(server.url + "/x")) }
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("http.answer/1") == [])
        #expect(server.requests.count == 1)
    }

    @Test func anAddressThatWorkedBeforeIsWaitedFor() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            request.number == 2 ? .text(401, "no") : .text(200, "\(request.number)")
        }
        try await bench.record(source(server.url + "/x")) { $0.contains { $0.text == "3" } }
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("http.answer/1").prefix(2) == ["1", "3"])
    }
}
#endif
