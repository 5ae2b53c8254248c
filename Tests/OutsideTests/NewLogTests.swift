import EventLog
import Foundation
import TestSupport
import Testing

/// The README's example of a program that makes a log, as it stands there, compiled with what another package sees.
@Suite struct NewLogTests {
    @Test func aProgramMakesALog() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("mine.eventlog")
        // README: begin
        let log = try EventStore.openOrCreate(at: path)
        let said =
            #"{"id":"1001","channel_id":"10","author_id":"7","content":"hello","created_at":"2026-01-19T08:30:01Z"}"#
        let frame = DraftEvent(
            recordedAt: Timestamp(seconds: 1_768_811_401),
            source: try SourceName("chat"),
            kind: try EventKind("gateway.frame/1"),
            key: try EventKey("c1/1"),
            attributes: ["dir": "in"],
            payload: Array(#"{"op":0,"s":1,"t":"MESSAGE_CREATE","d":\#(said)}"#.utf8)
        )
        let first = try log.append([frame])
        let again = try log.append([frame])
        // README: end
        #expect(first.appended == 1 && again.appended == 0 && again.duplicates == 1)
    }

    @Test func theReadmeShowsTheSameLines() throws {
        let readme = try String(contentsOf: PackageRoot.url.appending(path: "README.md"), encoding: .utf8)
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let part = try #require(source.components(separatedBy: "// README: begin\n").dropFirst().first)
        let example = try #require(part.components(separatedBy: "// README: end").first)
        let lines = example.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for line in lines where !line.isEmpty {
            #expect(readme.contains(line.replacing("at: path", with: "at: \"mine.eventlog\"")), "\(line)")
        }
    }
}
