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
        let events = try await record(pace)
        let (found, expected) = compared(events, try bench.events("A"))
        #expect(found == expected)
        #expect(events.closeCodes.prefix(2) == ["1006", "1012"])
        #expect(events.answers.contains { $0.contains("/rest/v1/notes") })
    }

    @Test func aClientWithOtherTopicsGetsThemUnderItsOwn() async throws {
        try bench.makeLog(
            "A",
            try RecordedTraffic.realtime(topics: ["realtime:notes:u-1", "realtime:files:u-1"]).drafts
        )
        let events = try await record(["--speed", "max"])
        let (found, expected) = compared(events, try bench.events("A"))
        let own = expected.map {
            $0.replacingOccurrences(of: "realtime:notes:u-1", with: "realtime:public:notes")
                .replacingOccurrences(of: "realtime:files:u-1", with: "realtime:public:files")
        }
        #expect(try found.map(Self.members) == own.map(Self.members))
    }

    /// The frames that came in, and those that were recorded. A recorder that got no answer to a join for 10 s, because the
    /// machine was busy, has joined once more: then there are more replies, and only the rows are compared.
    private func compared(
        _ events: [RecordedEvent],
        _ recorded: [RecordedEvent]
    ) -> (found: [String], expected: [String]) {
        let isPunctual = events.joinCount <= recorded.joinCount
        let expected = isPunctual ? recorded.framesIn : recorded.rowFrames
        return (Array((isPunctual ? events.framesIn : events.rowFrames).prefix(expected.count)), expected)
    }

    private static func members(_ frame: String) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(frame.utf8)) as? NSDictionary)
    }

    private func record(_ pace: [String]) async throws -> [RecordedEvent] {
        let recorded = try bench.events("A")
        let (player, address) = try await bench.play("A", ["--as", "realtime", "--json"] + pace)
        let recorder = try bench.record(
            "B",
            "kind: realtime, address: \"ws://\(address)\", tables: [notes, files], as: chat, token-env: TOKEN",
            speed: 1
        )
        // The recording ends with a row.
        let events = try await bench.wait("B") { events in
            events.rowFrames.count >= recorded.rowFrames.count && !events.answers.isEmpty
        }
        _ = recorder.end(SIGTERM)
        let run = player.end(SIGTERM)
        if events.joinCount <= recorded.joinCount {
            #expect(run.output.contains(#""divergences":[]"#), "\(run.output)")
        }
        return events
    }
}

extension [RecordedEvent] {
    /// The frames with changes of rows.
    fileprivate var rowFrames: [String] { framesIn.filter { $0.contains(#""event":"postgres_changes","payload""#) } }

    /// How many joins went out.
    fileprivate var joinCount: Int {
        count { $0.envelope.attributes["dir"] == "out" && $0.text.contains(#""event":"phx_join""#) }
    }
}
#endif
