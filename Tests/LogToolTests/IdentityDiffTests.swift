import Foundation
import TestSupport
import Testing

@testable import logtool

/// Two machines record one remote: other sequences, other names of sources, another order.
@Suite struct IdentityDiffTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func twoRecordingsOfTheSameAreTheSame() throws {
        try record("A", as: "phone", [1, 2, 3])
        try record("B", as: "mac", [1, 1, 2, 3])
        let run = try ToolRun.run(["diff", "A", "B", "--match", "identity"], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output == "both logs have received the same\n")
        #expect(try ToolRun.run(["diff", "A", "B"], in: folder).exitCode == 1)
    }

    @Test func whatOneNeverReceivedIsListed() throws {
        try record("A", as: "phone", [1, 2])
        let edit =
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","#
            + #""author_username":"ada","content":"other","created_at":"2026-01-01T00:00:00Z","#
            + #""edited_at":"2026-01-02T00:00:00Z"}}"#
        try record("B", as: "mac", [1, 3], edit)
        let run = try ToolRun.run(["diff", "A", "B", "--match", "identity", "--json"], in: folder)
        #expect(run.exitCode == 1)
        let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        let differences = try #require(document?["differences"] as? [[String: Any]])
        #expect(document?["same"] as? Bool == false)
        #expect(
            differences.map { "\($0["change"] ?? "") \($0["entity"] ?? "") \($0["unknown"] ?? "")" } == [
                "removed message:phone/10/1002 1", "added message:mac/10/1001 0", "added message:mac/10/1003 1",
            ]
        )
        let text = try ToolRun.run(["diff", "A", "B", "--match", "identity"], in: folder).output
        #expect(text.contains("+ message:mac/10/1001  (A never received 1 change)\n"))
        #expect(text.contains("- message:phone/10/1002  (B never received it)\n"))
        #expect(text.hasSuffix("A lacks 2 changes of 2 things, B lacks 1 change of 1 thing\n"))
        let one = try ToolRun.run(["diff", "A", "B", "--match", "identity", "--entity", "message:1003"], in: folder)
        #expect(one.output.contains("1003") && !one.output.contains("1001"))
    }

    @Test(arguments: [["--explain"], ["--source", "phone"], ["-n", "1"]])
    func whatHasNoMeaningThereEndsWith2(options: [String]) throws {
        try record("A", as: "phone", [1])
        #expect(try ToolRun.run(["diff", "A", "A", "--match", "identity"] + options, in: folder).exitCode == 2)
    }

    private func record(_ log: String, as name: String, _ messages: [Int], _ more: String...) throws {
        var frames = SampleCaptures.gateway(messages: 0)
        for (place, number) in messages.enumerated() {
            frames += SampleCaptures.line(10 + place, SampleCaptures.message(number))
        }
        for (place, frame) in more.enumerated() { frames += SampleCaptures.line(50 + place, frame) }
        try folder.write(frames, to: "c.ndjson")
        let run = try ToolRun.run(
            ["ingest", log, "capture", "c.ndjson", "--kind", "gateway", "--as", name],
            in: folder
        )
        #expect(run.exitCode == 0, "\(run.errors)")
    }
}
