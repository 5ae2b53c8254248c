import EventLog
import Foundation
import JSON
import Projections
import Reduction
import TestSupport
import Testing

/// Logs that decoder files read, with other words: the same shape, and nothing that people wrote.
@Suite struct AnonymousDecodedLogTests {
    /// Nothing but what is listed stays of any text that a person wrote, and threads, edits and deletions are as many.
    @Test(.needs(shared: "formats/genlib.py"), arguments: ["slack", "matrix", "mastodon", "discord", "todoist"])
    func theFiveProtocolsKeepTheirShape(name: String) throws {
        let capture = try FormatCapture(of: name, seed: 5)
        let log = try FormatLog(name, Array(capture.lines.prefix(100)), "log")
        let anonymized = try LogAnonymizing(of: log.store).run()
        let folder = try TemporaryDirectory()
        try anonymized.write(to: folder.path("shown.eventlog"))
        let shown = try EventStore.open(at: folder.path("shown.eventlog"))
        let (before, after) = try (Self.document(log.store), Self.document(shown))
        for member in ["messages", "deletedMessages", "channels", "items", "rows", "issues"] {
            #expect(before[member]?.array?.count == after[member]?.array?.count, "\(member)")
        }
        #expect(anonymized.result.kept.isEmpty, "\(anonymized.result.kept)")
        let words = Set(Self.texts(before).flatMap { $0.split { !$0.isLetter }.map { $0.lowercased() } })
            .filter { $0.count > 3 }
        let stays = Set(
            anonymized.result.texts.flatMap { $0.texts ?? [] }.flatMap {
                $0.split { !$0.isLetter }.map { $0.lowercased() }
            }
        )
        let left = Set(Self.texts(after).flatMap { $0.split { !$0.isLetter }.map { $0.lowercased() } })
        #expect(words.intersection(left).subtracting(stays) == [])
        #expect(words.subtracting(stays).count > 5, "there is something to replace")
    }

    private static func document(_ store: EventStore) throws -> JSONValue {
        var state = try store.read { try Replay.logState(of: $0) }
        return state.document()
    }

    /// What people wrote and are called.
    private static func texts(_ document: JSONValue) -> [String] {
        ["messages", "deletedMessages", "items"].flatMap { member in
            (document[member]?.array ?? []).flatMap { row in
                ["content", "author", "authorName", "text"].compactMap { row[$0]?.string }
            }
        }
    }
}
