#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// Live recorders as people run them: a process, a signal, another process.
@Suite(.hangGuard) struct LiveIngestCommandTests {
    private static let token = "tok-0123456789abcdef"
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(.enabled(if: PythonPeer.hasWebSockets, "it needs python3-websockets 14"))
    func aSignalEndsARecorderCleanly() async throws {
        let peer = try PythonPeer("gateway_peer.py", ["20"])
        let tool = try start(peer)
        let seen = try await events { $0.contains { $0.contains("RESUMED") } && $0.contains { $0.contains("grün 19") } }
        #expect(!seen.isEmpty)
        #expect(!tool.commandLine.contains(Self.token))
        let run = tool.end(SIGTERM)
        #expect(run.exitCode == 143)
        #expect(run.output.hasPrefix(#"{"appended":"#))
        #expect(!run.output.contains(Self.token) && !run.errors.contains(Self.token))
        let data = try #require(try folderBytes())
        #expect(data.range(of: Data(Self.token.utf8)) == nil)
        #expect(data.range(of: Data("recorder stopped".utf8)) != nil)
        peer.stop()
    }

    /// The chat of docs/decoders.md, live: a file that was proposed for a HAR reads what a socket and an address give.
    @Test(.enabled(if: PythonPeer.isInstalled("websockets.legacy.server"), "it needs python3-websockets"))
    func theTrafficOfAnyAppIsReadAsItComes() throws {
        let peer = try PythonPeer("har_peer.py", ["serve"])
        defer { peer.stop() }
        let har = PackageRoot.url.appending(path: "Fixtures/har/chat.har").path
        func run(_ arguments: String...) throws -> ToolRun {
            let run = try ToolRun.run(arguments, in: folder, environment: ["CHAT_TOKEN": Self.token])
            #expect(run.exitCode == 0, "\(arguments): \(run.errors)")
            return run
        }
        _ = try run("decoder", "infer", har, "-o", "chat.decoder.yaml", "--quiet")
        let host = "127.0.0.1:\(peer.port)"
        _ = try run(
            "ingest",
            "A",
            "http",
            "http://\(host)/api/rooms/r1/posts?limit=50",
            "--as",
            "chat",
            "--decoder",
            "chat.decoder.yaml"
        )
        for _ in 0..<2 {
            _ = try run(
                "ingest",
                "A",
                "ws",
                "ws://\(host)/live",
                "--send",
                #"{"type":"join","auth":"{token}"}"#,
                "--token-env",
                "CHAT_TOKEN",
                "--as",
                "chat"
            )
        }
        let shown = try run("replay", "A").output
        #expect(shown.contains("└─ ada: Thanks, on my way."))
        #expect(shown.contains("× bo: I do, until noon.  (deleted)"))
        #expect(shown.contains("cy: Lunch at one?"))
        #expect(try run("bisect", "A", "--against", "#appends-repeats").output.contains("first: event"))
        #expect(try !run("export", "A").output.contains(Self.token))
        #expect(try run("decoder", "A").output.contains("chat  chat/1"))
    }

    @Test(.enabled(if: PythonPeer.hasWebSockets, "it needs python3-websockets 14"))
    func aRecorderThatWasKilledGoesOn() async throws {
        let peer = try PythonPeer("gateway_peer.py", ["20"])
        let first = try start(peer)
        _ = try await events { $0.contains { $0.contains("grün 19") } }
        #expect(first.end(SIGKILL).exitCode == SIGKILL)
        let head = try store().read { $0.head.rawValue }
        let second = try start(peer)
        _ = try await events { $0.dropFirst(Int(head)).contains { $0.contains("RESUMED") } }
        #expect(second.end(SIGINT).exitCode == 130)
        let events = try keys()
        #expect(Set(events).count == events.count)
        #expect(!events.contains { $0.contains("~") })
        peer.stop()
    }

    @Test(.enabled(if: PythonPeer.hasWebSockets, "it needs python3-websockets 14"))
    func aSecondRecorderOfASourceIsRefused() async throws {
        let peer = try PythonPeer("gateway_peer.py", ["1"])
        let first = try start(peer)
        _ = try await events { $0.contains { $0.contains("heartbeat_interval") } }
        #expect(try start(peer).wait().exitCode == 11)
        #expect(first.end(SIGTERM).exitCode == 143)
        peer.stop()
    }

    @Test(arguments: [
        ["gateway", "ws://127.0.0.1:1/", "--no-rest"],
        ["realtime", "ws://127.0.0.1:1/", "--table", "notes"],
        ["realtime", "ws://127.0.0.1:1/", "--table", "notes", "--no-rest"],
        ["gateway", "ws://127.0.0.1:1/", "--rest", "none"],
        ["gateway", "ws://127.0.0.1:1/"], ["sse", "http://127.0.0.1:1/"],
    ])
    func aServerThatIsNotThereIsSaidAndShownByStatus(arguments: [String]) async throws {
        let words = ["ingest", "L"] + arguments + ["--as", "chat", "--token-env", "TOKEN", "--follow"]
        let tool = try ToolProcess(words, in: folder, environment: ["TOKEN": Self.token])
        var status = ""
        while !status.contains(#""source":"chat""#), tool.isRunning {
            status = try ToolRun.run(["status", "L", "--jsonl"], in: folder).output
        }
        #expect(status.contains(#""running":true"#) && status.contains(#""connected":false"#), "\(status)")
        let run = tool.end(SIGINT)
        #expect(run.exitCode == 130)
        let said = run.errors.split(separator: "\n").filter { $0.contains("reason=") }
        #expect((1...5).contains(said.count), "\(run.errors)")
    }

    @Test(arguments: [
        ["gateway", "ws://127.0.0.1:1/"],
        ["gateway", "ws://127.0.0.1:1/", "--token-env", "NO_SUCH_VARIABLE", "--follow"],
        ["gateway", "ftp://127.0.0.1/", "--token-env", "TOKEN", "--follow"],
        ["gateway", "ws://127.0.0.1:1/", "--token-env", "TOKEN", "--no-rest"],
        ["realtime", "ws://127.0.0.1:1/", "--follow"],
        ["realtime", "ws://127.0.0.1:1/", "--table", "a", "--rest", "none"],
        ["gateway", "ws://127.0.0.1:1/?compress=zlib-stream", "--token-env", "TOKEN", "--follow"],
        ["gateway", "ws://127.0.0.1:1/", "--token-env", "TOKEN", "--no-rest", "--rest", "none", "--follow"],
        ["sse", "http://127.0.0.1:1/", "--no-rest"],
        ["realtime", "ws://127.0.0.1:1/", "--table", "a b", "--follow"],
        ["git", ".", "--follow"],
    ])
    func whatCannotBeRecordedIsSaidAtOnce(arguments: [String]) throws {
        let run = try ToolRun.run(["ingest", "L"] + arguments, in: folder, environment: ["TOKEN": Self.token])
        #expect(run.exitCode == 2)
        #expect(run.errors.split(separator: "\n").count <= 2, "\(run.errors)")
        #expect(!run.errors.contains(Self.token))
    }
}

extension LiveIngestCommandTests {
    private func start(_ peer: PythonPeer) throws -> ToolProcess {
        let arguments = [
            "ingest", "L", "gateway", "ws://127.0.0.1:\(peer.port)/?v=10", "--as", "chat", "--intents", "513",
            "--token-env", "TOKEN", "--follow", "--json",
        ]
        return try ToolProcess(arguments, in: folder, environment: ["TOKEN": Self.token])
    }

    private func store() throws -> EventStore {
        try EventStore.open(at: folder.path("L"))
    }

    /// The payloads in the log, once they fulfil a condition.
    private func events(until condition: ([String]) -> Bool) async throws -> [String] {
        while true {
            if let store = try? store() {
                let payloads = try all(store) { String(decoding: $0.payload, as: UTF8.self) }
                if condition(payloads) { return payloads }
            }
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func keys() throws -> [String] {
        try all(try store()) { $0.envelope.key?.rawValue ?? "" }
    }

    private func all<Value>(_ store: EventStore, _ value: (RecordedEvent) -> Value) throws -> [Value] {
        try store.read { session in
            var values: [Value] = []
            guard session.head.rawValue > 0 else { return [] }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) {
                values.append(value($0.copied()))
                return true
            }
            return values
        }
    }

    /// Every byte of every file of the log.
    private func folderBytes() throws -> Data? {
        let root = folder.path("L")
        let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        return paths.reduce(into: Data()) { data, path in
            data += FileManager.default.contents(atPath: "\(root)/\(path)") ?? Data()
        }
    }
}
#endif
