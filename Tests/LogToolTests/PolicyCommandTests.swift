import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// What a log's policy keeps, by the command line. `CompactionModelTests` compares random policies with a model.
@Suite struct PolicyCommandTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A log of forty messages, of which each answers the one before, and the last five are deleted.
    private func makeLog() throws {
        try folder.makeThreads(messages: 40, isLarge: true)
        let deletions = (36...40).map { number in
            let raw =
                #"{"op":0,"s":\#(100 + number),"t":"MESSAGE_DELETE","d":{"id":"\#(1000 + number)","channel_id":"10"}}"#
            return SampleCaptures.line(200 + number, raw)
        }
        try folder.write(deletions.joined(), to: "deletions.ndjson")
        try tool("ingest", "L", "capture", "deletions.ndjson", "--kind", "ws", "--as", "guild")
    }

    @discardableResult
    private func tool(_ arguments: String..., exitCode: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == exitCode, "\(arguments): \(run.errors)")
        return run
    }

    private func policy() throws -> JSONValue {
        try JSONValue.parse(Array(tool("policy", "L", "--json").output.utf8))
    }

    /// The numbers of the messages that the state has, live and deleted.
    private func messages() throws -> (live: [Int], deleted: [Int]) {
        let state = try JSONValue.parse(Array(tool("replay", "L", "--json").output.utf8))
        func numbers(_ section: String) -> [Int] {
            (state[section]?.array ?? []).compactMap { $0["id"]?.string.flatMap { Int($0) } }.map { $0 - 1000 }
        }
        return (numbers("messages"), numbers("deletedMessages"))
    }

    @Test func aLogWithoutAPolicyHasTheDefault() throws {
        try makeLog()
        #expect(try policy() == JSONValue.object(["keep": .int(500), "parents": .bool(true)]))
        let text = try tool("policy", "L").output
        #expect(text.hasPrefix("every channel: 500 messages, 500 deleted\n"))
        #expect(text.contains("the default"))
    }

    @Test func aCompactionFollowsThePolicy() throws {
        try makeLog()
        try tool("policy", "L", "set", "--keep", "3", "--deleted", "0", "--pin", "message:1005", "--by", "ada")
        let planned = try tool("compact", "L", "--dry-run")
        #expect(planned.output.contains("keeping 3 messages, 0 deleted (and 1 pin) a channel"))
        #expect(!planned.output.contains("options of this run"))
        try tool("compact", "L")
        // Three, what the first of them answers, the pinned one and what that answers.
        let kept = try messages()
        #expect(kept.live == [4, 5, 32, 33, 34, 35])
        #expect(kept.deleted.isEmpty)
        // The texts of deleted messages are in no event any more.
        #expect(try !tool("export", "L").output.contains("message 38"))
        let export = try tool("export", "L").output
        #expect(export.contains("message 35") && export.contains("message 5 and"))
        let again = try tool("compact", "L")
        #expect(again.output.hasPrefix("nothing to drop"))
        #expect(try tool("verify", "L", "--deep").exitCode == 0)
    }

    @Test func withoutParentsTheNewestAreAllThatStays() throws {
        try makeLog()
        try tool("policy", "L", "set", "--keep", "3", "--deleted", "2", "--no-parents")
        try tool("compact", "L")
        let kept = try messages()
        #expect(kept.live == [33, 34, 35])
        #expect(kept.deleted == [39, 40])
    }

    @Test func optionsStandInForThePolicyOnce() throws {
        try makeLog()
        try tool("policy", "L", "set", "--keep", "3")
        try tool("policy", "L", "set", "--channel", "10", "--keep", "30", "--deleted", "0")
        #expect(try tool("compact", "L", "--dry-run").output.contains("35 messages → 31"))
        let run = try tool("compact", "L", "--keep", "10", "--dry-run")
        #expect(run.output.contains("by the options of this run"))
        #expect(run.output.contains("35 messages → 11"))
        // What the options do not say is as the policy has it.
        #expect(run.output.contains("5 deleted texts"))
        let json = try JSONValue.parse(
            Array(tool("compact", "L", "--keep", "10", "--dry-run", "--json").output.utf8)
        )
        #expect(json["keep"] == .int(10))
        #expect(
            json["policy"]?.canonicalText
                == #"{"keep":10,"parents":true,"rules":[{"channel":"10","deleted":0,"source":"guild"}]}"#
        )
        #expect(try policy()["keep"] == .int(3))
    }

    @Test func ageCountsFromTheLogsLastEvent() throws {
        try makeLog()
        // All were made at the start of the capture, and its last event came four minutes later.
        for (age, count) in [("239s", 1), ("240s", 35)] {
            let run = try tool("compact", "L", "--keep", "1", "--keep-within", age, "--json", "--dry-run")
            let channels = try JSONValue.parse(Array(run.output.utf8))["channels"]?.array
            // Alone it stays with what it answers.
            #expect(channels?.first?["after"] == .int(count == 1 ? 2 : count), "\(age)")
        }
    }

    @Test func whatIsSetIsChangedStepByStep() throws {
        try makeLog()
        try tool("policy", "L", "set", "--keep-within", "90d", "--by", "ada")
        try tool("policy", "L", "set", "--source", "guild", "--keep", "7")
        try tool("policy", "L", "set", "--channel", "guild/10", "--deleted", "1")
        try tool("policy", "L", "set", "--pin", "channel:general", "--pin", "message:1001")
        var document = try policy()
        #expect(document["keepWithin"] == .int(7_776_000))
        #expect(
            document["rules"]?.canonicalText
                == #"[{"keep":7,"source":"guild"},{"channel":"10","deleted":1,"source":"guild"}]"#
        )
        #expect(document["pins"]?.canonicalText == #"["channel:guild/10","message:guild/10/1001"]"#)
        let text = try tool("policy", "L").output
        #expect(text.contains("every channel: 500 messages, all of the last 90d, 500 deleted"))
        #expect(text.contains("every channel of guild: 7 messages"))
        #expect(text.contains("channel:guild/10: 1 deleted"))
        try tool("policy", "L", "set", "--channel", "guild/10", "--inherit")
        try tool("policy", "L", "set", "--unpin", "channel:guild/10", "--keep-within", "0s")
        document = try policy()
        #expect(document["rules"]?.canonicalText == #"[{"keep":7,"source":"guild"}]"#)
        #expect(document["pins"]?.canonicalText == #"["message:guild/10/1001"]"#)
        // A policy that stays the same appends nothing.
        let before = try tool("root", "L").output
        try tool("policy", "L", "set", "--source", "guild", "--keep", "7")
        #expect(try tool("root", "L").output == before)
        try tool("policy", "L", "set", "--reset")
        #expect(try policy()["keep"] == .int(500))
        #expect(try policy()["pins"] == nil)
        // A policy travels with its log.
        try tool("policy", "L", "set", "--keep", "12")
        try tool("export", "L", "-o", "L.ndjson")
        try tool("import", "L2", "L.ndjson")
        #expect(try tool("policy", "L2", "--json").output == tool("policy", "L", "--json").output)
    }

    @Test func whatIsSetAtOnceIsAllKept() throws {
        try makeLog()
        let path = folder.path("L")
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                let store = try EventStore.open(at: path)
                let pin = EntityReference(kind: .message, parts: ["guild", "10", String(1001 + number)])
                try RetentionPolicy.change(in: store, isReset: false, by: nil, at: Timestamp(seconds: 1_900_000_000)) {
                    $0.pins.insert(pin)
                }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try policy()["pins"]?.array?.count == 8)
    }

    @Test(arguments: [
        ["--keep", "3"], ["drop"], ["set"], ["set", "--keep", "-1"], ["set", "--keep-within", "soon"],
        ["set", "--keep-within", "5ms"], ["set", "--source", "guild"], ["set", "--inherit"],
        ["set", "--source", "guild", "--channel", "10", "--keep", "1"], ["set", "--keep", "1", "--by", ""],
        ["set", "--pin", "item:x"],
    ])
    func whatMeansNothingEndsWith2(words: [String]) throws {
        try makeLog()
        #expect(try ToolRun.run(["policy", "L"] + words, in: folder).exitCode == (words.contains("item:x") ? 1 : 2))
        #expect(try policy()["act"] == nil)
    }

    @Test(arguments: [
        ["set", "--pin", "message:9"], ["set", "--unpin", "message:1001"],
        ["set", "--source", "nobody", "--keep", "1"],
        ["set", "--channel", "nowhere", "--keep", "1"],
    ])
    func whatTheLogDoesNotHaveEndsWith1(words: [String]) throws {
        try makeLog()
        #expect(try ToolRun.run(["policy", "L"] + words, in: folder).exitCode == 1)
        #expect(try policy()["act"] == nil)
    }

    /// What a later version means by a policy, this one cannot know; it drops nothing then.
    @Test(arguments: [
        #"{"keep":3,"parents":true,"forever":true}"#, #"{"keep":-1,"parents":true}"#, #"{"keep":3}"#, "no",
        #"{"keep":3,"parents":true,"pins":["message:1001"]}"#, #"{"parents":true,"rules":[{"keep":1}]}"#,
    ])
    func aPolicyOfAnotherFormStopsACompaction(payload: String) throws {
        try makeLog()
        let store = try EventStore.open(at: folder.path("L"))
        _ = try store.appendAct(
            try EventKind("logtool.policy/1"),
            attributes: [Attributes.Pair(name: "sets", value: "policy")],
            payload: Array(payload.utf8),
            at: Timestamp(seconds: 1_900_000_000)
        )
        let before = try tool("events", "L", "--jsonl").output
        let run = try tool("compact", "L", "--keep", "3", exitCode: 2)
        #expect(run.errors.contains("--reset"))
        #expect(try tool("events", "L", "--jsonl").output == before)
        try tool("policy", "L", exitCode: 2)
        try tool("policy", "L", "set", "--reset", "--keep", "3")
        try tool("compact", "L")
        #expect(try messages().live == [32, 33, 34, 35])
    }
}
