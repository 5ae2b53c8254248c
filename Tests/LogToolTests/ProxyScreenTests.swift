#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// A page with a bug in a browser, in front of it a proxy that cuts its connection once: what the page showed names the frame.
@Suite(.hangGuard) struct ProxyScreenTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(
        .enabled(if: ReportCommandTests.chromium != nil, "EVENTLOG_CHROMIUM names the program"),
        .enabled(if: PythonPeer.isInstalled("websockets.legacy"), "it needs python3-websockets")
    )
    func whatAPageShowedNamesTheFrame() async throws {
        let peer = try PythonPeer("screen_peer.py", [])
        defer { peer.stop() }
        let decoder = PackageRoot.url.appending(path: "Fixtures/peers/screen.decoder.yaml").path
        let proxy = try ToolProcess(
            [
                "proxy", "L", "--to", "http://127.0.0.1:\(peer.port)", "--listen", "127.0.0.1:0", "--as", "chat",
                "--decoder", decoder,
                "--faults", "reconnect",
            ],
            in: folder
        )
        let address = try await address(of: proxy)
        let browser = try browse(address)
        defer { browser.terminate() }
        // The last of the six messages after the reconnect, shown.
        try await waitForEvents { $0.contains { $0.contains(#""received":6"#) } }
        let run = proxy.end(SIGINT)
        #expect(run.exitCode == 130, "\(run.errors)")
        let found = try ToolRun.run(["bisect", "L", "--observed", "--json"], in: folder)
        #expect(found.exitCode == 0, "\(found.output) \(found.errors)")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
        let difference = try #require((document["differences"] as? [[String: Any]])?.first)
        #expect(difference["difference"] as? String == "repeated")
        #expect(difference["entity"] as? String == "message:chat/r1/p1")
        // The frame is the repeat on the second connection, which the page took for a new post.
        let event = try #require(document["event"] as? [String: Any])
        #expect((event["payload"] as? String)?.contains(#""id": "p1""#) == true)
        #expect(try ToolRun.run(["gaps", "L"], in: folder).output.contains("disconnected"))
        let shrunk = try ToolRun.run(["shrink", "L", "--observed", "-o", "S"], in: folder)
        #expect(shrunk.exitCode == 0, "\(shrunk.errors)")
        let stats = try ToolRun.run(["events", "S", "--jsonl"], in: folder).output
        #expect(stats.split(separator: "\n").count <= 5, "\(stats)")
        #expect(try ToolRun.run(["bisect", "S", "--observed"], in: folder).exitCode == 0)
        let frozen = try ToolRun.run(["freeze", "S", "-o", "fixture"], in: folder)
        #expect(frozen.exitCode == 0, "\(frozen.errors)")
        #expect(try ToolRun.run(["check", "fixture"], in: folder).exitCode == 0)
    }

    private func address(of proxy: ToolProcess) async throws -> String {
        while proxy.isRunning {
            if let match = proxy.errors.firstMatch(of: /proxy at (http:\/\/[0-9.:]+)/) { return String(match.1) }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CocoaError(.fileReadUnknown, userInfo: ["stderr": proxy.errors])
    }

    private func browse(_ address: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: try #require(ReportCommandTests.chromium))
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(folder.path("profile"))", "--remote-debugging-port=0", "\(address)/",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        return process
    }

    private func waitForEvents(_ condition: ([String]) -> Bool) async throws {
        while true {
            let run = try ToolRun.run(["events", "L", "--jsonl", "--payload", "--kind", "client.observed"], in: folder)
            if condition(run.output.split(separator: "\n").map { String($0.replacing("\\\"", with: "\"")) }) { return }
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
#endif
