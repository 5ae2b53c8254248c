import EventLog
import Foundation
import Kinds
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// Everything that a site of an app that nobody knows sent and got.
@Suite struct HARRawTests {
    private let directory: TemporaryDirectory
    private let notes = Notes()

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// What a source said to people.
    private final class Notes: Sendable {
        let texts = Mutex<[String]>([])
    }

    private func source(_ entries: [String], kind: HARKind? = nil, site: String? = nil) throws -> HARSource {
        let path = directory.path("bug.har")
        try Data(SampleHAR.document(entries).utf8).write(to: URL(fileURLWithPath: path))
        let note: @Sendable (String) -> Void = { [notes] text in notes.texts.withLock { $0.append(text) } }
        return HARSource(path: path, kind: kind, site: site, name: try SourceName("s"), note: note)
    }

    private func issues(_ source: HARSource) throws -> [IngestIssue] {
        try source.all().compactMap { if case .skipped(let issue) = $0 { issue } else { nil } }
    }

    private static func post(_ number: Int, at milliseconds: Int) -> String {
        SampleHAR.message(milliseconds, #"{"type":"post","n":\#(number)}"#)
    }

    private static let socket = SampleHAR.socket(
        "wss://talk.example.org/live?token=ttt",
        [post(1, at: 10), SampleHAR.message(20, #"{"type":"join"}"#, type: "send"), post(2, at: 300)]
    )
    private static let answer = SampleHAR.answer(
        "https://talk.example.org/api/posts?room=r1",
        #"{"posts":[]}"#,
        method: "POST",
        asked: #"{"text":"hi","password":"ppp"}"#
    )

    // MARK: - Events

    @Test func anUnknownAppsSocketAndAnswersComeInTheOrderOfTheirTimes() throws {
        let drafts = try source([Self.answer, Self.socket]).allDrafts()
        #expect(
            drafts.map(\.kind.rawValue) == [
                "recorder.link/1", "ws.frame/1", "ws.frame/1", "http.answer/1", "http.answer/1", "ws.frame/1",
            ]
        )
        #expect(drafts.map { $0.attributes["dir"] } == [nil, "in", "out", "out", "in", "in"])
        let (asked, answer) = (drafts[3], drafts[4])
        #expect(asked.text == #"{"text":"hi","password":"[redacted]"}"#)
        #expect(answer.text == #"{"posts":[]}"#)
        for draft in [asked, answer] {
            #expect(draft.attributes["path"] == "/api/posts?room=r1")
            #expect(draft.attributes["method"] == "POST")
            #expect(draft.attributes["connection"] == nil)
        }
        #expect([asked, answer].map { $0.attributes["status"] } == [nil, "200"])
        #expect(drafts[0...2].allSatisfy { $0.attributes["path"] == "/live?token=[redacted]" })
    }

    @Test func binaryMessagesAndAnswersInBase64AreTheirBytes() throws {
        let socket = SampleHAR.socket("wss://talk.example.org/live", [SampleHAR.message(1, "AP8=", opcode: "2")])
        let answer = SampleHAR.answer("https://talk.example.org/api", "e30=", encoding: "base64")
        let drafts = try source([socket, answer]).allDrafts().filter { !$0.payload.isEmpty }
        #expect(drafts.map(\.payload) == [[0, 0xFF], Array("{}".utf8)])
    }

    @Test func severalSocketsOfOneInstantAreToldApart() throws {
        let (first, second) = (Self.post(1, at: 10), Self.post(2, at: 5))
        let entries = [
            SampleHAR.socket("wss://talk.example.org/live", [first]),
            SampleHAR.socket("wss://talk.example.org/live", [second]),
            SampleHAR.socket("wss://talk.example.org/presence", [first]),
        ]
        let frames = try source(entries).allDrafts().filter { $0.kind.rawValue == "ws.frame/1" }
        #expect(Set(frames.compactMap { $0.attributes["connection"] }).count == 3)
        #expect(frames.map { $0.attributes["path"] } == ["/live", "/live", "/presence"])
        #expect(frames[0].text.contains(#""n":2"#))
    }

    @Test func aStreamBesideAnswersKeepsItsPath() throws {
        let stream = SampleHAR.answer("https://talk.example.org/events", "data: {}\n\n", type: "text/event-stream")
        let drafts = try source([stream, Self.answer]).allDrafts()
        #expect(Set(drafts.map(\.kind.rawValue)) == ["recorder.link/1", "sse.event/1", "http.answer/1"])
        #expect(drafts.filter { $0.kind == .serverSentEvent }.map { $0.attributes["path"] } == ["/events"])
        // Alone it is of the kind that it shows, as ever.
        #expect(try source([stream]).allDrafts().allSatisfy { $0.attributes["path"] == nil })
    }

    @Test func theSameFileAndALaterOneAddOnlyWhatIsNew() throws {
        let log = try TemporaryLog()
        #expect(try Recorder.record(source([Self.socket]), into: log.store).appended == 4)
        #expect(try Recorder.record(source([Self.socket, Self.answer]), into: log.store).appended == 2)
        #expect(try Recorder.record(source([Self.socket, Self.answer]), into: log.store).appended == 0)
    }

    // MARK: - Choice

    @Test func aKnownAppIsTakenRawOnlyWhereThatIsSaid() throws {
        let gateway = SampleHAR.socket([SampleHAR.message(10, #"{"op":10,"d":{"heartbeat_interval":41250}}"#)])
        #expect(try source([gateway, Self.answer]).allDrafts().map(\.kind.rawValue).contains("gateway.frame/1"))
        #expect(notes.texts.withLock { $0 }.isEmpty)
        let drafts = try source([gateway], kind: .raw).allDrafts()
        #expect(drafts.map(\.kind.rawValue) == ["recorder.link/1", "ws.frame/1", "recorder.link/1"])
    }

    @Test func theHostWithMostIsTakenAndSaidAndTheOthersAreCounted() throws {
        let others = [
            SampleHAR.answer("https://count.example.net/a", "{}"),
            SampleHAR.answer("https://count.example.net/b", "{}"),
            SampleHAR.answer("https://talk.example.org/a.png", "x", type: "image/png"),
        ]
        let source = try source(others + [Self.socket])
        #expect(try source.allDrafts().count == 4)
        let said = notes.texts.withLock { $0.first }
        #expect(
            said?.hasSuffix(
                "takes all of talk.example.org as it came (--kind raw --site HOST): WebSockets: 1, answers and streams: 0"
            ) == true
        )
        let reason = "3 entries are of other sites or routes (talk.example.org, count.example.net)"
        #expect(try issues(source).map(\.reason) == [reason])
    }

    @Test func whereNothingCanBeTakenNothingIsMade() throws {
        let fault = #expect(throws: IngestError.self) {
            try source([SampleHAR.answer("https://talk.example.org/api", nil)]).allDrafts()
        }
        #expect(fault?.code == .nothingFits)
    }

    @Test func aSiteIsAHostWithThoseBelowIt() throws {
        let other = SampleHAR.answer("https://count.example.net/a", #"{"n":1}"#)
        let near = SampleHAR.answer("https://nottalk.example.org/a", #"{"n":2}"#)
        let entries = [Self.socket, other, near, SampleHAR.answer("https://api.talk.example.org/a", #"{"n":3}"#)]
        let texts = { (site: String) in
            try source(entries, site: site).allDrafts().map(\.text).filter { $0.hasPrefix(#"{"n""#) }
        }
        #expect(try texts("count.example.net") == [#"{"n":1}"#])
        #expect(try texts("Talk.example.org") == [#"{"n":3}"#])
        let fault = #expect(throws: IngestError.self) { try source(entries, site: "else.example").allDrafts() }
        #expect(fault?.code == .nothingFits)
    }
}
