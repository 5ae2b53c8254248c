#if Recorders
import EventLog
import NIOCore
import TestSupport
import Testing

@testable import Ingest

/// The proxy between raw bytes of both sides.
@Suite(.hangGuard) struct ProxyTests {
    private static let request = "GET /a?b=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nx-Odd: 1\r\nX-oDD: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\nETag: \"x\"\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\ndelimited by the end",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nab",
    ])
    func answersPassUnchanged(_ answer: String) async throws {
        let server = try await RawServer.start({ _ in ByteBuffer(string: answer) }, after: { $0.close(promise: nil) })
        let bench = try LiveBench()
        let proxy = try await ProxyBench(bench, to: server.port)
        let passed = try await proxy.ask(Self.request)
        #expect(String(decoding: passed, as: UTF8.self) == answer)
        try await proxy.stop()
        #expect(try bench.events().filter { $0.kind != "recorder.gap/1" }.isEmpty)
        await server.stop()
        await bench.stop()
    }

    @Test(arguments: [
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
        ("GET http://other/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("CONNECT other:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        ("GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\(String(repeating: "X: 1\r\n", count: 5_000))\r\n", 400),
        ("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET /_eventlog/observed HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        ("GET /_eventlog/other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    ])
    func ambiguousRequestsAreRefused(_ request: String, _ status: Int) async throws {
        let bench = try LiveBench()
        // Nobody listens there: a forwarded request would be answered with 502.
        let proxy = try await ProxyBench(bench, to: 9)
        let passed = String(decoding: try await proxy.ask(request), as: UTF8.self)
        #expect(passed.hasPrefix("HTTP/1.1 \(status) "))
        try await proxy.stop()
        await bench.stop()
    }

    @Test(arguments: [
        (ProxyFaults(), "abcd", ["a", "b", "c", "d"]),
        (ProxyFaults(drops: [2]), "acd", ["a", "c", "d"]),
        (ProxyFaults(swaps: [2]), "acbd", ["a", "c", "b", "d"]),
        (ProxyFaults(duplicates: [3]), "abccd", ["a", "b", "c", "c", "d"]),
        (ProxyFaults(cutsAfter: [2]), "ab", ["a", "b"]),
    ])
    func theLogHasWhatReachedTheClient(_ faults: ProxyFaults, _ passed: String, _ logged: [String]) async throws {
        let server = try await RawServer.start { accept in
            var buffer = ByteBuffer(
                string: """
                    HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Accept: \(accept)\r\n\r\n
                    """
            )
            for letter in "abcd".utf8 { buffer.writeBytes([0x81, 1, letter]) }
            return buffer
        }
        let bench = try LiveBench()
        let proxy = try await ProxyBench(bench, to: server.port, faults: faults)
        let expected: [UInt8] = passed.utf8.flatMap { letter -> [UInt8] in [0x81, 1, letter] }
        let request = """
            GET /live?token=verysecret9 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
            """
        let bytes = try await proxy.ask(request) {
            $0.count >= expected.count && $0.suffix(expected.count) == expected[...]
        }
        #expect(bytes.suffix(expected.count) == expected[...])
        try await proxy.stop()
        #expect(try bench.texts("ws.frame/1") == logged)
        #expect(try !bench.everything().contains("verysecret9"))
        let closes = try bench.events().filter { $0.kind == "recorder.link/1" && $0.attribute("link") == "close" }
        #expect(closes.count == 1)
        #expect(closes.first?.attribute("reason") == "cut by the proxy" || faults.cutsAfter.isEmpty)
        #expect(try bench.texts("recorder.gap/1").contains { $0.contains("dropped") } == !faults.drops.isEmpty)
        await server.stop()
        await bench.stop()
    }

    @Test func jsonIsRecordedWithoutCredentials() async throws {
        let server = try await ScriptedServer.start { request in
            .text(200, "{\"you\":\"\(request.headers["authorization"] ?? "")\"}", ["Content-Type": "application/json"])
        }
        let bench = try LiveBench()
        let proxy = try await ProxyBench(bench, to: server.port)
        _ = try await proxy.ask(
            """
            POST /a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer abcdefgh12345\r\nConnection: close\r\n\
            Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"q":1}
            """
        )
        _ = try await proxy.ask(
            """
            POST /_eventlog/observed HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\
            Content-Length: 8\r\n\r\n{"on":1}
            """
        )
        try await proxy.stop()
        #expect(try bench.texts("http.answer/1") == [#"{"q":1}"#, #"{"you":"Bearer [redacted]"}"#])
        #expect(try bench.texts("client.observed/1") == [#"{"on":1}"#])
        let again = try await ProxyBench(bench, to: server.port)
        try await again.stop()
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" && $0.text.contains("stopped") }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open"])
        await server.stop()
        await bench.stop()
    }
}

extension ProxyFaults {
    fileprivate init(
        cutsAfter: Set<Int> = [],
        drops: Set<Int> = [],
        swaps: Set<Int> = [],
        duplicates: Set<Int> = []
    ) {
        self.init()
        (self.cutsAfter, self.drops, self.swaps, self.duplicates) = (cutsAfter, drops, swaps, duplicates)
    }
}
#endif
