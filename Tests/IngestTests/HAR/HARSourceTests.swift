import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite struct HARSourceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func source(_ entries: [String], kind: HARKind? = nil, keepGoing: Bool = false) throws -> HARSource {
        try source(text: SampleHAR.document(entries), kind: kind, keepGoing: keepGoing)
    }

    private func source(text: String, kind: HARKind? = nil, keepGoing: Bool = false) throws -> HARSource {
        let path = directory.path("bug.har")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return HARSource(path: path, kind: kind, name: try SourceName("s"), keepGoing: keepGoing)
    }

    private func issues(_ source: HARSource) throws -> [IngestIssue] {
        try source.all().compactMap { if case .skipped(let issue) = $0 { issue } else { nil } }
    }

    private func error(_ body: () throws -> Void) -> IngestError? {
        do {
            try body()
            return nil
        } catch {
            return error as? IngestError
        }
    }

    private static let hello = SampleHAR.message(10, #"{"op":10,"d":{"heartbeat_interval":41250}}"#)
    private static let identify = SampleHAR.message(20, #"{"op":2,"d":{"token":"ttt"}}"#, type: "send")
    private static let dispatch = SampleHAR.message(30, #"{"op":0,"s":1,"t":"X","d":{"a":"é😀\n"}}"#)

    // MARK: - WebSockets

    /// The file says that there was a connection and not what came on it: that is a gap, which a later file can take back.
    @Test func aWebSocketWithoutMessagesIsAGapUntilAFileHasThem() throws {
        let whole = SampleHAR.socket([Self.hello, Self.dispatch])
        let range = try #require(whole.range(of: #","_webSocketMessages":["#))
        let log = try TemporaryLog()
        let first = try Recorder.record(source(["\(whole[..<range.lowerBound])}"]), into: log.store)
        #expect(first.issues.map(\.reason) == ["the WebSocket's messages are not in the file"])
        let gap = try #require(try log.events().first { $0.kind == "recorder.gap/1" })
        #expect(gap.attribute("gap") == "open")
        #expect(gap.text == #"{"reason":"no messages","from":"2026-02-01T10:00:00.000000Z","closes":"file"}"#)
        // The same file again adds nothing.
        #expect(try Recorder.record(source(["\(whole[..<range.lowerBound])}"]), into: log.store).appended == 0)
        _ = try Recorder.record(source([whole]), into: log.store)
        let closed = try log.events().filter { $0.key == "\(gap.key)/closed" }
        #expect(closed.count == 1 && closed[0].attribute("gap") == "close")
        #expect(try Recorder.record(source([whole]), into: log.store).appended == 0)
    }

    @Test func aWebSocketWithMessagesHasNoGap() throws {
        let drafts = try source([SampleHAR.socket([Self.hello])]).allDrafts()
        #expect(!drafts.contains { $0.kind.rawValue == "recorder.gap/1" })
    }

    // MARK: - Playwright

    /// Playwright counts a message's time in milliseconds, or writes -1.
    @Test func timesInMillisecondsAndNoTimesAreRead() throws {
        let started = Timestamp(seconds: Int64(SampleHAR.start))
        for (time, expected) in [
            ("1769940000100.5", Timestamp(microseconds: started.microseconds + 100_500)), ("-1", started),
        ] {
            let message = #"{"type":"receive","time":\#(time),"opcode":1,"data":"{\"op\":10}"}"#
            let drafts = try source([SampleHAR.socket([message, message], time: "-1")]).allDrafts()
            #expect(drafts.map(\.kind.rawValue) == ["recorder.link/1", "gateway.frame/1", "gateway.frame/1"])
            #expect(drafts.dropFirst().map(\.recordedAt) == [expected, expected])
        }
    }

    private static func attached(_ name: String) -> String {
        SampleHAR.socket([]).replacingOccurrences(of: #","_webSocketMessages":[]"#, with: "")
            .replacingOccurrences(of: #""mimeType":"x-unknown""#, with: #""mimeType":"x-unknown","_file":"\#(name)""#)
    }

    @Test func messagesAreReadFromTheFileBesideTheHAR() throws {
        let lines = [Self.hello, "", Self.dispatch].joined(separator: "\n") + "\n"
        for (name, text) in [("a.jsonl", lines), ("b.json", "[\(Self.hello),\(Self.dispatch)]")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path(name)))
            let drafts = try source([Self.attached(name)]).allDrafts()
            let inline = try source([SampleHAR.socket([Self.hello, Self.dispatch])]).allDrafts()
            #expect(drafts == inline && drafts.count == 4)
        }
    }

    @Test func anAnswerIsReadFromTheFileBesideTheHAR() throws {
        try Data("[]".utf8).write(to: URL(fileURLWithPath: directory.path("c.json")))
        let url = "https://chat.example.org/api/users/@me/guilds"
        let inline = SampleHAR.answer(url, "[]")
        let entry = inline.replacingOccurrences(of: #""text":"[]""#, with: #""_file":"c.json""#)
        #expect(entry != inline)
        #expect(try source([entry]).allDrafts() == source([inline]).allDrafts())
    }

    /// The HAR comes from elsewhere: it names files of its own folder alone, and no link there leads out of it (C17).
    @Test func anAttachedFileLiesInTheFolderItself() throws {
        let outside = try TemporaryDirectory()
        try Data((Self.hello + "\n").utf8).write(to: URL(fileURLWithPath: outside.path("x.jsonl")))
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link.jsonl"),
            withDestinationPath: outside.path("x.jsonl")
        )
        #expect(mkfifo(directory.path("fifo.jsonl"), 0o600) == 0)
        for name in ["link.jsonl", "fifo.jsonl", "none.jsonl", "../\(outside.url.lastPathComponent)/x.jsonl", ".", ""] {
            let source = try source([Self.attached(name)])
            #expect(try source.allDrafts().map(\.kind.rawValue) == ["recorder.link/1", "recorder.gap/1"])
            #expect(try issues(source).first?.reason.contains("no file beside the HAR") == true)
        }
    }

    @Test func aLineThatIsCutOffIsNamed() throws {
        let path = directory.path("cut.jsonl")
        try Data((Self.hello + "\n" + Self.dispatch.dropLast(9)).utf8).write(to: URL(fileURLWithPath: path))
        let error = try #require(error { _ = try source([Self.attached("cut.jsonl")]).allDrafts() })
        #expect(error.code == .invalidHAR && error.object.hasSuffix("entry 1, message 2"))
        #expect(
            try source([Self.attached("cut.jsonl")], keepGoing: true).allDrafts().map(\.key?.rawValue.last) == [
                "n", "1", "e",
            ]
        )
    }

    @Test func aKindOfWhichNothingIsThereIsNamed() throws {
        let error = try #require(error { _ = try source([SampleHAR.socket([Self.hello])], kind: .sse).allDrafts() })
        #expect(error.code == .nothingFits)
        #expect(error.reason == "no entry of kind sse can be taken; nothing was appended")
        #expect(error.advice == "its entries show --kind gateway")
    }

    @Test func messagesOfAWebSocketAreFramesBetweenLinks() throws {
        let drafts = try source([SampleHAR.socket([Self.hello, Self.identify, Self.dispatch])]).allDrafts()
        #expect(
            drafts.map(\.kind.rawValue) == ["recorder.link/1"] + [String](repeating: "gateway.frame/1", count: 3) + [
                "recorder.link/1"
            ]
        )
        #expect(drafts.map { $0.attributes["dir"] } == [nil, "in", "out", "in", nil])
        #expect(drafts.map { $0.attributes["link"] } == ["open", nil, nil, nil, "close"])
        #expect(drafts.map { $0.attributes["by"] } == ["har", nil, nil, nil, "har"])
        #expect(drafts[2].text == #"{"op":2,"d":{"token":"[redacted]"}}"#)
        #expect(drafts[2].attributes["redacted"] == "1")
        #expect(drafts[3].text == #"{"op":0,"s":1,"t":"X","d":{"a":"é😀\n"}}"#)
        #expect(drafts[4].attributes["code"] == nil)
        let start = Int64(SampleHAR.start) * 1_000_000
        #expect(drafts.map(\.recordedAt.microseconds) == [0, 10_000, 20_000, 30_000, 50_000].map { start + $0 })
        let keys = drafts.map { $0.key?.rawValue ?? "" }
        #expect(Set(drafts.map { $0.attributes["connection"] ?? "" }).count == 1)
        let connection = try #require(drafts[0].attributes["connection"])
        #expect(connection.hasPrefix("\(start)-"))
        #expect(connection.utf8.count == "\(start)-12345678".utf8.count)
        #expect(keys == ["open", "1", "2", "3", "close"].map { "\(connection)/\($0)" })
    }

    @Test func mitmproxysFormHasNoEnd() throws {
        let entry = SampleHAR.socket(
            "http://127.0.0.1:8080/gateway",
            [Self.hello],
            at: "2026-02-01T11:00:00.000001+01:00",
            time: "1.25"
        )
        let drafts = try source([entry]).allDrafts()
        #expect(drafts.map { $0.attributes["link"] } == ["open", nil])
        #expect(drafts[0].recordedAt.microseconds == Int64(SampleHAR.start) * 1_000_000 + 1)
    }

    @Test func binaryDataIsBase64AndBytesThatPythonKeptAreBytes() throws {
        let binary = SampleHAR.message(40, "/wA=", opcode: "2")
        let odd = #"{"type":"receive","time":\#(SampleHAR.start),"opcode":1,"data":"x\udcff\udc80\u00e9"}"#
        let drafts = try source([SampleHAR.socket([Self.hello, binary, odd])]).allDrafts()
        #expect(drafts.first { $0.key?.rawValue.hasSuffix("/2") == true }?.payload == [0xFF, 0])
        #expect(drafts.first { $0.key?.rawValue.hasSuffix("/3") == true }?.payload == [0x78, 0xFF, 0x80, 0xC3, 0xA9])
    }

    @Test func failuresAndCloseFramesEndAConnectionAndPingsAreNothing() throws {
        let ping = SampleHAR.message(40, "", opcode: "9")
        let failure = SampleHAR.message(41, "WebSocket error", type: "error", opcode: "-1")
        let failed = try source([SampleHAR.socket([Self.hello, ping, failure])]).allDrafts()
        #expect(failed.map { $0.attributes["link"] } == ["open", nil, "close"])
        #expect(failed[2].attributes["reason"] == "the connection failed")
        let closed = try source([SampleHAR.socket([Self.hello, SampleHAR.message(41, "", opcode: "8")])]).allDrafts()
        #expect(closed.map { $0.attributes["link"] } == ["open", nil, "close"])
        #expect(closed[2].attributes["reason"] == nil)
    }

    @Test func eventsComeInTheOrderOfTheirTimesButFramesOfAConnectionStay() throws {
        let late = SampleHAR.message(5, #"{"op":11}"#)
        let first = SampleHAR.socket("wss://a.example.org/gateway", [Self.hello, Self.dispatch, late], time: "0")
        let second = SampleHAR.socket(
            "wss://b.example.org/gateway",
            [Self.identify],
            at: "2026-02-01T10:00:00.015Z",
            time: "0"
        )
        let drafts = try source([second, first]).allDrafts()
        let names = drafts.map { draft -> String in
            let isSecond = draft.attributes["connection"]?.contains("015000-") == true
            return "\(isSecond ? "b" : "a")/\(draft.key?.rawValue.split(separator: "/").last ?? "")"
        }
        #expect(names == ["a/open", "a/1", "b/open", "b/1", "a/2", "a/3"])
        #expect(drafts[5].recordedAt.microseconds == Int64(SampleHAR.start) * 1_000_000 + 5_000)
    }

    @Test func twoConnectionsOfOneInstantAndAddressHaveKeysOfTheirOwn() throws {
        let drafts = try source([SampleHAR.socket([Self.hello]), SampleHAR.socket([Self.hello])]).allDrafts()
        #expect(Set(drafts.map { $0.key?.rawValue ?? "" }).count == drafts.count)
        #expect(Set(drafts.map { $0.attributes["connection"] ?? "" }).count == 2)
    }

    // MARK: - Answers

    @Test func answersOfAGatewaysRoutesAreThoseOfItsRecorder() throws {
        let page = SampleHAR.answer("https://chat.example.org/api/v1/channels/10/messages?limit=50&token=ttt", "[]")
        let drafts = try source([SampleHAR.socket([Self.hello], time: "0"), page]).allDrafts()
        let answer = try #require(drafts.last)
        #expect(answer.kind.rawValue == "gateway.rest/1")
        #expect(answer.text == "[]")
        #expect(answer.attributes["path"] == "/api/v1/channels/10/messages?limit=50&token=[redacted]")
        #expect(answer.attributes["status"] == "200")
        #expect(answer.attributes["connection"] == drafts[0].attributes["connection"])
        #expect(answer.recordedAt.microseconds == Int64(SampleHAR.start) * 1_000_000 + 120_500)
        #expect(answer.key?.rawValue.hasSuffix("/r") == true)
    }

    @Test func rowsBearTheTimeAtWhichTheyWereAskedFor() throws {
        let rows = SampleHAR.answer("https://p.supabase.co/rest/v1/notes?select=*&apikey=kkk", #"[{"id":"n1"}]"#)
        let one = SampleHAR.answer("https://p.supabase.co/rest/v1/notes?id=eq.1", #"{"id":"n1"}"#)
        let source = try source([rows, one])
        let drafts = try source.allDrafts()
        #expect(drafts.map(\.kind.rawValue) == ["realtime.rest/1"])
        #expect(drafts[0].attributes["table"] == "notes")
        #expect(drafts[0].attributes["path"] == "/rest/v1/notes?select=*&apikey=[redacted]")
        #expect(drafts[0].recordedAt.microseconds == Int64(SampleHAR.start) * 1_000_000 + 100_000)
        #expect(try issues(source).map(\.reason) == ["the answer is no list of rows"])
    }

    @Test func recordsOfCloudKitKnowTheirPagesAndLoseTheToken() throws {
        let url = "https://api.apple-cloudkit.com/database/1/iCloud.x/production/private/records/query?ckAPIToken=kkk"
        let first = SampleHAR.answer(
            url,
            #"{"records":[{"recordName":"a"}],"continuationMarker":"m","webAuthToken":"next+token"}"#,
            method: "POST",
            asked: #"{"query":{"recordType":"Session"}}"#
        )
        let second = SampleHAR.answer(
            url,
            #"{"records":[]}"#,
            method: "POST",
            at: "2026-02-01T10:00:01Z",
            asked: #"{"query":{"recordType":"Session"},"continuationMarker":"m"}"#
        )
        let drafts = try source([first, second]).allDrafts()
        #expect(drafts.map(\.kind.rawValue) == ["cloudkit.records/1", "cloudkit.records/1"])
        #expect(drafts.map { $0.attributes["type"] } == ["Session", "Session"])
        #expect(drafts.map { $0.attributes["op"] } == ["query", "query"])
        #expect(drafts.map { $0.attributes["page"] } == ["1", "2"])
        #expect(drafts.map { $0.attributes["last"] } == [nil, "true"])
        #expect(drafts[0].text.contains(#""webAuthToken":"[redacted]""#))
    }

    @Test func whatSaysNothingOfTheStateIsPassedOverWithItsReason() throws {
        let url = "https://chat.example.org/api/v1/users/@me/guilds"
        let source = try source(
            [
                SampleHAR.answer(url, nil), SampleHAR.answer(url, "[]", status: 500),
                SampleHAR.answer(url, "[]", more: #","_fromCache":"disk""#), SampleHAR.answer(url, "", status: 0),
                SampleHAR.answer(url, "{}", method: "POST"), SampleHAR.answer(url, "<p>", type: "text/html"),
                SampleHAR.answer("data:text/plain,x", "x"), SampleHAR.answer("https://cdn.example.net/a.js", "x"),
                SampleHAR.answer(url, #"{"message":"no"}"#, status: 403),
            ]
        )
        #expect(try source.allDrafts().map { $0.attributes["status"] } == ["403"])
        let issues = try issues(source)
        #expect(
            issues.map(\.reason) == [
                "the answer's body is not in the file", "the answer has status 500 and says nothing of the state",
                "the answer came out of the browser's cache", "there was no answer",
                "4 entries are of other sites or routes (chat.example.org, cdn.example.net)",
            ]
        )
        #expect(issues.map(\.count) == [1, 1, 1, 1, 4])
        #expect(issues[0].place.hasSuffix("bug.har: entry 1"))
    }

    @Test func answersOfAnotherHostAreAnotherSitesWhereTheSocketsHostGaveAnswers() throws {
        let own = SampleHAR.answer("https://chat.example.org/api/v1/users/@me/guilds", "[1]")
        let other = SampleHAR.answer("https://else.example.org/api/v9/users/@me/guilds", "[2]")
        let socket = SampleHAR.socket([Self.hello])
        #expect(try source([socket, other, own]).allDrafts().filter { $0.kind == .gatewayREST }.map(\.text) == ["[1]"])
        #expect(try source([socket, other]).allDrafts().filter { $0.kind == .gatewayREST }.map(\.text) == ["[2]"])
    }

    // MARK: - Event streams

    @Test func aStreamsBodyIsCutIntoEventsOfOneTime() throws {
        let body = "retry: 1\n\nid: 0\ndata: {\"access_token\":\"ttt\"}\n\ndata: unfinished\n"
        let url = "https://k.example.org/subscribe/%23work"
        let drafts = try source([SampleHAR.answer(url, body, type: "text/event-stream; charset=utf-8")]).allDrafts()
        #expect(drafts.map { $0.attributes["link"] } == ["open", nil, nil, "close"])
        #expect(drafts[1].text == "retry: 1\n\n")
        #expect(drafts[2].text == "id: 0\ndata: {\"access_token\":\"[redacted]\"}\n\n")
        #expect(drafts[1...2].allSatisfy { $0.attributes["time"] == "body" && $0.kind == .serverSentEvent })
        #expect(Set(drafts[1...3].map(\.recordedAt)).count == 1)
        #expect(drafts[2].key?.rawValue.hasSuffix("/e/2") == true)
    }

    @Test func eventsThatTheBrowserListedHaveTimesAndMadeBytes() throws {
        let list =
            #"[{"time":\#(SampleHAR.start).2,"eventName":"message","eventId":"6","data":"{}"},"#
            + #"{"time":\#(SampleHAR.start).3,"eventName":"change","eventId":"","data":"a\nb"}]"#
        let entry = SampleHAR.answer(
            "https://k.example.org/subscribe/%23work",
            nil,
            type: "text/event-stream",
            more: #","_resourceType":"eventsource","_eventSourceMessages":\#(list)"#
        )
        let drafts = try source([entry]).allDrafts()
        #expect(drafts.map(\.text) == ["", "id: 6\ndata: {}\n\n", "event: change\ndata: a\ndata: b\n\n"])
        #expect(drafts[1].attributes["bytes"] == "made")
        #expect(drafts[2].recordedAt.microseconds == Int64(SampleHAR.start) * 1_000_000 + 300_000)
        #expect(drafts[2].key?.rawValue.hasSuffix("/m/2") == true)
        let sanitized = entry.replacingOccurrences(of: #","data":"{}""#, with: "")
        #expect(try issues(source([sanitized])).map(\.reason) == ["the answer's body is not in the file"])
    }

    @Test(arguments: [
        ("Gr\u{C3}\u{BC}\u{C3}\u{9F}e", "Grüße"), ("Gr\u{C3}\u{BC}\u{C3}\u{178}e", "Grüße"), ("Grüße", "Grüße"),
        ("\u{F0}\u{178}\u{152}\u{B1}", "🌱"), ("🌱 Ã¼", "🌱 Ã¼"), ("é", "é"), ("plain", "plain"),
    ])
    func aStreamThatWasReadAsLatin1IsUTF8Again(text: String, meant: String) throws {
        let url = "https://k.example.org/subscribe/%23work"
        let drafts = try source([SampleHAR.answer(url, "data: \(text)\n\n", type: "text/event-stream")]).allDrafts()
        #expect(drafts[1].text == "data: \(meant)\n\n")
    }

    // MARK: - Kinds

    @Test func severalKindsAreListedUnlessOneIsGiven() throws {
        let rows = SampleHAR.socket(
            "wss://p.supabase.co/x",
            [SampleHAR.message(1, #"{"topic":"t","event":"e","payload":{}}"#)]
        )
        let entries = [SampleHAR.socket([Self.hello]), rows]
        let refusal = error { _ = try source(entries).allDrafts() }
        #expect(refusal?.code == .unknownKind)
        #expect(refusal?.reason == "its entries fit several kinds: gateway, realtime")
        #expect(try source(entries, kind: .realtime).allDrafts().map(\.kind).contains(.gatewayFrame) == false)
        #expect(try source(entries, kind: .gateway).allDrafts().map(\.kind).contains(.realtimeFrame) == false)
        #expect(try issues(source(entries, kind: .gateway)).map(\.count) == [1])
    }

    @Test func socketsThatShowNothingAreOfTheKindThatIsGivenOrThatTheirAddressSays() throws {
        let silent = SampleHAR.message(1, "eJwDAAAAAAE=", opcode: "2")
        let entry = SampleHAR.socket("wss://chat.example.org/ws", [silent])
        #expect(try source([entry]).allDrafts().map(\.kind.rawValue).contains("ws.frame/1"))
        #expect(try source([entry], kind: .gateway).allDrafts().map(\.kind).contains(.gatewayFrame))
        let reloads = SampleHAR.socket("ws://localhost/hmr", [SampleHAR.message(1, #"{"type":"connected"}"#)])
        let drafts = try source([reloads, SampleHAR.socket([silent])]).allDrafts()
        #expect(drafts.map(\.payload).filter { !$0.isEmpty } == [[0x78, 0x9C, 3, 0, 0, 0, 0, 1]])
    }

    @Test func itemListsAreMessagesOfTheirKind() throws {
        let entry = SampleHAR.socket("ws://p.example.org/ws", [SampleHAR.message(1, #"[{"id":"1","text":"milk"}]"#)])
        #expect(try source([entry]).allDrafts().map(\.kind).contains(.itemsMessage))
    }

    // MARK: - Again

    @Test func theSameFileAndALaterExportAddOnlyWhatIsNew() throws {
        let store = try EventStore.openOrCreate(at: directory.path("log.eventlog"))
        let page = SampleHAR.answer("https://chat.example.org/api/v1/users/@me/guilds", "[]")
        let before = try source([SampleHAR.socket([Self.hello, Self.identify], time: "1"), page])
        #expect(try Recorder.record(before, into: store).appended == 4)
        let again = try Recorder.record(before, into: store)
        #expect((again.appended, again.duplicates) == (0, 4))
        let grown = try source([page, SampleHAR.socket([Self.hello, Self.identify, Self.dispatch])])
        let summary = try Recorder.record(grown, into: store)
        #expect((summary.appended, summary.duplicates) == (2, 4))
    }

    // MARK: - Secrets

    @Test func noSecretIsLeftAnywhere() throws {
        let entries = [
            SampleHAR.socket("wss://u:ppp@chat.example.org/gateway?token=qqq", [Self.hello, Self.identify]),
            SampleHAR.answer(
                "https://chat.example.org/api/v1/users/@me?apikey=qqq",
                #"{"data":{"access_token":"ttt"}}"#
            ),
        ]
        for draft in try source(entries).allDrafts() {
            let all = draft.text + draft.attributes.pairs.map(\.value).joined() + (draft.key?.rawValue ?? "")
            for secret in ["hhh", "ttt", "ppp", "qqq"] { #expect(!all.contains(secret)) }
        }
    }
}
