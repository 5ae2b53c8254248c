#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite struct CloudKitSourceTests {
    private let cloud = FakeCloudKit()

    private func source(_ server: ScriptedServer, _ bench: LiveBench) throws -> CloudKitSource {
        let file = bench.log.directory.path("token")
        return CloudKitSource(
            try .init("iCloud.com.example.app", api: server.url),
            name: try SourceName("cloud"),
            apiToken: TokenSource { "k3y" },
            webToken: .file(file),
            webTokenFile: file,
            follows: false
        )
    }

    private func start() async throws -> (LiveBench, ScriptedServer) {
        let bench = try LiveBench()
        try Data("s3cret+1/=\n".utf8).write(to: URL(fileURLWithPath: bench.log.directory.path("token")))
        return (bench, try await ScriptedServer.start { [cloud] in try cloud.answer($0) })
    }

    private func calls(_ bench: LiveBench) throws -> [String] {
        try bench.events().filter { $0.kind == "cloudkit.records/1" }.map { event in
            [event.attribute("op"), event.attribute("type"), event.attribute("page"), event.attribute("last")]
                .map { $0 ?? "-" }.joined(separator: " ")
        }
    }

    @Test func whatIsDifferentIsRecordedAndWhatIsAbsentIsConfirmed() async throws {
        let (bench, server) = try await start()
        cloud.state.withLock { $0.sessions = ["a": "1", "b": "1", "c": "1"] }
        try await bench.record(source(server, bench))
        let first = ["query Session 1 -", "query Session 2 true"]
        #expect(try calls(bench) == first)
        try await bench.record(source(server, bench))
        #expect(try calls(bench) == first)
        cloud.state.withLock { state in
            state.sessions["b"] = nil
            state.aged = ["a"]
            state.prompts = ["p": ("1", false)]
        }
        try await bench.record(source(server, bench))
        let second = first + ["lookup Session - -", "query Prompt 1 true", "query Prompt 1 true"]
        #expect(try calls(bench) == second)
        #expect(try bench.texts("cloudkit.records/1").at(2).contains("NOT_FOUND"))
        cloud.state.withLock { $0.prompts = ["p": ("2", true)] }
        try await bench.record(source(server, bench))
        #expect(try calls(bench) == second + ["query Prompt 1 true", "query Prompt 1 true"])
        await server.stop()
        await bench.stop()
        #expect(try !bench.everything().contains("s3cret"))
        #expect(try !bench.everything().contains("k3y"))
    }

    @Test func troubleIsWaitedOutAndARefusalEndsTheRun() async throws {
        let bench = try LiveBench()
        try Data("s3cret+1/=\n".utf8).write(to: URL(fileURLWithPath: bench.log.directory.path("token")))
        let server = try await ScriptedServer.start { [cloud] request in
            switch request.number {
            case 1: .text(429, #"{"serverErrorCode":"THROTTLED","retryAfter":30}"#)
            case 2: .text(503, #"{"serverErrorCode":"TRY_AGAIN_LATER"}"#)
            case 3: .pieces(200, [:], [Array("{\"rec".utf8)], isCut: true)
            case 4: .text(200, "{}")
            case 8...: .text(421, #"{"serverErrorCode":"AUTHENTICATION_REQUIRED"}"#)
            default: try cloud.answer(request)
            }
        }
        try await bench.record(source(server, bench))
        #expect(bench.waits.all.map(\.components.seconds) == [30, 2, 4, 8])
        await #expect(throws: IngestError.self) { try await bench.record(source(server, bench)) }
        await server.stop()
        await bench.stop()
        let statuses = try bench.events().filter { $0.kind == "recorder.http/1" }.map { $0.attribute("status") }
        #expect(statuses == ["429", "503", "200", "421"])
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }.map { $0.attribute("gap") }
        #expect(gaps == ["open", "close", "open"])
    }

    @Test(arguments: ["", "com.example", "iCloud.a/../b"])
    func aContainerThatIsNoneIsRefused(_ name: String) {
        #expect(throws: IngestError.self) { try CloudKitSource.Container(name) }
    }
}
#endif
