import EventLog
import Foundation
import JSON
import Projections
import TestSupport
import Testing

/// How much of what correct clients of five protocols show a proposed file finds, without a correction by hand.
@Suite struct InferredFormatTests {
    /// What is found of 100 messages at least, and shown though no client shows it at most. A proposal is a guess: what a
    /// remote says in more than one place, as Matrix its edits and Slack its threads' roots, it takes for more messages.
    static let shares: [(name: String, right: Int, wrong: Int)] = [
        ("slack", 80, 20), ("matrix", 25, 20), ("mastodon", 80, 10), ("discord", 95, 2), ("todoist", 95, 30),
    ]

    @Test(.needs(shared: "formats/genlib.py"), arguments: shares)
    func aProposedFileFindsMessages(name: String, right: Int, wrong: Int) throws {
        let capture = try FormatCapture(of: name, seed: 1)
        let plain = try FormatLog(name, capture.lines, "plain")
        var inference = DecoderInference()
        try plain.store.read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                let envelope = event.envelope
                event.withPayload { inference.add(envelope, payload: $0) }
                return true
            }
        }
        let file = try #require(try inference.proposal(name: name)).file
        #expect(file.sampleFaults().isEmpty)
        // The file is of one page, and says nothing of the people in the capture.
        #expect(file.text.utf8.count < 32_000)
        let shown = Self.messages(try FormatLog(file: file.text, capture.lines, "inferred").state())
        let want = Self.messages(try capture.value(at: "expected.json"))
        let found = shown.intersection(want).count
        #expect(found * 100 >= right * want.count, "\(found) of \(want.count)")
        #expect(shown.subtracting(want).count * 100 <= wrong * want.count, "\(shown.subtracting(want).count)")
    }

    /// The id and text of each message. Channels are left out: a proposal may put all messages in one.
    private static func messages(_ state: JSONValue) -> Set<String> {
        Set((state["messages"]?.array ?? []).map { "\($0["id"]?.string ?? "") \($0["content"]?.string ?? "")" })
    }
}
