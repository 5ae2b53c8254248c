import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Projections
@testable import logtool

/// What is missing is said, and where nothing is known, what that covers.
@Suite struct GapTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// A gap, for comparisons and failures.
    private static func lines(_ state: LogState) -> [String] {
        state.gaps.map { "\($0.source) \($0.gap.topic ?? "-") \($0.gap.from) \($0.gap.to as Any) \($0.gap.reason)" }
    }

    /// Cut anywhere, compacted or kept there, the log goes on to the same gaps; and the gaps there are those of the whole.
    private func expectSameGaps(_ events: [RecordedEvent], _ note: Comment) throws {
        var whole = LogState()
        for event in events { whole.apply(event) }
        let expected = Self.lines(whole)
        var walked = LogState()
        for (index, event) in events.enumerated() {
            walked.apply(event)
            let kept = walked.neededSequences
            var folded = try LogState(facts: walked.facts(keeping: kept))
            for event in events[...index] where kept.contains(event.envelope.sequence.rawValue) { folded.apply(event) }
            folded.sequence = walked.sequence
            var loaded = try SavedState([walked.pieces(whole: true)]).logState()
            #expect(Self.lines(folded) == Self.lines(walked), note)
            #expect(Self.lines(loaded) == Self.lines(walked), note)
            #expect(folded.connected == walked.connected && loaded.connected == walked.connected, note)
            for event in events[(index + 1)...] {
                folded.apply(event)
                loaded.apply(event)
            }
            #expect(Self.lines(folded) == expected, note)
            #expect(Self.lines(loaded) == expected, note)
        }
    }

    @Test(arguments: Scenario.all.filter(\.tellsGaps))
    func gapsAreTheSameAfterACompactionAndFromAKeptState(scenario: Scenario) throws {
        try expectSameGaps(scenario.log(in: folder).allEvents(), "\(scenario)")
    }

    /// Links, handshakes and subscriptions in any order, of connections with and without names.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func gapsOfAnyTrafficAreTheSameAfterACompactionAndFromAKeptState(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let events = try (1...40).map { try Self.randomEvent($0, &random) }
        let store = try EventStore.openOrCreate(at: folder.path("R"))
        _ = try store.append(events)
        try expectSameGaps(store.allEvents(), "seed \(seed)")
    }

    private static func randomEvent(_ number: Int, _ random: inout SeededGenerator) throws -> DraftEvent {
        let app = ["chat", "rows", "list"].randomElement(using: &random) ?? "chat"
        var attributes: [String: String] = [:]
        attributes["connection"] = [nil, "c1", "c2"].randomElement(using: &random) ?? nil
        var (kind, payload) = ("recorder.link/1", "")
        if Int.random(in: 0..<3, using: &random) == 0 {
            attributes["link"] = Bool.random(using: &random) ? "open" : "close"
            attributes["by"] = Int.random(in: 0..<3, using: &random) == 0 ? "har" : nil
        } else {
            let isOut = Int.random(in: 0..<4, using: &random) == 0
            let s = Int.random(in: 1...6, using: &random)
            let frames: [String]
            switch (app, isOut) {
            case ("chat", true):
                frames = [#"{"op":6,"d":{"session_id":"x","seq":\#(s)}}"#, #"{"op":2,"d":{}}"#, #"{"op":1,"d":null}"#]
            case ("chat", false):
                frames = [
                    #"{"op":10,"d":{}}"#, #"{"op":11}"#, #"{"op":9,"d":false}"#,
                    #"{"op":0,"t":"READY","s":\#(s),"d":{"session_id":"x","user_id":"3","guilds":[],"read_states":null}}"#,
                    #"{"op":0,"t":"RESUMED","s":\#(s),"d":{}}"#, #"{"op":0,"t":"TYPING_START","s":\#(s),"d":{}}"#,
                ]
            case ("rows", true):
                frames = [
                    #"{"topic":"t","event":"phx_join","payload":{"config":{"postgres_changes":[{}]}},"ref":"\#(s)"}"#,
                    #"{"topic":"t","event":"phx_leave","payload":{},"ref":"9"}"#,
                ]
            case ("rows", false):
                let system = #""event":"system","payload":{"extension":"postgres_changes","status""#
                frames = [
                    #"{"topic":"t",\#(system):"ok"},"ref":null}"#, #"{"topic":"t",\#(system):"error"},"ref":null}"#,
                    #"{"topic":"t","event":"phx_reply","payload":{"status":"error","response":{}},"ref":"\#(s)"}"#,
                    #"{"topic":"t","event":"phx_error","payload":{},"ref":null}"#,
                    #"{"topic":"phoenix","event":"phx_reply","payload":{"status":"ok","response":{}},"ref":"1"}"#,
                ]
            default: frames = ["data: {\"id\":\"1\",\"title\":\"a\"}\n\n", ": ping\n\n"]
            }
            kind = ["chat": "gateway.frame/1", "rows": "realtime.frame/1"][app] ?? "sse.event/1"
            payload = frames.randomElement(using: &random) ?? ""
            if app != "list" { attributes["dir"] = isOut ? "out" : "in" }
        }
        return DraftEvent(
            recordedAt: Timestamp(seconds: Int64(1_000 + number)),
            source: try SourceName(app),
            kind: try EventKind(kind),
            key: nil,
            attributes: try Attributes(attributes.map { Attributes.Pair(name: $0.key, value: $0.value) }),
            payload: Array(payload.utf8)
        )
    }

    // MARK: - On the command line

    private func ingest(_ scenario: String) throws {
        let capture = PackageRoot.scenarios.appending(path: "\(scenario)/capture.ndjson").path
        let kind = ["sidebar": "realtime", "retrocast": "gateway"].first { scenario.hasPrefix($0.key) }?.value ?? "sse"
        let run = try ToolRun.run(["ingest", "L", "capture", capture, "--kind", kind, "--as", "app"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    @Test(arguments: [
        ("sidebar-join-refused", true), ("sidebar-subscription-refused", true), ("sidebar-subscription-lost", false),
        ("retrocast-link-down-for-ten-minutes", false), ("punchlist-link-down-for-half-a-minute", false),
    ])
    func whatIsMissingIsSaid(scenario: String, isOpen: Bool) throws {
        try ingest(scenario)
        let gaps = try ToolRun.run(["gaps", "L"], in: folder).output
        #expect(!gaps.contains("nothing is known") && gaps.contains("to now") == isOpen, "\(gaps)")
        let status = try ToolRun.run(["status", "L"], in: folder).output
        #expect(status.contains(isOpen ? "1 open gap" : "no open gap is known"), "\(status)")
        #expect(!status.contains("running") && !status.contains("killed"), "\(status)")
    }

    @Test func whereNothingIsKnownTheSentenceSaysWhatItCovers() throws {
        try folder.makeLog(messages: 3)
        let text = try ToolRun.run(["gaps", "L"], in: folder).output
        let lines = text.split(separator: "\n")
        #expect(lines.first == "no gaps: nothing is known to be missing; this covers")
        #expect(lines.count == 2 && lines.last?.hasPrefix("  gateways: connections that were lost") == true)
    }

    @Test func framesThatAreCompressedAreNamedSo() throws {
        let frames: [[UInt8]] = [
            [0x78, 0x9C, 0x34, 0xC9, 0x00, 0x00, 0xFF, 0xFF], [0xAA, 0x56, 0x4A, 0x2E, 0x00, 0x00, 0xFF, 0xFF],
            [0x83, 0x74, 0x00, 0x00], [0xC3, 0x28],
        ]
        let lines = frames.enumerated().map { index, bytes in
            #"{"t_ms":\#(SampleCaptures.start + index),"dir":"in","rawBase64":"\#(Data(bytes).base64EncodedString())"}"#
        }
        try folder.write(lines.joined(separator: "\n"), to: "z.ndjson")
        let arguments = ["ingest", "L", "capture", "z.ndjson", "--kind", "gateway", "--as", "app", "--quiet"]
        #expect(try ToolRun.run(arguments, in: folder).exitCode == 0)
        let state = try EventStore.open(at: folder.path("L")).read { try Replay.logState(of: $0) }
        let reasons = state.sources.flatMap(\.issues.rows).map(\.reason)
        #expect(reasons.count == 4)
        #expect(reasons.prefix(2).allSatisfy { $0.contains("zlib-stream") && $0.contains("without compress") })
        #expect(reasons.dropFirst(2).first?.contains("encoding=json") == true)
        #expect(reasons.last?.contains("capture again") == false)
    }

    @Test func aWebSocketWhoseMessagesTheFileLacksIsAGap() throws {
        let har = #"""
            {"log":{"version":"1.2","creator":{"name":"Firefox","version":"140.0"},"pages":[],"entries":[
            {"startedDateTime":"2026-02-01T00:00:00.000Z","time":5000,
            "request":{"method":"GET","url":"wss://chat.example/gateway","headers":[]},
            "response":{"status":101,"content":{"size":0,"mimeType":"x-unknown"}}}]}}
            """#
        try folder.write(har, to: "bug.har")
        let run = try ToolRun.run(["ingest", "L", "har", "bug.har", "--as", "app"], in: folder)
        #expect(run.exitCode == 0 && run.errors.contains("messages are not in the file"), "\(run.output)\(run.errors)")
        let gaps = try ToolRun.run(["gaps", "L", "--jsonl"], in: folder).output
        #expect(
            gaps == #"{"source":"app","from":"2026-02-01T00:00:00.000000Z","reason":"no messages"}"# + "\n",
            "\(gaps)"
        )
    }
}
