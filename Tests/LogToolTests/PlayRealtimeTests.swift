#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// Realtime sockets, played and recorded again.
@Suite(.hangGuard) struct PlayRealtimeTests {
    let bench: PlayBench

    init() throws {
        bench = try PlayBench()
    }

    @Test(arguments: [["--speed", "max"], ["--speed", "20"]])
    func rowsAreTheSameWhenTheyAreRecordedAgain(pace: [String]) async throws {
        try bench.makeLog("A", try RecordedTraffic.realtime().drafts)
        let expected = try bench.events("A").framesIn
        let events = try await record(pace, count: expected.count)
        #expect(Array(events.framesIn.prefix(expected.count)) == expected)
        #expect(events.closeCodes.prefix(2) == ["1006", "1012"])
        #expect(events.answers.contains { $0.contains("/rest/v1/notes") })
    }

    @Test func aClientWithOtherTopicsGetsThemUnderItsOwn() async throws {
        try bench.makeLog(
            "A",
            try RecordedTraffic.realtime(topics: ["realtime:notes:u-1", "realtime:files:u-1"]).drafts
        )
        let expected = try bench.events("A").framesIn
        let events = try await record(["--speed", "max"], count: expected.count)
        let own = expected.map {
            $0.replacingOccurrences(of: "realtime:notes:u-1", with: "realtime:public:notes")
                .replacingOccurrences(of: "realtime:files:u-1", with: "realtime:public:files")
        }
        #expect(try events.framesIn.prefix(own.count).map(Self.members) == own.map(Self.members))
    }

    private static func members(_ frame: String) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(frame.utf8)) as? NSDictionary)
    }

    private func record(_ pace: [String], count: Int) async throws -> [RecordedEvent] {
        let (player, address) = try await bench.play("A", ["--as", "realtime", "--json"] + pace)
        let recorder = try bench.record(
            "B",
            "kind: realtime, address: \"ws://\(address)\", tables: [notes, files], as: chat, token-env: TOKEN",
            // A join without an answer for 10 s is given up, and its topic joined again.
            speed: 1
        )
        let events = try await bench.wait("B") { events in
            events.framesIn.count >= count && !events.answers.isEmpty
        }
        _ = recorder.end(SIGTERM)
        let run = player.end(SIGTERM)
        #expect(run.output.contains(#""divergences":[]"#), "\(run.output)")
        return events
    }
}
#endif
