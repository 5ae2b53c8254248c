import Foundation
import TestSupport
import Testing

@testable import logtool

/// A HAR of an app that nobody knows, recorded whole and read by a decoder file.
@Suite struct HARRawCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.write(Self.har, to: "bug.har")
        try folder.write(Self.decoder, to: "chat.decoder.yaml")
    }

    private static let har =
        #"{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"#
        + #""request":{"method":"GET","url":"wss://talk.example.org/live"},"_webSocketMessages":["#
        + #"{"type":"receive","time":1767225601,"opcode":1,"data":"{\"type\":\"post\",\"room\":\"r1\",\"post\":{\"key\":\"a\",\"text\":\"hi\"}}"},"#
        + #"{"type":"receive","time":1767225603,"opcode":2,"data":"eyJ0eXBlIjoiZ29uZSIsInJvb20iOiJyMSIsImtleSI6ImEifQ=="}]},"#
        + #"{"startedDateTime":"2026-01-01T00:00:02.000Z","time":1,"request":{"method":"GET","url":"https://talk.example.org/api/r1"},"#
        + #""response":{"status":200,"content":{"mimeType":"application/json","text":"{\"type\":\"post\",\"room\":\"r1\",\"post\":{\"key\":\"b\",\"text\":\"from the answer\"}}"}}},"#
        + #"{"startedDateTime":"2026-01-01T00:00:00.000Z","request":{"url":"https://count.example.net/a.js"}}]}}"#

    private static let decoder = """
        decoder: chat/1
        shapes:
          message:
            id: /key
            content: /text
        rules:
        - when: {/type: post}
          make: message
          at: {channel: /room}
          from: /post
        - when: {/type: gone}
          delete: message
          at: {channel: /room, id: /key}
        samples:
        - payload: '{"type":"gone","room":"r1","key":"a"}'
          gives: '[{"messageDeleted":{"channel":"r1","id":"a"}}]'

        """

    @Test func socketAndAnswersOfAnUnknownAppBecomeAState() throws {
        let run = try ToolRun.run(["ingest", "L", "har", "bug.har", "--as", "chat"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output == "appended 4 events (1 to 4), 1 passed over\n")
        #expect(run.errors.contains("takes all of talk.example.org as it came"))
        #expect(run.errors.contains("1 entry is of other sites or routes (count.example.net)"))
        let set = try ToolRun.run(["decoder", "L", "set", "chat", "chat.decoder.yaml"], in: folder)
        #expect(set.exitCode == 0, "\(set.errors)")
        let state = try ToolRun.run(["replay", "L", "--json"], in: folder).output
        #expect(state.contains(#""content":"from the answer""#))
        #expect(state.contains(#""cause":"deleted","channel":"r1","content":"hi","id":"a""#))
        #expect(state.contains(#""issues":[]"#))
    }

    @Test func aDecoderFileIsPutInForceWithTheHAR() throws {
        let options = ["--as", "chat", "--decoder", "chat.decoder.yaml"]
        let run = try ToolRun.run(["ingest", "L", "har", "bug.har"] + options, in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try ToolRun.run(["replay", "L", "--json"], in: folder).output.contains("from the answer"))
    }

    @Test func quietSaysNothingOfTheSite() throws {
        let run = try ToolRun.run(["ingest", "L", "har", "bug.har", "--quiet"], in: folder)
        #expect(!run.errors.contains("takes all of"))
    }

    @Test func aSiteOfWhichTheFileHasNothingEndsWith1AndMakesNoLog() throws {
        let run = try ToolRun.run(["ingest", "L", "har", "bug.har", "--site", "else.example.org"], in: folder)
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("is of the site else.example.org; nothing was appended"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    @Test func siteGoesWithHARsOnly() throws {
        let run = try ToolRun.run(["ingest", "L", "capture", "bug.har", "--site", "a.example.org"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("--site goes with har only"))
    }
}
