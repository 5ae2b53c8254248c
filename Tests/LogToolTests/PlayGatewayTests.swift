#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// A recorder pointed at a playback records what the log holds.
@Suite(.hangGuard) struct PlayGatewayTests {
    let bench: PlayBench

    init() throws {
        bench = try PlayBench()
    }

    @Test func aRecorderRecordsWhatThePlayedLogHolds() async throws {
        // A recorder waits longer after each connection that ends soon.
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        let traffic = try RecordedTraffic.gateway(connections: isLong ? 10 : 5)
        try bench.makeLog("A", traffic.drafts)
        let first = try await record("A", into: "B", ["--speed", "20"])
        let original = try bench.events("A")
        #expect(first.framesIn == original.framesIn)
        #expect(Array(first.closeCodes.dropLast()) == original.closeCodes)
        #expect(!first.answers.isEmpty)
        let second = try await record("B", into: "C", ["--speed", "max"])
        #expect(second.framesIn == first.framesIn)
        #expect(Array(second.answers.prefix(first.answers.count)) == first.answers)
        #expect(second.closeCodes.dropLast() == first.closeCodes.dropLast())
    }

    /// Plays one log and records it into another, until all frames are there.
    private func record(_ log: String, into other: String, _ arguments: [String]) async throws -> [RecordedEvent] {
        let frames = try bench.events(log).framesIn.count
        let answers = try bench.events(log).answers.count
        let (player, address) = try await bench.play(log, ["--as", "gateway", "--json"] + arguments)
        let source = "kind: gateway, address: \"ws://\(address)/gateway\", as: chat, token-env: TOKEN"
        // The third connection misses a number. Within 2 s it must end by itself, or the recorder rightly leaves it.
        let recorder = try bench.record(other, source, speed: 1)
        try await bench.wait(other) { $0.framesIn.count >= frames && $0.answers.count >= answers }
        let position = try bench.get(address, "/_play/position")
        #expect(position.contains(#""done":true"#), "\(position)")
        #expect(recorder.end(SIGTERM).exitCode == 143)
        let run = player.end(SIGINT)
        #expect(run.exitCode == 130)
        #expect(run.output.contains(#""divergences":[]"#), "\(run.output)")
        return try bench.events(other)
    }

    @Test func stepsAndPositionsAndStates() async throws {
        try bench.makeLog("A", try RecordedTraffic.gateway().drafts)
        let (player, address) = try await bench.play("A", ["--as", "gateway", "--step", "--from", "9"])
        #expect(try bench.get(address, "/_play/state").contains(#""sequence":"9""#))
        let recorder = try bench.record(
            "B",
            "kind: gateway, address: \"ws://\(address)/gateway\", as: chat, token-env: TOKEN, rest: \"\""
        )
        // The client begins within the connection: it gets HELLO and READY of it, and nothing else before a release.
        let start = try await bench.wait("B") { $0.framesIn.count >= 2 }
        #expect(try start.framesIn.at(1).contains(#""t":"READY""#))
        #expect(try bench.get(address, "/_play/position").contains(#""given":0"#))
        _ = try bench.get(address, "/_play/step?n=2", method: "POST")
        let events = try await bench.wait("B") { $0.framesIn.count >= 4 }
        #expect(
            Array(events.framesIn.dropFirst(2))
                == Array(
                    try bench.events("A").filter {
                        $0.envelope.sequence.rawValue > 9
                    }.framesIn.prefix(2)
                )
        )
        let state = try bench.get(address, "/_play/state")
        #expect(state.contains(#""sequence":"11""#), "\(state.prefix(200))")
        let digest = try ToolRun.run(["replay", "A", "--at", "11", "--digest"], in: bench.folder).output.prefix(64)
        #expect(state.contains(#""digest":"\#(digest)""#))
        _ = recorder.end(SIGTERM)
        _ = player.end(SIGTERM)
    }

    @Test func whatTheClientDoesOtherwiseIsListed() async throws {
        try bench.makeLog("A", try RecordedTraffic.gateway(messages: 1).drafts)
        let (player, address) = try await bench.play("A", ["--as", "gateway", "--speed", "max", "--json"])
        #expect(try bench.get(address, "/api/v1/users/@me/guilds") == #"{"data":[]}"#)
        #expect(try bench.get(address, "/api/v1/nowhere").contains("NOT_FOUND"))
        let login = try bench.get(address, "/api/v1/auth/login", method: "POST")
        #expect(login.contains(#""access_token":"play""#) && login.contains(#""data":{"#))
        let run = player.end(SIGTERM)
        #expect(run.exitCode == 143)
        #expect(run.output.contains(#""client":"GET /api/v1/nowhere""#), "\(run.output)")
    }

    @Test(arguments: [
        "2 --as gateway --listen 0.0.0.0:4000", "2 --as gateway --to x", "2 --as git", "2 --as gateway --speed fast",
        "1 --as sse", "1 --as gateway --source other", "2 --as gateway --from 9 --until 3",
    ])
    func whatCannotBePlayedIsSaid(words: String) throws {
        try bench.makeLog("A", try RecordedTraffic.gateway(messages: 1).drafts)
        let arguments = words.split(separator: " ").map(String.init)
        let run = try ToolRun.run(["play", "A"] + arguments.dropFirst(), in: bench.folder)
        #expect("\(run.exitCode)" == arguments[0], "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }

    /// The remote never sent what an altered event holds, and the client is not told that it sent nothing (404) either. A
    /// playback that comes to the event ends, so the client asks long before.
    @Test func aRecordedAnswerThatWasAlteredIsNotGiven() async throws {
        var drafts = try RecordedTraffic.gateway(messages: 1_100, connections: 1).drafts
        for path in ["/api/v1/sound", "/api/v1/altered"] {
            drafts.append(
                DraftEvent(
                    recordedAt: try #require(drafts.last).recordedAt,
                    source: try SourceName("chat"),
                    kind: try EventKind("gateway.rest/1"),
                    attributes: try Attributes([
                        .init(name: "connection", value: "c1"), .init(name: "path", value: path),
                        .init(name: "status", value: "201"),
                    ]),
                    payload: Array(#"["the answer of \#(path)"]"#.utf8)
                )
            )
        }
        try bench.makeLog("A", drafts)
        try bench.folder.alter("the answer of /api/v1/altered", in: "A")
        let (player, address) = try await bench.play("A", ["--as", "gateway", "--from", "9"])
        var sound = ""
        // Answers are given once the beginning is passed.
        while !sound.hasSuffix("201") {
            try Task.checkCancellation()
            sound = try bench.get(address, "/api/v1/sound", showsStatus: true)
        }
        #expect(sound == #"["the answer of /api/v1/sound"]201"#)
        let altered = try bench.get(address, "/api/v1/altered", showsStatus: true)
        #expect(altered.hasSuffix("500") && altered.contains("sequence \(drafts.count) "), "\(altered)")
        #expect(!altered.contains("the answer of"))
        _ = player.end(SIGTERM)
    }

    @Test func pagesOfOtherOriginsAreRefused() async throws {
        try bench.makeLog("A", try RecordedTraffic.gateway(messages: 1).drafts)
        let (player, address) = try await bench.play("A", ["--as", "gateway"])
        for (header, isAdmitted) in [
            ("Origin: https://evil.example", false), ("Origin: http://localhost:5173", true),
            ("Host: evil.example", false), ("X-Nothing: 1", true),
        ] {
            let answer = try bench.get(address, "/_play/position", header: header)
            #expect(answer.contains("sequence") == isAdmitted, "\(header): \(answer)")
        }
        _ = player.end(SIGTERM)
    }
}
#endif
