#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// Clients that other people wrote walk through what is played.
@Suite(.hangGuard) struct PlayPeersTests {
    let bench: PlayBench

    init() throws {
        bench = try PlayBench()
    }

    @Test func aGatewayServesClientsOfAnotherLibrary() async throws {
        let traffic = try RecordedTraffic.gateway()
        try bench.makeLog("A", traffic.drafts)
        try await walk("gateway", through: bench.events("A").framesIn)
    }

    @Test func anEventStreamServesClientsOfAnotherLibrary() async throws {
        var traffic = RecordedTraffic(kind: "sse.event/1")
        for connection in 0..<4 {
            try traffic.open()
            for number in 0..<3 { try traffic.frame("id: \(number)\ndata: {\"grün\":\(connection)}\n\n") }
            let isOrderly = connection % 2 == 0
            if connection < 3 { try traffic.close(0, isOrderly ? "the server ended the stream" : "connection lost") }
        }
        try bench.makeLog("A", traffic.drafts)
        try await walk("sse", through: bench.events("A").payloads(of: "sse.event/1"))
    }

    @Test func aRealtimeSocketServesClientsOfAnotherLibrary() async throws {
        try bench.makeLog("A", try RecordedTraffic.realtime().drafts)
        try await walk("realtime", through: bench.events("A").framesIn)
    }

    private func walk(_ form: String, through expected: [String]) async throws {
        let python = ProcessInfo.processInfo.environment["EVENTLOG_PYTHON"] ?? "/usr/bin/python3"
        let program = URL(filePath: python)
        guard FileManager.default.isExecutableFile(atPath: python),
            try ToolRun.run(["-c", "import aiohttp, websockets"], in: bench.folder, program: program).exitCode == 0
        else {
            print("note: python3 with aiohttp and websockets is not installed; play is not tested with them")
            return
        }
        let (player, address) = try await bench.play("A", ["--as", form, "--speed", "max", "--json"])
        let script = PackageRoot.url.appending(path: "Fixtures/peers/play_clients.py").path
        let words = [script, form, "http://\(address)", "\(expected.count)"]
        let run = try ToolRun.run(words, in: bench.folder, program: program)
        #expect(run.exitCode == 0, "\(run.errors)")
        let got = try run.output.split(separator: "\n").map {
            try JSONDecoder().decode(String.self, from: Data($0.utf8))
        }
        #expect(got == expected)
        #expect(player.end(SIGTERM).output.contains(#""divergences":[]"#))
    }
}
#endif
