#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// Recorders against HTTP servers that other people wrote, over TLS with a certificate of one's own.
@Suite(
    .hangGuard,
    .enabled(if: PythonPeer.isInstalled("aiohttp"), "they need python3-aiohttp"),
    .enabled(if: LoopbackCertificate.isAvailable, "they need the program openssl")
)
struct PythonHTTPPeerTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// The server, and the file that its certificate is checked against.
    private func peer(events: Int = 100) throws -> (peer: PythonPeer, trustFile: String) {
        let certificate = try LoopbackCertificate(in: folder.url.path)
        let arguments = [String(events), certificate.certificatePath, certificate.keyPath]
        return (try PythonPeer("http_peer.py", arguments), certificate.certificatePath)
    }

    @Test func anEventStreamOfAnotherProgramIsRecordedWholeOverTLS() async throws {
        let (peer, trustFile) = try peer()
        let bench = try LiveBench(trustFile: trustFile)
        let source = try EventStreamSource(
            url: "https://localhost:\(peer.port)/subscribe",
            name: SourceName("list"),
            token: TokenSource { "tok-1" },
            follows: true
        )
        try await bench.record(source)
        await bench.stop()
        peer.stop()
        let expected = (1...100).map { number in
            let end = ["\n", "\r\n", "\r"][number % 3]
            return "id: \(number)\(end)data: {\"title\": \"grün \(number)\"}\(end)\(end)"
        }
        #expect(try bench.texts("sse.event/1") == expected)
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" && $0.attribute("gap") == "close" }
        #expect(gaps.count >= 2 && gaps.allSatisfy { $0.text.contains("replay") })
        #expect(try !bench.everything().contains("tok-1"))
    }

    @Test func recordsOfAnotherProgramAreReadPageByPageOverTLS() async throws {
        let (peer, trustFile) = try peer()
        let bench = try LiveBench(trustFile: trustFile)
        let file = folder.path("token")
        try Data("w+1/=\n".utf8).write(to: URL(fileURLWithPath: file))
        let source = CloudKitSource(
            try .init("iCloud.com.example.app", api: "https://127.0.0.1:\(peer.port)"),
            name: try SourceName("cloud"),
            apiToken: TokenSource { "k3y" },
            webToken: .file(file),
            webTokenFile: file,
            follows: false
        )
        for _ in 1...2 { try await bench.record(source) }
        await bench.stop()
        peer.stop()
        let pages = try bench.events().filter { $0.kind == "cloudkit.records/1" && $0.attribute("type") == "Session" }
        #expect(pages.map { $0.attribute("page") } == ["1", "2", "3"])
        #expect(pages.allSatisfy { $0.text.contains("\n      \"created\": \"ü\"") })
        let statuses = try bench.events().filter { $0.kind == "recorder.http/1" }.map { $0.attribute("status") }
        #expect(statuses == ["503"])
        #expect(try !bench.everything().contains("w+") && !bench.everything().contains("k3y"))
    }

    @Test func aCertificateOfNobodysIsNotTrusted() async throws {
        let (peer, _) = try peer()
        let bench = try LiveBench()
        let source = try EventStreamSource(
            url: "https://localhost:\(peer.port)/subscribe",
            name: SourceName("list"),
            token: TokenSource { "tok-1" },
            follows: false
        )
        let error = await #expect(throws: IngestError.self) { try await bench.record(source) }
        #expect(error?.description.contains("TLS failed: is the certificate trusted (--ca-file)?") == true)
        await bench.stop()
        peer.stop()
        #expect(try bench.texts("sse.event/1").isEmpty)
    }
}
#endif
