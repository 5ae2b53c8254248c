#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite struct EventStreamSourceTests {
    private static let type = ["Content-Type": "text/event-stream"]
    /// Both forms that Punchlist's server sends, as `sources` have them: tickets alone, and tickets with the agent.
    private static let subscribe =
        "retry: 3000\n\nid: 0\ndata: {\"id\":\"wrk-1\",\"title\":\"Milk \u{00FC}\"}\ndata: {\"id\":\"wrk-2\"}\n\nid: 6\ndata: {\"id\":\"wrk-1\"}\n\n"
    private static let status =
        "id: 0\ndata: {\"provisioned\":true,\"running\":false,\"type\":\"agent\"}\ndata: {\"ticket\":{\"id\":\"wrk-1\"},\"type\":\"ticket\"}\n\n"

    private func source(_ url: String, follows: Bool = false, token: TokenSource? = nil) throws -> EventStreamSource {
        try EventStreamSource(url: url, name: SourceName("list"), token: token, follows: follows)
    }

    private func pieces(_ text: String, size: Int) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min(bytes.count, $0 + size)]) }
    }

    @Test(arguments: [(subscribe, 1), (subscribe, 7), (subscribe, 4096), (status, 3)])
    func everyEventIsRecordedVerbatim(_ form: String, size: Int) async throws {
        let bench = try LiveBench()
        let parts = pieces(form, size: size)
        let server = try await ScriptedServer.start { _ in .pieces(200, Self.type, parts) }
        try await bench.record(source(server.url + "/subscribe/%23work"))
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1").joined() == form)
        let keys = try bench.events().filter { $0.kind == "sse.event/1" }.map(\.key)
        #expect(keys == (1...keys.count).map { "c1/\($0)" })
        let links = try bench.events().filter { $0.kind == "recorder.link/1" }.map(\.key)
        #expect(links == ["c1/open", "c1/close"])
    }

    @Test func aReconnectionSendsTheLastIDWaitsAsAskedAndClosesTheGap() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1:
                .pieces(200, Self.type, [Array("retry: 7000\nid: é5\ndata: a\n\nid: 9\ndata: lost".utf8)], isCut: true)
            case 2: .text(503, "later", ["Retry-After": "2"])
            case 3: .pieces(200, Self.type, [Array("data: b\n\n".utf8)])
            default: .full(204)
            }
        }
        try await bench.record(source(server.url + "/s", follows: true))
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1") == ["retry: 7000\nid: é5\ndata: a\n\n", "data: b\n\n"])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "é5", "é5", "é5"])
        #expect(bench.waits.all == [.seconds(7), .seconds(2), .seconds(7), .seconds(7)])
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open"])
        // An id that is no number proves nothing.
        #expect(try gaps.at(1).text.contains("\"closes\":\"nothing\""))
        let statuses = try bench.events().filter { $0.kind == "recorder.http/1" }
        #expect(statuses.map { $0.attribute("status") } == ["503", "204"])
    }

    @Test func waitsGrowToThirtySecondsUntilAnEventComes() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1...7: .text(500, "no")
            case 8: .pieces(200, Self.type, [Array("data: a\n\n".utf8)])
            case 9: .text(500, "no")
            default: .full(204)
            }
        }
        try await bench.record(source(server.url, follows: true))
        await server.stop()
        await bench.stop()
        #expect(bench.waits.all.map(\.components.seconds) == [1, 2, 4, 8, 16, 30, 30, 1, 2])
    }

    @Test func aRestartGoesOnCountingConnectionsAndIDs() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            .pieces(200, Self.type, [Array("id: \(request.number)\ndata: \(request.number)\n\n".utf8)])
        }
        for _ in 1...3 { try await bench.record(source(server.url)) }
        await server.stop()
        await bench.stop()
        #expect(try bench.events().filter { $0.kind == "sse.event/1" }.map(\.key) == ["c1/1", "c2/1", "c3/1"])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "1", "2"])
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }.map { $0.attribute("gap") }
        #expect(gaps == ["open", "close", "open", "close", "open"])
    }

    @Test func redirectsAreFollowedAndTheTokenStaysWithItsServer() async throws {
        let bench = try LiveBench()
        let directory = bench.log.directory
        try Data("tok-5ecret\n".utf8).write(to: URL(fileURLWithPath: directory.path("token")))
        let other = try await ScriptedServer.start { _ in .pieces(200, Self.type, [Array("data: x\n\n".utf8)]) }
        let target = other.url
        let server = try await ScriptedServer.start { request in
            request.path == "/a"
                ? .full(301, ["Location": "/b?x=1"]) : .full(307, ["Location": "\(target)/c"])
        }
        try await bench.record(source(server.url + "/a", token: .file(directory.path("token"))))
        await server.stop()
        await other.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1") == ["data: x\n\n"])
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer tok-5ecret", "Bearer tok-5ecret"])
        #expect(other.requests.map { $0.headers["authorization"] } == [nil])
        #expect(try !bench.everything().contains("5ecret"))
    }

    @Test(arguments: [
        (200, ["Content-Type": "text/plain"]), (200, ["Content-Type": "text/event-streams"]), (404, [:]), (401, [:]),
        (302, ["Location": "ftp://127.0.0.1/x"]),
    ])
    func anAnswerThatIsNoEventStreamIsRefused(_ status: Int, headers: [String: String]) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in .text(status, "data: x\n\n", headers) }
        let follows = status != 302
        await #expect(throws: IngestError.self) { try await bench.record(source(server.url, follows: follows)) }
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1").isEmpty)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [408, 429, 503])
    func aStatusThatPassesIsAnErrorUnlessFollowed(_ status: Int) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in .text(status, "later", ["Retry-After": "900"]) }
        let error = await #expect(throws: IngestError.self) { try await bench.record(source(server.url)) }
        await server.stop()
        await bench.stop()
        #expect(error?.code == .io && error?.reason.contains("status \(status)") == true)
        #expect(try bench.events().contains { $0.kind == "recorder.http/1" && $0.attribute("status") == "\(status)" })
        #expect(bench.waits.all.isEmpty)
    }

    /// What a reconnection that asked for what came after 5 is given, and what that says of the time between.
    @Test(arguments: [
        ("id: 6\ndata: b", "replay"), ("event: x\nid: 6\ndata: b", "replay"), ("id: 9\ndata: b", "nothing"),
        ("id: 5\ndata: b", "nothing"), ("id: 1\ndata: b", "nothing"), ("data: b", "nothing"),
        ("event: x\ndata: b", "nothing"), ("id: 0\ndata: b", "nothing"), (": ping\n\nid: 6\ndata: b", "replay"),
        ("id: 18446744073709551616\ndata: b", "nothing"),
    ])
    func aReplayIsProvedByTheNextNumberOrIsNone(_ second: String, closer: String) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .pieces(200, Self.type, [Array("id: 5\ndata: a\n\n".utf8)])
            case 2: .pieces(200, Self.type, [Array("\(second)\n\n".utf8)])
            default: .full(204)
            }
        }
        try await bench.record(source(server.url, follows: true))
        await server.stop()
        await bench.stop()
        #expect(try server.requests.at(1).headers["last-event-id"] == "5")
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.first?.text.contains(#""closes":"replay""#) == true)
        #expect(gaps.dropFirst().first?.attribute("gap") == "close")
        #expect(gaps.dropFirst().first?.text.contains("\"closes\":\"\(closer)\"") == true)
    }

    /// The id 0 begins a whole list on Punchlist's routes alone, and only where it holds tickets.
    @Test(arguments: [
        ("/subscribe/%23work", #"data: {"id":"t-1","title":"a"}"#, "snapshot"), ("/subscribe/%23work", "", "snapshot"),
        ("/ko/status/%23work", #"data: {"type":"agent"}"#, "snapshot"), ("/events", #"data: {"id":"t-1"}"#, "nothing"),
        ("/subscribe/%23work", "data: hello", "nothing"), ("/subscribe/x", #"data: {"count":1}"#, "nothing"),
    ])
    func anID0ProvesASnapshotOnlyWhereTheProtocolSaysSo(_ path: String, data: String, closer: String) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .pieces(200, Self.type, [Array("id: 5\ndata: {\"id\":\"a\"}\n\n".utf8)])
            case 2: .pieces(200, Self.type, [Array("id: 0\n\(data)\n\n".utf8)])
            default: .full(204)
            }
        }
        try await bench.record(source(server.url + path, follows: true))
        await server.stop()
        await bench.stop()
        let closed = try bench.events().first { $0.attribute("gap") == "close" }
        #expect(closed?.text.contains("\"closes\":\"\(closer)\"") == true, "\(closed?.text ?? "")")
    }

    /// A comment shows that the connection is heard, so nothing more is missed; what was missed before, the first event shows.
    @Test func aGapEndsWhenTheConnectionIsHeardAgain() async throws {
        let bench = try LiveBench()
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .pieces(200, Self.type, [Array("id: 5\ndata: a\n\n".utf8)])
            case 2: .stream(Self.type, pieces)
            default: .full(204)
            }
        }
        continuation.yield(Array(": ping\n\n".utf8))
        let task = Task { try await bench.record(source(server.url, follows: true)) }
        while try bench.events().filter({ $0.kind == "sse.event/1" }).count < 2 {
            try await Task.sleep(for: .milliseconds(5))
        }
        // The comment is in the log; the event comes clearly later.
        try await Task.sleep(for: .milliseconds(50))
        continuation.yield(Array("id: 6\ndata: b\n\n".utf8))
        continuation.finish()
        _ = try await task.value
        await server.stop()
        await bench.stop()
        let events = try bench.events()
        let comment = try #require(events.first { $0.text == ": ping\n\n" })
        let closed = try #require(events.first { $0.attribute("gap") == "close" })
        #expect(closed.text.contains(#""to":"\#(comment.envelope.recordedAt)","closes":"replay""#), "\(closed.text)")
    }

    /// On a stream that only is kept alive nothing comes that could show what was missed, so the gap is closed by nothing.
    @Test func aGapIsClosedOnAStreamOfCommentsAlone() async throws {
        let bench = try LiveBench(time: SteppedTime())
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .pieces(200, Self.type, [Array("id: 5\ndata: a\n\n".utf8)])
            default: .stream(Self.type, pieces)
            }
        }
        // Marks of life let the bench's time pass.
        let pings = Task {
            while !Task.isCancelled {
                continuation.yield(Array(": ping\n\n".utf8))
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try await bench.record(source(server.url, follows: true)) { $0.contains { $0.attribute("gap") == "close" } }
        pings.cancel()
        continuation.finish()
        await server.stop()
        await bench.stop()
        let closed = try #require(try bench.events().first { $0.attribute("gap") == "close" })
        #expect(closed.text.contains(#""closes":"nothing""#), "\(closed.text)")
    }

    /// A connection that is lost before its first event shows nothing: the gap goes on, and the replay of a later one
    /// closes it whole.
    @Test(arguments: [": ping\n\n", "id: 6\ndata: cut"])
    func aConnectionThatIsLostBeforeItsFirstEventLeavesTheGapOpen(_ text: String) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .pieces(200, Self.type, [Array("id: 5\ndata: a\n\n".utf8)])
            case 2, 3: .pieces(200, Self.type, [Array(text.utf8)], isCut: true)
            case 4: .pieces(200, Self.type, [Array("id: 6\ndata: b\n\n".utf8)])
            default: .full(204)
            }
        }
        try await bench.record(source(server.url, follows: true))
        await server.stop()
        await bench.stop()
        let events = try bench.events()
        let gaps = events.filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open"])
        let last = try #require(events.last { $0.kind == "sse.event/1" })
        let closed = try gaps.at(1).text
        #expect(closed.contains(#""to":"\#(last.envelope.recordedAt)","closes":"replay""#), "\(closed)")
    }

    /// An address that gave a stream before is tried again, whatever it answers now; in the next run, too.
    @Test(arguments: [(404, [:] as [String: String]), (401, [:]), (200, ["Content-Type": "text/html"])])
    func anAddressThatWorkedBeforeIsTriedAgain(_ status: Int, headers: [String: String]) async throws {
        let bench = try LiveBench()
        // The first run ends while the third answer is open, the second begins with a refusal.
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(Array("data: 3\n\n".utf8))
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1, 5: .pieces(200, Self.type, [Array("data: \(request.number)\n\n".utf8)])
            case 2, 4: .text(status, "<html>", headers)
            case 3: .stream(Self.type, pieces)
            default: .full(204)
            }
        }
        try await bench.record(source(server.url, follows: true)) { $0.contains { $0.text.contains("data: 3") } }
        continuation.finish()
        try await bench.record(source(server.url, follows: true))
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1") == ["data: 1\n\n", "data: 3\n\n", "data: 5\n\n"])
        #expect(try bench.events().contains { $0.kind == "recorder.http/1" && $0.attribute("status") == "\(status)" })
    }

    @Test(arguments: ["a\u{1}b", "\u{7F}", "\u{B}5", String(repeating: "9", count: 5_000)])
    func anIDThatFitsIntoNoHeaderIsLeftOutAndSaidOnce(_ id: String) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1, 2: .pieces(200, Self.type, [Array("id: \(id)\ndata: \(request.number)\n\n".utf8)])
            case 4: .pieces(200, Self.type, [Array("id: 7\ndata: 4\n\n".utf8)])
            default: .full(204)
            }
        }
        try await bench.record(source(server.url, follows: true))
        // A restart has the same id in its bookmark.
        try await bench.record(source(server.url, follows: true))
        await server.stop()
        await bench.stop()
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, nil, nil, nil, "7"])
        #expect(try bench.texts("sse.event/1").count == 3)
        #expect(bench.messages.all.count { $0.hasPrefix("warning") && $0.contains("id") } == 2)
        let closed = try bench.events().filter { $0.attribute("gap") == "close" }
        #expect(closed.allSatisfy { $0.text.contains(#""closes":"nothing""#) } && closed.count == 2)
    }

    @Test func whatTheRemoteSaidInsteadOfAStreamIsRecorded() async throws {
        let bench = try LiveBench()
        let type = ["Content-Type": "text/html; charset=utf-8; apikey=s3cr3t"]
        let server = try await ScriptedServer.start { _ in .text(200, "<html>data: x\n\n", type) }
        await #expect(throws: IngestError.self) { try await bench.record(source(server.url + "/s?apikey=s3cr3t")) }
        await server.stop()
        await bench.stop()
        let answer = try #require(try bench.events().first { $0.kind == "recorder.http/1" })
        #expect(answer.attribute("status") == "200" && answer.attribute("path") == "/s")
        #expect(answer.attribute("content-type")?.hasPrefix("text/html; charset=utf-8") == true)
        #expect(answer.attribute("reason")?.contains("text/event-stream") == true)
        #expect(try !bench.everything().contains("s3cr3t"))
    }

    @Test func aServerThatIsNotThereIsSaidAtGrowingDistancesAndRecordedAsAGap() async throws {
        let gone = try RefusingPort()
        defer { withExtendedLifetime(gone) {} }
        let bench = try LiveBench()
        let url = "http://127.0.0.1:\(gone.number)/"
        let task = Task { try await bench.record(source(url, follows: true)) }
        while bench.waits.all.count < 40 { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        _ = try await task.value
        await bench.stop()
        let said = bench.messages.all.count { $0.contains("disconnected") }
        #expect((1...7).contains(said))
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.count == 1 && gaps[0].text.contains(#""reason":"unreachable""#))
    }

    @Test func parametersOfTheContentTypeDoNotMatter() {
        #expect(EventStreamSplitter.isEventStream("Text/Event-Stream ; charset=utf-8"))
        #expect(!EventStreamSplitter.isEventStream(nil))
        #expect(!EventStreamSplitter.isEventStream("text/event-streams"))
    }

    @Test func cancellingKeepsWhatHadComeAndDoublesNothingLater() async throws {
        let bench = try LiveBench()
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        let server = try await ScriptedServer.start { request in
            request.number == 1
                ? .stream(Self.type, pieces) : .pieces(200, Self.type, [Array("id: 0\ndata: {\"id\":\"b\"}\n\n".utf8)])
        }
        continuation.yield(Array("id: 0\ndata: a\n\ndata: unfin".utf8))
        let live = try source(server.url + "/subscribe/%23work", follows: true)
        try await bench.record(live) { $0.contains { $0.kind == "sse.event/1" } }
        continuation.finish()
        try await bench.record(source(server.url + "/subscribe/%23work"))
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1") == ["id: 0\ndata: a\n\n", "id: 0\ndata: {\"id\":\"b\"}\n\n"])
        let closed = try bench.events().filter { $0.attribute("gap") == "close" }
        #expect(closed.count == 1)
        #expect(closed.first?.text.contains("\"closes\":\"snapshot\"") == true)
    }

    @Test func secretsInEventsAreReplaced() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in
            .pieces(200, Self.type, [Array("data: {\"access_token\":\"s3cr3t\",\"x\":1}\n\n".utf8)])
        }
        try await bench.record(source(server.url + "/?apikey=s3cr3t"))
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1") == ["data: {\"access_token\":\"[redacted]\",\"x\":1}\n\n"])
        #expect(try !bench.everything().contains("s3cr3t"))
    }
}
#endif
