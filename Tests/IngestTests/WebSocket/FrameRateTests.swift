#if Recorders
import EventLog
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Ingest

/// How fast frames are recorded durably, beside reading and discarding them from the same server. The longer form, for
/// figures: `EVENTLOG_LONG_TESTS=1 swift test -c release --filter FrameRateTests`.
@Suite(.hangGuard, .serialized) struct FrameRateTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] == "1"
    private static let count = isLong ? 300_000 : 5_000

    @Test func gatewayFrames() async throws {
        let prologue = [
            #"{"op":10,"d":{"heartbeat_interval":3600000}}"#,
            #"{"op":0,"d":{"session_id":"S","user_id":"7","guilds":[],"read_states":null},"s":1,"t":"READY"}"#,
        ]
        let frames = (0..<Self.count).map { number in
            #"{"op":0,"d":{"id":"\#(153_833_649_995_911_168 + number)","channel_id":"135653857706512384","#
                + #""author_id":"135283920076935168","content":"\#(String(repeating: "tea at 4 ", count: 15))","#
                + #""created_at":"2026-03-01T12:00:00.25Z","author_username":"nell","author_display_name":"Nell","#
                + #""attachments":null},"s":\#(number + 2),"t":"MESSAGE_CREATE"}"#
        }
        try await measure("gateway", prologue + frames) { port, bench in
            try GatewaySource(
                url: "ws://127.0.0.1:\(port)/",
                restBase: "",
                token: TokenSource { "tok-1" },
                name: bench.source,
                follows: true
            )
        }
    }

    @Test func realtimeFrames() async throws {
        let frames = (0..<Self.count).map { number in
            #"{"topic":"realtime:public:notes","event":"postgres_changes","ref":null,"payload":{"ids":[51220011],"#
                + #""data":{"schema":"public","table":"notes","type":"UPDATE","errors":null,"#
                + #""commit_timestamp":"2026-02-01T10:00:00.131Z","columns":[{"name":"id","type":"uuid"},"#
                + #"{"name":"title","type":"text"}],"record":{"id":"\#(number)","title":"Soup"},"#
                + #""old_record":{"id":"\#(number)"}}}}"#
        }
        try await measure("realtime", frames) { port, bench in
            try RealtimeSource(
                url: "ws://127.0.0.1:\(port)/",
                restBase: "",
                tables: ["notes"],
                token: TokenSource { "tok-1" },
                name: bench.source,
                follows: true
            )
        }
    }
}

extension FrameRateTests {
    private func measure(
        _ name: String,
        _ messages: [String],
        _ source: (Int, RecorderBench) throws -> any LiveSource
    ) async throws {
        let server = try await Self.server(messages)
        var ratios: [Double] = []
        for _ in 0..<(Self.isLong ? 3 : 1) {
            let discarded = try await Self.seconds { try await Self.discard(port: server.port, messages.count) }
            let bench = try RecorderBench(speed: 1)
            let recorded = try await Self.seconds {
                let source = try source(server.port, bench)
                try await bench.record(source) {
                    while try bench.head < messages.count { try await Task.sleep(for: .milliseconds(1)) }
                }
            }
            ratios.append(discarded / recorded)
            let rates = [discarded, recorded].map { Int(Double(messages.count) / $0) }
            print("\(name): \(rates[0]) frames/s discarded, \(rates[1]) recorded durably, ratio \(ratios.last ?? 0)")
            let frames = try bench.events().filter { $0.attribute("dir") == "in" }
            #expect(frames.map(\.text) == messages)
        }
        await server.stop()
    }

    private static func seconds(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// Reads all messages and drops them.
    private static func discard(port: Int, _ count: Int) async throws {
        let connector = WebSocketConnector(
            group: .singletonMultiThreadedEventLoopGroup,
            trust: nil,
            now: { Timestamp(seconds: 1) }
        )
        let inbox = Inbox<WebSocketEvent>(weightMax: WebSocketConnection.waitingBytesMax)
        let endpoint = try WebSocketEndpoint("ws://127.0.0.1:\(port)/", operation: "test")
        let socket = try await connector.open(endpoint) { inbox.push($0, weight: $1) }
        inbox.whenDrained { socket.resume() }
        var read = 0
        while read < count, let events = await inbox.take() {
            read += events.reduce(0) { $0 + $1.messageCount }
        }
        await socket.abort()
        #expect(read == count)
    }

    /// Sends all messages as soon as it is asked, in large pieces.
    private static func server(_ messages: [String]) async throws -> RawServer {
        var frames = ByteBuffer()
        for message in messages {
            let bytes = Array(message.utf8)
            frames.writeInteger(UInt8(0x81))
            if bytes.count < 126 {
                frames.writeInteger(UInt8(bytes.count))
            } else {
                frames.writeInteger(UInt8(126))
                frames.writeInteger(UInt16(bytes.count))
            }
            frames.writeBytes(bytes)
        }
        let all = frames
        return try await RawServer.start { accept in
            var bytes = ByteBuffer(
                string: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
            )
            bytes.writeImmutableBuffer(all)
            return bytes
        }
    }
}

extension RecorderBench {
    /// The number of events in the log.
    var head: Int {
        get throws { try log.store.read { Int($0.head.rawValue) } }
    }
}
#endif
