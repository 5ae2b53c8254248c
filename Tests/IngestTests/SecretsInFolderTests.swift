#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// Tokens reach no byte of a log's folder: not its events, not its bookmarks, in no usual form.
@Suite(.hangGuard) struct SecretsInFolderTests {
    @Test(arguments: ContractSource.allCases)
    func noSourceLeavesASecretInTheFolder(_ source: ContractSource) async throws {
        let remote = try await source.start()
        let log = try TemporaryLog()
        try await ContractBench(remote).run(log.store)
        try expectNone(of: remote.secrets, in: log)
        await remote.stop()
    }

    @Test func aTokenInTheURLToResumeAtIsKeptNowhere() async throws {
        let server = try await LoopbackServer.start { peer in
            peer.send(#"{"op":10,"d":{"heartbeat_interval":3600000}}"#)
            var frames = peer.frames.makeAsyncIterator()
            _ = await peer.nextMessage(&frames)
            let url = "ws://127.0.0.1/?token=res-5ecret&v=10"
            peer.send(
                #"{"op":0,"s":1,"t":"READY","d":{"session_id":"x?apikey=sess-5ecret","resume_gateway_url":"\#(url)"}}"#
            )
            while await peer.nextMessage(&frames) != nil {}
        }
        let bench = try RecorderBench()
        let source = try GatewaySource(
            url: "ws://127.0.0.1:\(server.port)/",
            intents: 513,
            token: TokenSource { "tok-5ecret" },
            name: bench.source,
            follows: true
        )
        try await bench.record(source) { try await bench.wait { $0.contains { $0.text.contains("READY") } } }
        await server.stop()
        #expect(try bench.events().contains { $0.text.contains("token=[redacted]&v=10") })
        try expectNone(of: ["res-5ecret", "sess-5ecret", "tok-5ecret"], in: bench.log)
    }

    @Test(arguments: [
        "id: https://example.org/?token=ev-5ecret\ndata: x\n\n", "id: {\"access_token\":\"ev-5ecret\"}\ndata: x\n\n",
        "id: 7\ndata: {\"access_token\":\ndata: \"ev-5ecret\"}\n\n",
    ])
    func aTokenInAnEventOrItsIDIsKeptNowhere(_ event: String) async throws {
        let bench = try LiveBench()
        let type = ["Content-Type": "text/event-stream"]
        let server = try await ScriptedServer.start { _ in .pieces(200, type, [Array(event.utf8)]) }
        let source = try EventStreamSource(url: server.url, name: SourceName("list"), follows: false)
        for _ in 1...2 { try await bench.record(source) }
        await server.stop()
        await bench.stop()
        #expect(try bench.texts("sse.event/1").allSatisfy { $0.contains("[redacted]") })
        try expectNone(of: ["ev-5ecret"], in: bench.log)
    }

    @Test func theSearchFindsWhatIsThere() throws {
        for form in Self.forms(of: "s3cret-0123") { #expect(form.count >= 8) }
        for lead in ["", "a", "ab"] {
            let coded = Data((lead + "s3cret-0123" + "xyz").utf8).base64EncodedData()
            #expect(Self.forms(of: "s3cret-0123").contains { coded.range(of: $0) != nil })
        }
    }
}

extension SecretsInFolderTests {
    private func expectNone(of secrets: [String], in log: TemporaryLog) throws {
        let folder = log.directory.url
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        for case let file as URL in files {
            guard let data = try? Data(contentsOf: file) else { continue }
            for secret in secrets {
                let isThere = Self.forms(of: secret).contains { data.range(of: $0) != nil }
                #expect(!isThere, "\(secret) in \(file.lastPathComponent)")
            }
        }
        #expect(files.count > 2)
    }

    /// A text as it is, as hex digits, and as base64 at each of the three places in a group.
    private static func forms(of secret: String) -> [Data] {
        let bytes = Array(secret.utf8)
        let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let base64 = (0..<3).map { lead -> String in
            let coded = Data([UInt8](repeating: 0, count: lead) + bytes).base64EncodedString()
            // The digits at both ends also depend on what stands beside the text.
            let whole = coded.prefix { $0 != "=" }.dropFirst(lead == 0 ? 0 : lead + 1)
            return String((lead + bytes.count) % 3 == 0 ? whole : whole.dropLast())
        }
        let urlSafe = base64.map { String($0.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) }
        return ([secret, hex, hex.uppercased()] + base64 + urlSafe).map { Data($0.utf8) }
    }
}
#endif
