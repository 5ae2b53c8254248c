import Foundation
import GRDB
import TestSupport
import Testing

/// How people see the threads of a channel.
@Suite struct ReplayedThreadTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeThreads(messages: 3)
    }

    @Test func peopleSeeThreadsAsTrees() throws {
        let run = try replay()
        #expect(run.exitCode == 0)
        #expect(run.output.contains("general  3 messages, text in guild"))
        #expect(run.output.contains("  2026-01-01 00:00  ada: message 1\n"))
        #expect(run.output.contains("  2026-01-01 00:00  └─ ada: message 2\n"))
        #expect(run.output.contains("  2026-01-01 00:00     └─ ada: message 3\n"))
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test func idsAreShownWhenAskedFor() throws {
        let text = try replay("--ids").output
        #expect(text.contains("general  10  3 messages, text in guild\n"))
        #expect(text.contains("  2026-01-01 00:00  └─ 1002  ada: message 2\n"))
    }

    @Test func textsAreShownWholeWhenAskedFor() throws {
        let update =
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1002","channel_id":"10","author_id":"7","#
            + #""author_username":"ada","content":"one\n\ntwo","created_at":"2026-01-01T00:00:00Z","#
            + #""edited_at":"2026-01-02T00:00:00Z","message_reference":{"message_id":"1001"}}}"#
        try folder.write(SampleCaptures.line(60, update), to: "more.ndjson")
        _ = try ToolRun.run(
            ["ingest", "L", "capture", "more.ndjson", "--kind", "ws", "--as", "guild"],
            in: folder
        )
        #expect(try replay().output.contains("└─ ada: one …  (edited)\n"))
        let margin = String(repeating: " ", count: 23)
        #expect(try replay("--full").output.contains("└─ ada: one\n\n\(margin)two  (edited)\n"))
    }

    @Test func theLastMessagesOfAChannelAreEnough() throws {
        let text = try replay("--tail", "1").output
        #expect(text.contains("  … 2 earlier messages\n"))
        #expect(text.contains("earlier message: message 2\n"))
        #expect(text.contains("└─ ada: message 3\n"))
        #expect(!text.contains("ada: message 2") && !text.contains("message 1"))
        #expect(try replay("--tail", "0").output.contains("  … 3 earlier messages\n"))
        #expect(try replay("--tail", "9").output == replay().output)
    }

    @Test func aCacheHasTheReplies() throws {
        #expect(try ToolRun.run(["rebuild", "L", "--to", "c.sqlite"], in: folder).exitCode == 0)
        let parents = try DatabaseQueue(path: folder.path("c.sqlite")).read {
            try String.fetchAll($0, sql: "SELECT parent FROM replies ORDER BY child")
        }
        #expect(parents == ["1001", "1002"])
    }

    private func replay(_ options: String...) throws -> ToolRun {
        try ToolRun.run(["replay", "L"] + options, in: folder)
    }
}
