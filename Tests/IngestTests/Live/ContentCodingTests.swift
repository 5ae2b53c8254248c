#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// Servers that compress what nobody asked them to compress.
@Suite(.hangGuard) struct ContentCodingTests {
    private static let coded = ["Content-Encoding": "gzip"]
    /// The beginning of any gzip member.
    private static let gzip: [UInt8] = [0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03]

    private func expectRecorded(_ events: [RecordedEvent]) {
        let faults = events.filter { $0.kind == "recorder.http/1" && $0.attribute("content-encoding") == "gzip" }
        #expect(faults.map { $0.attribute("status") } == ["200"])
        #expect(faults.first?.attribute("reason")?.contains("compressed") == true)
        #expect(!events.contains { $0.payload.starts(with: Self.gzip) })
    }

    @Test func aCompressedEventStreamIsRefusedAndRecorded() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in
            .pieces(200, ["Content-Type": "text/event-stream", "Content-Encoding": "gzip"], [Self.gzip])
        }
        let source = try EventStreamSource(url: server.url, name: SourceName("list"), follows: true)
        let error = await #expect(throws: IngestError.self) { try await bench.record(source) }
        await server.stop()
        await bench.stop()
        #expect(error?.code == .refused && error?.reason.contains("compressed") == true)
        #expect(server.requests.map { $0.headers["accept-encoding"] } == ["identity"])
        expectRecorded(try bench.events())
        #expect(try bench.events().contains { $0.text.contains(#""reason":"unreachable""#) })
    }

    @Test func theCodingIdentityIsNone() async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in
            let headers = ["Content-Type": "text/event-stream", "Content-Encoding": "Identity"]
            return .pieces(200, headers, [Array("data: x\n\n".utf8)])
        }
        try await bench.record(EventStreamSource(url: server.url, name: SourceName("list"), follows: false))
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1") == ["data: x\n\n"])
    }

    @Test func aCompressedAnswerOfGitHubIsAskedForAgain() async throws {
        let scratch = try GitScratch()
        try scratch.write("a.md", "1")
        try scratch.commit("one")
        let (bench, github) = (try LiveBench(), FakeGitHub(scratch.path))
        let server = try await ScriptedServer.start { request in
            request.number == 3 ? .full(200, Self.coded, Self.gzip) : try github.answer(request)
        }
        let repository = try GitHubSource.Repository("o/r", branch: "main", api: server.url)
        try await bench.record(GitHubSource(repository, name: SourceName("vibe"), follows: false))
        await server.stop()
        await bench.stop()
        #expect(try bench.events().filter { $0.kind == "git.commit/1" }.count == 1)
        #expect(Set(server.requests.map { $0.headers["accept-encoding"] }) == ["identity"])
        expectRecorded(try bench.events())
    }

    @Test func aCompressedAnswerOfCloudKitIsAskedForAgain() async throws {
        let (bench, cloud) = (try LiveBench(), FakeCloudKit())
        cloud.state.withLock { $0.sessions = ["s1": "1"] }
        let server = try await ScriptedServer.start { request in
            request.number == 1 ? .full(200, Self.coded, Self.gzip) : try cloud.answer(request)
        }
        let source = CloudKitSource(
            try .init("iCloud.com.example.app", api: server.url),
            name: try SourceName("cloud"),
            apiToken: TokenSource { "k" },
            webToken: TokenSource { "s3cret+1/=" },
            follows: false
        )
        try await bench.record(source)
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("cloudkit.records/1").contains { $0.contains("s1") })
        #expect(Set(server.requests.map { $0.headers["accept-encoding"] }) == ["identity"])
        expectRecorded(try bench.events())
    }

    @Test func aCompressedAnswerOfAGatewaysRoutesLeavesTheGapOpenUntilTheNextOne() async throws {
        let fake = try await FakeRetrocast.start()
        fake.state.withLock { $0.codedAnswers = 1 }
        let bench = try RecorderBench(speed: 200)
        let url = "ws://127.0.0.1:\(fake.port)/gateway"
        let source = try GatewaySource(url: url, token: TokenSource { "tok-1" }, name: bench.source, follows: true)
        try await bench.record(source) { try await bench.wait { $0.contains { $0.key.hasSuffix("/closed") } } }
        await fake.stop()
        expectRecorded(try bench.events())
        #expect(fake.state.withLock { Set($0.codings) } == ["identity"])
    }
}
#endif
