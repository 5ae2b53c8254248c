import EventLog
import Testing

@testable import Projections

@Suite struct StatusFileDecoderTests {
    private func decoded(_ text: String, path: String = "/tmp/vibestatus-a.json") throws -> SourceHarness {
        var source = SourceHarness()
        source.apply(try .status(1, path, text))
        return source
    }

    /// A byte that is no UTF-8 and the three characters that it is written as are two names.
    @Test func aByteAndItsSpellingAreTwoSessions() throws {
        var source = SourceHarness()
        let text = #"{"state":"working","project":"garden"}"#
        let encoded = try TestEvent(
            1,
            kind: EventKind("status.file/1"),
            attributes: ["encoded": "true", "op": "write", "path": "/tmp/vibestatus-caf%E9.json"],
            payload: Array(text.utf8)
        )
        source.apply(encoded)
        source.apply(try .status(2, "/tmp/vibestatus-caf%E9.json", text))
        source.apply(try .status(3, "/tmp/vibestatus-caf%25E9.json", text))
        source.apply(try .status(4, "/tmp/vibestatus-100%.json", text))
        let ids = source.rows(in: .sessions).compactMap {
            $0.split(separator: "\"").dropFirst(3).first.map(String.init)
        }
        let expected = ["100%", "caf%2525E9", "caf%25E9", "caf%E9"].map { "vibestatus-\($0).json" }
        #expect(ids.sorted() == expected)
    }

    @Test func anAcceptedTextIsASession() throws {
        let text = #"{"state":"working","project":"garden","timestamp":"1970-01-01T02:00:01+02:00","pid":4711,"x":1}"#
        let source = try decoded(text + "\n")
        #expect(
            source.rows(in: .sessions) == [
                #"{"id":"vibestatus-a.json","pid":4711,"project":"garden","stale":false,"state":"live","#
                    + #""status":"working","timestamp":"1970-01-01T02:00:01+02:00"}"#
            ]
        )
        #expect(source.issues.isEmpty)
    }

    @Test(arguments: [
        #"{"state":"idle"}"#, #"{"state":"idle","project":null,"timestamp":null,"pid":null,"message":null}"#,
        #"{"state":"not_running","pid":0,"message":"Ready"}"#, #"{"state":"needs_input","pid":-3}"#,
        #"{"state":"working","pid":4711.0}"#, #"{"state":"working","pid":1e3}"#, " {\"state\":\"idle\"}\r\n",
        #"{"state":"idle","timestamp":"2024-02-29T23:59:59Z"}"#,
        #"{"state":"idle","timestamp":"2026-01-19T08:30:00-11:30"}"#,
    ])
    func whatIsOptionalMayBeAbsent(_ text: String) throws {
        let source = try decoded(text)
        #expect(source.issues.isEmpty)
        #expect(source.rows(in: .sessions).first?.contains(#""project":"Unknown""#) == true)
    }

    @Test(arguments: [
        ("", "empty"), ("\n", "malformed: not one JSON text"), (#"{"state":"wor"#, "malformed: not one JSON text"),
        (#"{"state":"idle"}{}"#, "malformed: not one JSON text"), ("[]", "rejected: no object"),
        (#""idle""#, "rejected: no object"), ("null", "rejected: no object"),
        ("{}", "rejected: state is none of working, idle, needs_input, not_running"),
        (#"{"state":"paused"}"#, "rejected: state is none of working, idle, needs_input, not_running"),
        (#"{"state":"needsInput"}"#, "rejected: state is none of working, idle, needs_input, not_running"),
        (#"{"state":" idle"}"#, "rejected: state is none of working, idle, needs_input, not_running"),
        (#"{"state":null}"#, "rejected: state is none of working, idle, needs_input, not_running"),
        (#"{"state":"idle","project":7}"#, "rejected: project is no text"),
        (#"{"state":"idle","message":[]}"#, "rejected: message is no text"),
        (#"{"state":"idle","pid":"4711"}"#, "rejected: pid is no whole number of 64 bits"),
        (#"{"state":"idle","pid":1.5}"#, "rejected: pid is no whole number of 64 bits"),
        (#"{"state":"idle","pid":true}"#, "rejected: pid is no whole number of 64 bits"),
    ])
    func whatIsNotAcceptedIsAnIssue(_ text: String, _ reason: String) throws {
        let source = try decoded(text)
        #expect(source.issues.map(\.reason) == ["status file: " + reason])
        #expect(source.rows(in: .sessions).isEmpty)
    }

    @Test(arguments: [
        #""2026-01-19T08:30:00.5Z""#, #""2026-01-19T08:30:00""#, #""2026-01-19 08:30:00Z""#, "1768811400", #""""#,
        #""2026-02-30T08:30:00Z""#, #""2026-01-19T24:00:00Z""#, #""2026-01-19T08:30:60Z""#, #""2026-01-19t08:30:00Z""#,
        #""2026-01-19T08:30:00z""#, #""2026-01-19T08:30:00+0200""#, #""2026-01-19T08:30:00+02""#,
        #""2026-01-19T08:30:00.1234Z""#, #""2026-01-19T08:30Z""#, #"" 2026-01-19T08:30:00Z""#,
        #""2026-01-19T08:30:00+24:00""#,
    ])
    func aTimeStampOfAnotherFormIsRejected(_ timestamp: String) throws {
        let source = try decoded(#"{"state":"idle","timestamp":"# + timestamp + "}")
        #expect(
            source.issues.map(\.reason) == [
                "status file: rejected: timestamp is no time of the form YYYY-MM-DDThh:mm:ss with a zone"
            ]
        )
    }

    @Test(arguments: [
        "/tmp/other.json", "/tmp/vibestatus-a.txt", "/tmp/sub/vibestatus-a.json", "/var/vibestatus-a.json",
        "vibestatus-a.json", "/tmp/Vibestatus-a.json", "/tmp/vibestatus_a.json", "/tmp/claude-indicator-status.json",
        "/tmp//vibestatus-a.json", "", "/tmp/vibestatus-a.JSON", "/tmpx/vibestatus-a.json",
    ])
    func otherPathsAreNoSessionAndNoFault(_ path: String) throws {
        let source = try decoded(#"{"state":"idle"}"#, path: path)
        #expect(source.changes.isEmpty && source.issues.isEmpty)
    }

    @Test func aRecorderMaySayWhichFolderItWatches() throws {
        let event = try TestEvent(
            1,
            kind: EventKind("status.file/1"),
            attributes: ["path": "/srv/run/vibestatus-.json", "folder": "/srv/run", "op": "write"],
            payload: Array(#"{"state":"idle"}"#.utf8)
        )
        var source = SourceHarness()
        source.apply(event)
        #expect(source.rows(in: .sessions).count == 1)
    }

    @Test(arguments: [
        ["op": "write"], ["path": "/tmp/vibestatus-a.json"], ["path": "/tmp/vibestatus-a.json", "op": "x"],
    ])
    func anObservationWithoutPathOrOperationIsAnIssue(_ attributes: [String: String]) throws {
        let pairs = attributes.map { Attributes.Pair(name: $0.key, value: $0.value) }
        let event = try TestEvent(1, kind: EventKind("status.file/1"), attributes: Attributes(pairs), payload: [])
        var source = SourceHarness()
        source.apply(event)
        #expect(source.issues.count == 1)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("12.0", 12), ("120e-1", 12), ("1.2e1", 12), ("1.25e1", nil),
            ("0e999999999999999999", 0),
            ("9223372036854775807", Int64.max), ("9223372036854775808", nil), ("1e19", nil), ("1e400", nil),
            ("-9223372036854775808.0", Int64.min), ("1e-400", nil), ("0.00", 0), ("1E3", 1000), ("10e+2", 1000),
        ] as [(String, Int64?)]
    )
    func aWholeNumberIsReadWithoutFloatingPoint(_ text: String, _ value: Int64?) {
        #expect(JSONNumber(unchecked: text).wholeInt64 == value)
    }
}
