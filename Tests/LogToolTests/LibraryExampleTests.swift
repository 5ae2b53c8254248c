import EventLog
import Foundation
import Ingest
import Projections
import TestSupport
import Testing

/// The README's examples, as they stand there.
@Suite struct LibraryExampleTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeThreads(messages: 3)
    }

    @Test func aBugIsReplayedFromALogFile() throws {
        let path = folder.path("L")
        // README: begin
        let log = try EventStore.open(at: path)
        var state = try log.read { try Replay.logState(of: $0, through: Point("head")?.resolve(in: $0)) }
        let messages = state.document()["messages"]?.array ?? []
        #expect(messages.count == 3)
        #expect(messages.last?["content"]?.string == "message 3")
        #expect(messages.last?["replyTo"]?["state"]?.string == "live")
        // README: end
    }

    // README: begin
    /// What the app's badge shows: how many messages of each channel nobody has answered.
    struct Unanswered: Projection {
        var waiting: [String: Set<String>] = [:]

        mutating func apply(_ event: DecodedEvent) {
            for change in event.changes {
                switch change {
                case .message(let message):
                    waiting[message.name.channel, default: []].insert(message.name.id)
                    if let parent = message.replyTo { waiting[message.name.channel]?.remove(parent) }
                case .messageDeleted(let name, _, _): waiting[name.channel]?.remove(name.id)
                default: break
                }
            }
        }
    }
    // README: end

    @Test func theBadgeIsRightAfterEveryEvent() throws {
        let path = folder.path("L")
        // README: begin
        let log = try EventStore.open(at: path)
        var badge = Unanswered()
        try log.read { try Replay.fold($0, into: &badge, through: Point("head")?.resolve(in: $0)) }
        #expect(badge.waiting["10"] == ["1003"])
        // README: end
    }

    @Test func changesComeInALoop() async throws {
        let path = folder.path("L")
        // README: begin
        let log = try EventStore.open(at: path)
        for try await event in try log.decodedEvents() {
            for case .message(let message) in event.changes {
                print(event.envelope.sequence, message.author ?? "?", message.content)
            }
        }
        // README: end
    }

    @Test func theReadmeShowsTheSameLines() throws {
        let readme = try String(contentsOf: PackageRoot.url.appending(path: "README.md"), encoding: .utf8)
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let parts = source.components(separatedBy: "// README: begin\n").dropFirst()
        #expect(parts.count == 4)
        for part in parts {
            let example = try #require(part.components(separatedBy: "// README: end").first)
            let lines = example.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            for line in lines where !line.isEmpty { #expect(readme.contains(line)) }
        }
    }
}
