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

    /// Three connections of a client with two tables.
    private func traffic(topics: [String] = ["realtime:public:notes", "realtime:public:files"]) throws -> RecordedTraffic {
        var traffic = RecordedTraffic(kind: "realtime.frame/1")
        var number = 0
        for connection in 0..<3 {
            try traffic.open()
            for (place, topic) in topics.enumerated() {
                let reference = place + 1
                let table = place == 0 ? "notes" : "files"
                let binding = #"{"event":"*","schema":"public","table":"\#(table)"}"#
                let config = #"{"config":{"postgres_changes":[\#(binding)]}}"#
                try traffic.frame(
                    #"{"join_ref":"\#(reference)","ref":"\#(reference)","topic":"\#(topic)","event":"phx_join","payload":\#(config)}"#,
                    "out"
                )
            }
            for (place, topic) in topics.enumerated() {
                let table = place == 0 ? "notes" : "files"
                let bound = #"[{"id":\#(7 + place),"event":"*","schema":"public","table":"\#(table)"}]"#
                try traffic.frame(
                    #"{"ref":"\#(place + 1)","event":"phx_reply","payload":{"status":"ok","response":{"postgres_changes":\#(bound)}},"topic":"\#(topic)"}"#
                )
                try traffic.frame(
                    #"{"ref":null,"event":"system","payload":{"channel":"x","extension":"postgres_changes","message":"Subscribed to PostgreSQL","status":"ok"},"topic":"\#(topic)"}"#
                )
            }
            traffic.pass(milliseconds: 3_000)
            for _ in 0..<5 {
                number += 1
                let table = number % 2 == 0 ? "notes" : "files"
                let data = #"{"schema":"public","table":"\#(table)","type":"INSERT","commit_timestamp":"2026-02-01T10:00:00Z","record":{"id":"n-\#(number)","title":"grün"},"columns":[{"name":"id","type":"uuid"}],"errors":null}"#
                try traffic.frame(
                    #"{"ref":null,"event":"postgres_changes","payload":{"data":\#(data),"ids":[\#(number % 2 == 0 ? 7 : 8)]},"topic":"\#(topics[number % 2 == 0 ? 0 : 1])"}"#
                )
            }
            traffic.pass(milliseconds: 3_000)
            if connection < 2 { try traffic.close(connection == 0 ? 1006 : 1012, connection == 0 ? "connection lost" : "closed by the peer") }
        }
        return traffic
    }

    @Test(arguments: [["--speed", "max"], ["--speed", "20"]])
    func rowsAreTheSameWhenTheyAreRecordedAgain(pace: [String]) async throws {
        try bench.makeLog("A", try traffic().drafts)
        let expected = try bench.events("A").framesIn
        let events = try await record(pace, count: expected.count)
        #expect(Array(events.framesIn.prefix(expected.count)) == expected)
        #expect(events.closeCodes.prefix(2) == ["1006", "1012"])
        #expect(events.answers.contains { $0.contains("/rest/v1/notes") && $0.contains("n-") })
    }

    @Test func aClientWithOtherTopicsGetsThemUnderItsOwn() async throws {
        try bench.makeLog("A", try traffic(topics: ["realtime:notes:u-1", "realtime:files:u-1"]).drafts)
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
            "kind: realtime, address: \"ws://\(address)\", tables: [notes, files], as: chat, token-env: TOKEN"
        )
        let events = try await bench.wait("B") { events in
            events.framesIn.count >= count && events.answers.contains { $0.contains("n-15") }
        }
        _ = recorder.end(SIGTERM)
        let run = player.end(SIGTERM)
        #expect(run.output.contains(#""divergences":[]"#), "\(run.output)")
        return events
    }
}
#endif
