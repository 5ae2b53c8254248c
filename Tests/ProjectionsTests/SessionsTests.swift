import EventLog
import TestSupport
import Testing

@testable import Projections

@Suite struct SessionsTests {
    private func session(_ state: String, project: String = "p") -> String {
        #"{"state":"\#(state)","project":"\#(project)"}"#
    }

    @Test func aSpanStartsChangesAndEnds() throws {
        var source = SourceHarness()
        let path = "/tmp/vibestatus-a.json"
        let steps: [String?] = [
            session("idle"), session("working"), session("working", project: "q"), nil, nil, "", session("idle"),
        ]
        for (index, text) in steps.enumerated() { source.apply(try .status(UInt64(index + 1), path, text)) }
        #expect(
            source.history(.sessions, "vibestatus-a.json") == ["1 started", "2 changed", "4 ended", "7 started"]
        )
        #expect(source.issues.map(\.sequence) == [SequenceNumber(6)])
    }

    @Test func whatIsGoneIsStillKnown() throws {
        var source = SourceHarness()
        source.apply(try .status(1, "/tmp/vibestatus-a.json", session("idle")))
        source.apply(try .status(2, "/tmp/vibestatus-a.json", nil))
        source.apply(try .message(3, #"[{"id":"i"}]"#))
        source.apply(try .message(4, "[]"))
        #expect(source.sessions.knownKeys(in: .sessions, names: source.names).count == 1)
        #expect(source.sessions.keys(in: .sessions, names: source.names).isEmpty)
        #expect(source.items.knownKeys(in: .items, names: source.names).count == 1)
        #expect(source.items.keys(in: .items, names: source.names).isEmpty)
    }

    @Test func whatIsNotAcceptedEndsNothing() throws {
        var source = SourceHarness()
        source.apply(try .status(1, "/tmp/vibestatus-a.json", session("working")))
        let before = source.rows(in: .sessions)
        for (index, text) in ["", "{", #"{"state":"paused"}"#].enumerated() {
            source.apply(try .status(UInt64(index + 2), "/tmp/vibestatus-a.json", text))
        }
        #expect(source.rows(in: .sessions) == before)
        #expect(source.issues.count == 3)
    }

    @Test(
        arguments: [
            (1799, #""stale":false,"state":"live""#), (1800, #""stale":true,"state":"live""#),
            (7199, #""stale":true,"state":"live""#), (7200, #""stale":true,"state":"expired""#),
            (-5, #""stale":false,"state":"live""#),
        ] as [(Int64, String)]
    )
    func ageIsJudgedAtAsOf(_ age: Int64, _ expected: String) throws {
        var source = SourceHarness()
        let text = #"{"state":"working","timestamp":"1970-01-01T03:00:00Z"}"#
        source.apply(try .status(1, "/tmp/vibestatus-a.json", text, seconds: 10_801))
        let row = source.rows(in: .sessions, asOf: Timestamp(seconds: 10_800 + age)).first ?? ""
        #expect(row.contains(expected))
        let aggregate = source.rows(in: .sessionAggregates, asOf: Timestamp(seconds: 10_800 + age))
        #expect(aggregate == [age < 7200 ? #"{"status":"working"}"# : #"{"status":"not_running"}"#])
    }

    @Test func ageCountsFromTheLastAcceptedWriteAndItsInstant() throws {
        var source = SourceHarness()
        source.apply(try .status(1, "/tmp/vibestatus-a.json", session("working"), seconds: 1000))
        source.apply(try .status(2, "/tmp/vibestatus-a.json", session("working"), seconds: 2000))
        source.apply(try .status(3, "/tmp/vibestatus-a.json", "", seconds: 3000))
        #expect(source.rows(in: .sessions, asOf: Timestamp(seconds: 3799)).first?.contains(#""stale":false"#) == true)
        #expect(source.rows(in: .sessions, asOf: Timestamp(seconds: 3800)).first?.contains(#""stale":true"#) == true)
    }

    @Test(arguments: [
        (["idle", "working", "needs_input"], "needs_input"), (["idle", "working"], "working"),
        (["not_running", "idle"], "idle"), (["not_running"], "not_running"),
    ])
    func theAggregateIsTheMostUrgent(_ states: [String], _ expected: String) throws {
        var source = SourceHarness()
        for (index, state) in states.enumerated() {
            source.apply(try .status(UInt64(index + 1), "/tmp/vibestatus-\(index).json", session(state)))
        }
        #expect(source.rows(in: .sessionAggregates) == [#"{"status":"\#(expected)"}"#])
    }

    @Test func aSourceWithoutSessionsHasNoAggregate() throws {
        var source = SourceHarness()
        source.apply(try .status(1, "/tmp/vibestatus-a.json", ""))
        #expect(source.rows(in: .sessionAggregates).isEmpty)
        source.apply(try .status(2, "/tmp/vibestatus-a.json", session("idle")))
        source.apply(try .status(3, "/tmp/vibestatus-a.json", nil))
        #expect(source.rows(in: .sessionAggregates) == [#"{"status":"not_running"}"#])
    }

    @Test func orderOfObservationDecidesNotTheTimeStamp() throws {
        var source = SourceHarness()
        source.apply(try .status(1, "/tmp/vibestatus-a.json", #"{"state":"idle","timestamp":"2026-01-19T08:30:05Z"}"#))
        source.apply(
            try .status(2, "/tmp/vibestatus-a.json", #"{"state":"working","timestamp":"2026-01-19T08:30:00Z"}"#)
        )
        #expect(source.rows(in: .sessions).first?.contains(#""status":"working""#) == true)
    }

    @Test(arguments: [31, 32, 33, 34] as [UInt64])
    func aCompactionChangesNoSessionNowOrLater(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let events = try (1...80).map { try Self.randomEvent(UInt64($0), &random) }
        for cut in stride(from: 5, through: 75, by: 10) {
            var source = SourceHarness()
            source.apply(Array(events.prefix(cut)))
            var again = try source.compacted(Array(events.prefix(cut)))
            #expect(again.normalForm() == source.normalForm())
            again.apply(Array(events.dropFirst(cut)))
            source.apply(Array(events.dropFirst(cut)))
            #expect(again.normalForm() == source.normalForm())
            #expect(again.allRows().values.sorted() == source.allRows().values.sorted())
        }
    }

    @Test(arguments: [41, 42] as [UInt64])
    func everyRowThatChangesIsTouched(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var source = SourceHarness()
        for sequence in 1...120 {
            let before = source.allRows()
            source.touched = []
            source.apply(try Self.randomEvent(UInt64(sequence), &random))
            // What only time changes is in no digest, so only rows that differ at one instant count.
            let after = source.allRows()
            for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
                #expect(source.touched.contains(key))
            }
        }
    }

    private static func randomEvent(_ sequence: UInt64, _ random: inout SeededGenerator) throws -> TestEvent {
        let name = ["a", "b", "prompt-a"].randomElement(using: &random) ?? "a"
        let state = ["idle", "working", "needs_input", "paused"].randomElement(using: &random) ?? ""
        let project = ["p", "q"].randomElement(using: &random) ?? ""
        let prompt =
            #""session_id":"a","prompt_message":"\#(state)","notification_type":"","timestamp":"2026-01-19T08:30:00Z""#
        let text = #"{"state":"\#(state)","project":"\#(project)",\#(prompt)}"#
        let shown: [String?] = [text, text, text, nil, "", "{"]
        return try .status(sequence, "/tmp/vibestatus-\(name).json", shown.randomElement(using: &random) ?? nil)
    }
}
