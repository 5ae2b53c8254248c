import EventLog
import Foundation
import Ingest
import Projections
import TestSupport
import Testing

/// The README's example of an app's own test, as it stands there.
@Suite struct LibraryExampleTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test func aBugIsReplayedFromALogFile() throws {
        let path = folder.path("L")
        // README: begin
        let log = try EventStore.open(at: path)
        var state = try log.read { try Replay.workspace(of: $0, through: Point("head")?.resolve(in: $0)) }
        let messages = state.document()["messages"]?.array ?? []
        #expect(messages.count == 3)
        #expect(messages.last?["content"]?.string == "message 3")
        #expect(messages.last?["replyTo"]?["state"]?.string == "live")
        // README: end
    }

    @Test func theReadmeShowsTheSameLines() throws {
        let readme = try String(contentsOf: PackageRoot.url.appending(path: "README.md"), encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let lines = source.split(separator: "\n")
        let begin = try #require(lines.firstIndex { $0.hasSuffix("// README: begin") })
        let end = try #require(lines.firstIndex { $0.hasSuffix("// README: end") })
        for line in lines[(begin + 1)..<end] {
            #expect(readme.contains(line.trimmingCharacters(in: .whitespaces)))
        }
    }
}
