import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction
@testable import logtool

@Suite struct EventLinksTests {
    private func drafts(_ scenario: String) throws -> [DraftEvent] {
        let folder = try TemporaryDirectory()
        let store = try Scenario(folder: PackageRoot.scenarios.appending(path: scenario)).log(in: folder)
        return try store.read { try Candidate.whole(of: $0) }.events.map(\.draft)
    }

    @Test func anEditNeedsItsCreate() throws {
        let folder = try TemporaryDirectory()
        var frames = SampleCaptures.gateway(messages: 4)
        frames += SampleCaptures.line(
            20,
            SampleCaptures.message(2, content: "else").replacingOccurrences(of: "CREATE", with: "UPDATE")
        )
        frames += SampleCaptures.line(21, #"{"op":0,"s":9,"t":"MESSAGE_DELETE","d":{"id":"1003","channel_id":"10"}}"#)
        try folder.write(frames, to: "c.ndjson")
        _ = try ToolRun.run(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"], in: folder)
        let whole = try EventStore.open(at: folder.path("L")).read { try Candidate.whole(of: $0) }
        let links = EventLinks(of: whole.events.map(\.draft))
        // HELLO 0, the channel 1, the messages 2 to 5, the edit 6, the delete 7.
        #expect(!links.needs[5].contains(4) && !links.needs[5].contains(2))
        #expect(links.needs[6].contains(3))
        #expect(links.needs[7].contains(4))
        #expect(links.needs[5].contains(0))
        #expect(links.closure(of: [5]) == [0, 1, 5])
        #expect(links.dependents(of: [4], among: [0, 1, 4, 5, 6, 7]) == [4, 7])
        #expect(links.places(naming: ["1003"]) == [4, 7])
        #expect(Set(links.channels[2...7]).count == 1)
    }

    @Test func framesNeedTheHandshakeOfTheirOwnConnection() throws {
        let drafts = try drafts("retrocast-replays-are-appended")
        let links = EventLinks(of: drafts)
        let connections = Set(drafts.compactMap { $0.attributes["connection"] })
        #expect(Set(links.connections).count == connections.count)
        for place in drafts.indices {
            let first = try #require(links.connections.firstIndex(of: links.connections[place]))
            if first < place { #expect(links.needs[place].contains(first), "event \(place)") }
        }
    }

    @Test func aCommitHasItsParentsApart() throws {
        let drafts = try drafts("vibechannel-edit-writes-local-date")
        let links = EventLinks(of: drafts)
        for place in drafts.indices.dropFirst() { #expect(links.parents(of: drafts[place]) == [place - 1]) }
        // The fourth commit edits the message of the second.
        #expect(links.needs[3].contains(1) && !links.needs[3].contains(2))
    }

    @Test(arguments: [
        ("sidebar-pin-without-content", 3, 2), ("vibestatus-half-written-file", 4, 0),
        ("punchlist-last-item-leaves", 2, 1),
    ])
    func aChangeNeedsTheEventThatMadeTheThing(scenario: String, later: Int, first: Int) throws {
        let links = EventLinks(of: try drafts(scenario))
        #expect(links.needs[later].contains(first), "\(links.needs)")
    }
}
