import CacheTables
import EventLog
import Foundation
import Playback
import Projections
import Reduction
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Engines as an app's own tests use them. This target has no access to the package's own declarations (`packageAccess: false`),
/// so it compiles with what another package sees, and without a second build of everything.
@Suite struct EngineTests {
    let folder: TemporaryDirectory
    let log: EventStore

    /// A log of twelve messages; the text of the ninth is wrong, and the tenth repeats it.
    init() throws {
        folder = try TemporaryDirectory()
        log = try EventStore.openOrCreate(at: folder.path("L"))
        let drafts = try (1...12).map { number in
            let text = (9...10).contains(number) ? "wrong" : "right \(number)"
            let said = #""author_id":"1","content":"\#(text)","created_at":"2026-03-01T11:00:00Z""#
            let data = #"{"id":"\#(1_000 + number)","channel_id":"7",\#(said)}"#
            return DraftEvent(
                recordedAt: Timestamp(seconds: 1_770_000_000 + Int64(number)),
                source: try SourceName("app"),
                kind: try EventKind("gateway.frame/1"),
                attributes: ["dir": "in"],
                payload: Array(#"{"op":0,"t":"MESSAGE_CREATE","s":\#(number),"d":\#(data)}"#.utf8)
            )
        }
        _ = try log.append(drafts)
    }

    /// What went wrong, as an app would ask for it.
    private static func isWrong(_ state: LogState) -> Bool {
        var state = state
        return state.document()["messages"]?.array?.contains { $0["content"]?.string == "wrong" } == true
    }

    @Test func theFirstWrongEventIsFound() throws {
        var search = try LogBisection(of: log)
        let outcome = try search.run { Self.isWrong($0) ? .bad : .good }
        #expect(outcome == .first(SequenceNumber(9)))
        #expect(search.tested <= 6)
    }

    @Test func aTestOfTwoAnswersFindsNothing() throws {
        var search = try LogBisection(of: log)
        var seen: Set<SequenceNumber> = []
        let error = #expect(throws: EngineError.self) {
            // Each state is good or bad by its own at first, and the other way round when it is asked for again.
            _ = try search.run { state in
                let isFirst = seen.insert(state.sequence).inserted
                return Self.isWrong(state) == isFirst ? .bad : .good
            }
        }
        #expect(error?.code == .no)
    }

    @Test func aLogIsShrunkToTheWrongEvent() throws {
        let result = try LogShrinking(of: log, by: InterestTest { Self.isWrong($0) }).run()
        #expect(result.isMinimal && result.wholeCount == 12 && result.events.count == 1)
        try result.write(to: folder.path("small"))
        let small = try EventStore.open(at: folder.path("small"))
        let state = try small.read { try Replay.logState(of: $0) }
        #expect(Self.isWrong(state))
        #expect(state.sequence == SequenceNumber(1))
    }

    @Test func whatIsNotThereIsNotShrunk() throws {
        let error = #expect(throws: EngineError.self) {
            _ = try LogShrinking(of: log, by: InterestTest { _ in false }).run()
        }
        #expect(error?.code == .no)
    }

    @Test func tablesAreBuiltAndCurrent() throws {
        let rebuild = CacheRebuild(of: log, to: folder.path("c.sqlite"), schema: try .own())
        let built = try rebuild.run()
        #expect(built.sequence == SequenceNumber(12))
        #expect(built.rows.contains { $0 == ("messages", 12) })
        #expect(try rebuild.isCurrent())
    }

    #if Recorders
    @Test func aClientIsServedTheLog() async throws {
        var playback = try LogPlayback(of: log, as: .gateway)
        playback.start = SequenceNumber(9)
        let (messages, report) = try await playback.serving { url in
            let route = try #require(URL(string: url + "/api/v1/channels/7/messages"))
            let (data, _) = try await URLSession.shared.data(from: route)
            return try JSONValue.parse(Array(data)).array?.count
        }
        #expect(messages == 9)
        #expect(report.stateAnswers == 1 && report.divergences.isEmpty)
    }

    @Test func whatFailsInTheClientIsThrown() async throws {
        let playback = try LogPlayback(of: log)
        await #expect(throws: CocoaError.self) {
            try await playback.serving { _ in throw CocoaError(.fileNoSuchFile) }
        }
    }
    #endif
}
