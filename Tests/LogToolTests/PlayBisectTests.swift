#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// `bisect --play`: where a client, not the log, goes wrong.
@Suite(.hangGuard) struct PlayBisectTests {
    @Test func theEventAfterWhichAClientShowsAMessageTwiceIsNamed() throws {
        let python = "/usr/bin/python3"
        guard FileManager.default.isExecutableFile(atPath: python) else {
            print("note: python3 is not installed; bisect --play is not tested with a client")
            return
        }
        let bench = try PlayBench()
        try bench.makeLog("A", try RecordedTraffic.gateway(messages: 2).drafts)
        let client = PackageRoot.url.appending(path: "Fixtures/peers/headless_client.py").path
        let run = try ToolRun.run(["bisect", "A", "--play", "exec \(python) '\(client)'", "--json"], in: bench.folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        // The first message that the second connection replays.
        let events = try bench.events("A")
        let first = try #require(
            events.first { event in
                event.envelope.key?.rawValue.hasPrefix("c2/") == true && event.text.contains("MESSAGE_CREATE")
            }
        )
        #expect(run.output.contains(#""first":"\#(first.envelope.sequence)""#), "\(run.output)")
    }

    /// What a client makes of a part of a damaged log is no answer.
    @Test func anAlteredEventEndsTheSearch() throws {
        let bench = try PlayBench()
        try bench.makeLog("A", try RecordedTraffic.gateway(messages: 2).drafts)
        try bench.folder.alter("MESSAGE_CREATE", in: "A")
        let run = try ToolRun.run(["bisect", "A", "--play", "sleep 2"], in: bench.folder)
        #expect(run.exitCode == 3, "\(run.output)\(run.errors)")
    }

    @Test(arguments: [
        ["--play", "true"], ["--play", "true", "--when", "exists(issues)"],
        ["--play-as", "gateway", "--play", "x", "--play-as", "git"],
    ])
    func whatCannotBeServedIsSaid(arguments: [String]) throws {
        let bench = try PlayBench()
        try bench.makeLog("A", [try .sample(1, kind: "status.file/1"), try .sample(2, kind: "status.file/1")])
        let run = try ToolRun.run(["bisect", "A"] + arguments, in: bench.folder)
        #expect(run.exitCode == 2, "\(run.errors)")
    }
}
#endif
