import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// Filters take the names that people see, and say what there is where a name fits nothing.
@Suite struct FilterNameTests {
    let folder: TemporaryDirectory

    /// Sequences: 2 the channel 10 (general), 3 and 4 the channels 11 and 12 (both off-topic), 5 and 6 messages of ada (7) and
    /// bob (8) in 10, 7 an edit by ada, 8 the delete of bob's.
    init() throws {
        folder = try TemporaryDirectory()
        var frames = SampleCaptures.gateway(messages: 0)
        for (number, id) in [(2, "11"), (3, "12")] {
            frames += SampleCaptures.line(
                number,
                #"{"op":0,"s":\#(number),"t":"CHANNEL_CREATE","d":{"id":"\#(id)","type":0,"name":"off-topic","guild_id":"1","#
                    + #""position":0,"topic":""}}"#
            )
        }
        frames += SampleCaptures.line(4, SampleCaptures.message(1, content: "a word"))
        let bob = SampleCaptures.message(2, content: "gone").replacingOccurrences(of: #""7""#, with: #""8""#)
        frames += SampleCaptures.line(5, bob.replacingOccurrences(of: "ada", with: "bob"))
        frames += SampleCaptures.line(
            6,
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","#
                + #""author_username":"ada","content":"another word","created_at":"2026-01-01T00:00:00Z","#
                + #""edited_at":"2026-01-02T00:00:00Z"}}"#
        )
        frames += SampleCaptures.line(7, #"{"op":0,"s":10,"t":"MESSAGE_DELETE","d":{"id":"1002","channel_id":"10"}}"#)
        try folder.write(frames, to: "c.ndjson")
        _ = try tool(["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"])
    }

    @Test(arguments: [
        ["events", "L", "--jsonl"], ["replay", "L", "--json"], ["replay", "L", "--step", "--jsonl"],
        ["audit", "L", "--json"],
        ["history", "L", "--match", "word", "--json"], ["history", "L", "message:1001", "--json"],
        ["diff", "L@1", "L", "--json"], ["gaps", "L", "--json"],
    ])
    func aChannelIsTakenByItsName(command: [String]) throws {
        let byID = try tool(command + ["--channel", "10"])
        #expect(!byID.output.isEmpty)
        for name in ["general", "guild/general", "channel:guild/general"] {
            let byName = try tool(command + ["--channel", name])
            #expect(byName.output == byID.output, "\(byName.errors)")
            #expect(byName.exitCode == byID.exitCode)
        }
    }

    @Test func atAPointAChannelIsTakenByItsNameThere() throws {
        let byName = try tool(["replay", "L", "--at", "5", "--channel", "general"])
        #expect(byName.output == (try tool(["replay", "L", "--at", "5", "--channel", "10"])).output)
        #expect(byName.output.contains("a word"))
    }

    @Test func shrinkAndBisectTakeTheNameToo() throws {
        let shrunk = try tool([
            "shrink", "L", "--run", "grep -q 'another word'", "--channel", "general", "-o", "Small", "--json",
        ])
        #expect(shrunk.exitCode == 0, "\(shrunk.errors)")
        let bisected = try tool(["bisect", "L", "--run", "! grep -q 'another word'", "--channel", "general", "--json"])
        #expect(bisected.output.contains(#""first":"7""#), "\(bisected.errors)")
        let wrong = try tool(["bisect", "L", "--run", "true", "--channel", "generl"])
        #expect(wrong.exitCode == 1)
        #expect(wrong.errors.contains(#"did you mean "general"?"#))
    }

    @Test(arguments: [
        ["events", "L"], ["replay", "L"], ["replay", "L", "--step"], ["audit", "L"],
        ["history", "L", "--match", "word"],
        ["history", "L", "message:1001"], ["export", "L", "-o", "x"],
    ])
    func aNameThatFitsSeveralChannelsListsThem(command: [String]) throws {
        let run = try tool(command + ["--channel", "off-topic"])
        #expect(run.exitCode == 2, "\(run.output)")
        #expect(
            run.errors.contains("several channels fit: off-topic (guild/11), off-topic (guild/12)"),
            "\(run.errors)"
        )
    }

    @Test(arguments: [
        ["events", "L"], ["replay", "L"], ["replay", "L", "--step"], ["audit", "L"],
        ["history", "L", "--match", "word"],
        ["history", "L", "message:1001"], ["export", "L", "-o", "x"],
    ])
    func aNameThatFitsNothingListsWhatThereIs(command: [String]) throws {
        let run = try tool(command + ["--channel", "generel"])
        #expect(run.exitCode == 1)
        #expect(
            run.errors.contains(
                #"find channel "generel": the log has none; there is general (guild/10), off-topic (guild/11), "#
                    + #"off-topic (guild/12); did you mean "general"?"#
            ),
            "\(run.errors)"
        )
        #expect(run.output.isEmpty)
    }

    @Test(arguments: [["--author", "ada"], ["--author", "7"], ["--by", "ada"], ["--by", "7"]])
    func aPersonIsTakenByNameAndID(options: [String]) throws {
        let lines = try tool(["audit", "L", "--jsonl"] + options).output.split(separator: "\n")
        #expect(try lines.map { try JSONValue.parse(String($0))["sequence"]?.string } == ["7"])
    }

    @Test(arguments: ["--author", "--by"]) func aPersonThatNobodyKnowsIsNoEmptyAudit(option: String) throws {
        let run = try tool(["audit", "L", option, "adda"])
        #expect(run.exitCode == 1)
        #expect(run.errors.contains(#"find author "adda": the log has none; there is "#), "\(run.errors)")
        #expect(run.errors.contains("ada (7)") && run.errors.contains("bob (8)"))
        #expect(run.output.isEmpty)
        #expect(try tool(["audit", "L", option, "adda", "--json"]).output == "[]\n")
    }

    @Test func aNameOfSeveralPeopleListsThem() throws {
        let other = SampleCaptures.message(5).replacingOccurrences(of: #""7""#, with: #""9""#)
        try folder.write(SampleCaptures.line(20, other), to: "d.ndjson")
        _ = try tool(["ingest", "L", "capture", "d.ndjson", "--kind", "gateway", "--as", "guild"])
        let run = try tool(["audit", "L", "--author", "ada"])
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(#"find author "ada": several people fit: ada (7), ada (9)"#), "\(run.errors)")
    }

    @Test func nothingIsSaidOfTheWholeLogWhereAChoiceFitsNothing() throws {
        let run = try tool(["audit", "L", "--author", "ada", "--deletes"])
        #expect(run.exitCode == 1)
        #expect(!run.output.contains("no edits"))
        #expect(run.output == "no change fits\n")
        #expect(try tool(["audit", "L", "--entity", "message:4711"]).output.isEmpty)
    }

    @Test func aDeletedMessageShowsTheNameOfItsAuthor() throws {
        #expect(try tool(["replay", "L"]).output.contains("× bob: gone"))
        #expect(try tool(["replay", "L", "--channel", "general"]).output.contains("× bob: gone"))
        #expect(try tool(["audit", "L", "--deletes"]).output.contains("bob"))
        let state = try JSONValue.parse(try tool(["replay", "L", "--json"]).output)
        #expect(state["deletedMessages"]?.array?.first?["authorName"] == nil, "the digest covers the members of a row")
    }

    private func tool(_ arguments: [String]) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }
}
