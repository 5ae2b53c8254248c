import EventLog
import Testing

@testable import Projections

@Suite struct PromptsTests {
    private static let path = "/tmp/vibestatus-prompt-3f2a.json"

    private func prompt(_ message: String = "Run the tests?", timestamp: String = "2026-01-19T08:30:00+01:00") -> String
    {
        #"{"session_id":"3f2a","project":"garden","prompt_message":"\#(message)","notification_type":"idle_prompt","#
            + #""timestamp":"\#(timestamp)","pid":4711}"#
    }

    @Test func aReadablePromptIsPending() throws {
        var source = SourceHarness()
        source.apply(try .status(1, Self.path, prompt()))
        #expect(
            source.rows(in: .prompts) == [
                #"{"askedAt":"2026-01-19T07:30:00.000000Z","id":"vibestatus-prompt-3f2a.json","project":"garden","#
                    + #""session":"3f2a","state":"pending","text":"Run the tests?"}"#
            ]
        )
        #expect(source.rows(in: .sessions).isEmpty && source.issues.isEmpty)
    }

    @Test(arguments: [
        ("", "prompt file: empty"), ("{\"session_id\":\"a\nb\"}", "prompt file: malformed: not one JSON text"),
        (#"{"state":"idle"}"#, "prompt file: rejected: session_id is missing or no text"),
        ("[]", "prompt file: rejected: no object"),
    ])
    func whatCannotBeReadIsAnIssueAndKnown(_ text: String, _ reason: String) throws {
        var source = SourceHarness()
        source.apply(try .status(1, Self.path, text))
        #expect(source.rows(in: .prompts) == [#"{"id":"vibestatus-prompt-3f2a.json","state":"unreadable"}"#])
        #expect(source.issues.map(\.reason) == [reason])
    }

    @Test func aTimeStampThatCannotBeReadIsTheTimeOfReceipt() throws {
        var source = SourceHarness()
        source.apply(try .status(1, Self.path, prompt(timestamp: "soon"), seconds: 60))
        #expect(source.rows(in: .prompts).first?.contains(#""askedAt":"1970-01-01T00:01:00.000000Z""#) == true)
    }

    @Test func aPromptWhoseFileIsGoneIsHistory() throws {
        var source = SourceHarness()
        let steps: [String?] = [prompt(), prompt(), "{", prompt("Go on?"), nil, nil]
        for (index, text) in steps.enumerated() { source.apply(try .status(UInt64(index + 1), Self.path, text)) }
        #expect(source.rows(in: .prompts).isEmpty)
        #expect(
            source.history(.prompts, "vibestatus-prompt-3f2a.json") == [
                "1 asked", "3 unreadable", "4 asked", "5 removed",
            ]
        )
    }
}
