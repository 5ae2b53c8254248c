import EventLog
import JSON
import TestSupport
import Testing

@testable import Ingest

/// What a user declares secret beside the list of docs/events.md.
@Suite struct RedactionRulesTests {
    private func redacted(_ payload: String, _ kind: EventKind, _ rules: [String]) throws -> DraftEvent {
        let draft = DraftEvent(
            recordedAt: Timestamp(seconds: 1),
            source: try SourceName("s"),
            kind: kind,
            key: nil,
            attributes: ["path": "/a?email=x&b=1", "redacted": "2"],
            payload: Array(payload.utf8)
        )
        return try RedactionRules(rules).redacted(draft)
    }

    @Test(arguments: [
        (
            ["email"], #"{"E-Mail":"a","x":{"email":[1,{"y":true}],"z":"b"}}"#,
            #"{"E-Mail":"[redacted]","x":{"email":["[redacted]",{"y":"[redacted]"}],"z":"b"}}"#
        ),
        (
            ["/d/user/email"], #"{"d":{"user":{"email":null,"x":1},"email":"b"},"user":{"email":"c"}}"#,
            #"{"d":{"user":{"email":"[redacted]","x":1},"email":"b"},"user":{"email":"c"}}"#
        ),
        (
            ["/rows/1", "/a~1b"], #"{"rows":["a",{"b":"c"},"d"],"a/b":"e","a":{"b":"f"}}"#,
            #"{"rows":["a",{"b":"[redacted]"},"d"],"a/b":"[redacted]","a":{"b":"f"}}"#
        ),
        (["/0/x"], #"[{"x":"a"},{"x":"b"}]"#, #"[{"x":"[redacted]"},{"x":"b"}]"#),
    ])
    func whatIsDeclaredIsReplacedAndTheRestStillParses(_ rules: [String], payload: String, expected: String) throws {
        let draft = try redacted(payload, .realtimeFrame, rules)
        #expect(String(decoding: draft.payload, as: UTF8.self) == expected)
        #expect(JSONValue(received: draft.payload) != nil)
    }

    @Test func anEventOfAStreamAQueryAndACommitFollowTheRulesToo() throws {
        let event = try redacted("id: 1\ndata: {\"email\":\"a\"}\n\n", .serverSentEvent, ["email"])
        #expect(String(decoding: event.payload, as: UTF8.self) == "id: 1\ndata: {\"email\":\"[redacted]\"}\n\n")
        #expect(event.attributes["path"] == "/a?email=[redacted]&b=1")
        // Two before, one in the payload and one in the path.
        #expect(event.attributes["redacted"] == "4")
        let commit = try redacted(
            #"{"committer":{"email":"a"},"message":"my password=x","cookie":"b"}"#,
            .gitCommit,
            ["email"]
        )
        #expect(
            String(decoding: commit.payload, as: UTF8.self)
                == #"{"committer":{"email":"[redacted]"},"message":"my password=x","cookie":"b"}"#
        )
    }

    @Test func withoutRulesAnEventStaysAsItIs() throws {
        let draft = try redacted(#"{"password":"x"}"#, .realtimeFrame, [])
        #expect(draft.payload == Array(#"{"password":"x"}"#.utf8) && draft.attributes["redacted"] == "2")
    }

    @Test(arguments: ["", "-", "/a~", "/a~2b"])
    func whatIsNeitherNameNorPointerIsRefused(_ rule: String) {
        #expect(throws: IngestError.self) { try RedactionRules([rule]) }
    }
}
