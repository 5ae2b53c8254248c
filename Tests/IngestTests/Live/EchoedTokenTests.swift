#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// A server that sends a recorder's own token back, in every place that the recorder keeps.
@Suite(.hangGuard) struct EchoedTokenTests {
    private static let token = "tok/5ecret-9f8e7d6c"
    private static let type = ["Content-Type": "text/event-stream"]

    private func stream(_ url: String) throws -> EventStreamSource {
        try EventStreamSource(url: url, name: SourceName("list"), token: TokenSource { Self.token }, follows: true)
    }

    @Test func anEventStreamLeavesNoTokenInTheLogAndGivesNoneToAnotherServer() async throws {
        let bench = try LiveBench()
        let other = try await ScriptedServer.start { _ in .full(204) }
        let target = other.url
        let event =
            "id: at \(Self.token)\nevent: \(Self.token)\ndata: Basic \(Data(Self.token.utf8).base64EncodedString())\n\n"
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .pieces(200, Self.type, [Array(event.utf8)])
            case 2: .full(307, ["Location": "\(target)/c?x=tok%2F5ecret-9f8e7d6c"])
            default: .full(307, ["Location": "\(target)/c"])
            }
        }
        try await bench.record(stream(server.url))
        await server.stop()
        await other.stop()
        await bench.stop()
        let texts = try bench.texts("sse.event/1")
        #expect(texts.count == 1 && texts[0].hasPrefix("id: at [redacted]\nevent: [redacted]\ndata: Basic [redacted]"))
        #expect(other.requests.map(\.path) == ["/c"])
        #expect(other.requests.map { $0.headers["last-event-id"] } == [nil])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, nil, nil])
        #expect(try !bench.everything().contains("5ecret"))
        #expect(try !bench.bookmark(SourceName("list")).contains("5ecret"))
    }

    @Test func aContentTypeWithTheTokenLeavesItOut() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in .text(200, "no", ["Content-Type": "text/\(Self.token)"]) }
        await #expect(throws: IngestError.self) { try await bench.record(stream(server.url)) }
        await server.stop()
        await bench.stop()
        let types = try bench.events().compactMap { $0.attribute("content-type") }
        #expect(types == ["text/[redacted]"])
        #expect(try !bench.everything().contains("5ecret"))
    }

    @Test func aGatewayThatEchoesTheTokenLeavesNoneInTheLog() async throws {
        let fake = try await FakeRetrocast.start()
        let bench = try RecorderBench()
        let source = try GatewaySource(
            url: "ws://127.0.0.1:\(fake.port)/gateway",
            token: TokenSource { "tok-1" },
            name: bench.source,
            follows: true
        )
        try await bench.record(source) {
            try await fake.wait { $0.connections.values.contains { !$0.subscriptions.isEmpty } }
            let echo = fake.post("you are tok-1 \\u0074ok-1 tok%2D1")
            try await bench.wait {
                $0.contains { $0.text.contains("\(echo)") } && $0.contains { $0.key.hasSuffix("/closed") }
            }
        }
        let frame = try #require(try bench.events().first { $0.text.contains("you are") })
        #expect(frame.text.contains("you are [redacted] [redacted] [redacted]"))
        #expect(frame.attribute("redacted") == "3")
        #expect(try !bench.logHolds("tok-1"))
        await fake.stop()
    }
}
#endif
