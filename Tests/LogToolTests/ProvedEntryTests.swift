import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// A check of proved entries reads them out of the events again: nothing that is shown is taken on trust.
@Suite struct ProvedEntryTests {
    let folder: TemporaryDirectory

    /// Sequences: 3 and 4 two messages, 5 the first is edited, 6 the second deleted.
    init() throws {
        folder = try TemporaryDirectory()
        let edit =
            #"{"op":0,"s":9,"t":"MESSAGE_UPDATE","d":{"id":"1001","channel_id":"10","author_id":"7","#
            + #""author_username":"ada","content":"we agreed on five","created_at":"2026-01-01T00:00:00Z","#
            + #""edited_at":"2026-01-02T00:00:00Z"}}"#
        let delete = #"{"op":0,"s":10,"t":"MESSAGE_DELETE","d":{"id":"1002","channel_id":"10"}}"#
        var frames = SampleCaptures.gateway(messages: 0)
        frames += SampleCaptures.line(2, SampleCaptures.message(1, content: "we agreed on four"))
        frames += SampleCaptures.line(3, SampleCaptures.message(2, content: "a promise"))
        frames += SampleCaptures.line(60, edit) + SampleCaptures.line(61, delete)
        try folder.write(frames, to: "c.ndjson")
        _ = try tool("ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild")
    }

    @Test(arguments: [
        ("we agreed on five", "we agreed on six", "after.content is \"we agreed on six\", and the events say"),
        ("we agreed on four", "we agreed on two", "before.content is \"we agreed on two\", and the events say"),
        ("a promise", "no promise", "before.content is \"no promise\", and the events say \"a promise\""),
        (#""by":"7""#, #""by":"8""#, "by is \"8\", and the events say \"7\""),
        (#""change":"edited""#, #""change":"deleted""#, "change is \"deleted\", and the events say \"edited\""),
        (#""change":"deleted""#, #""change":"edited""#, "change is \"edited\", and the events say \"deleted\""),
        ("message:guild/10/1001", "message:guild/10/1002", "its proof does not show that the event changed"),
        ("message:guild/10/1002", "message:guild/11/1002", "its proof does not show that the event changed"),
        (#""remoteTime":"2026-01-02"#, #""remoteTime":"2026-01-03"#, "remoteTime is \"2026-01-03"),
        (#""authorName":"ada""#, #""authorName":"eve""#, "before.authorName is \"eve\""),
    ])
    func anAlteredLineOfAnAuditDoesNotHold(text: String, other: String, reason: String) throws {
        let lines = try tool("audit", "L", "--jsonl", "--prove").output
        let range = try #require(lines.range(of: text))
        let check = try ToolRun.run(
            ["prove", "--check", "-"],
            in: folder,
            input: Data(lines.replacingCharacters(in: range, with: other).utf8)
        )
        #expect(check.exitCode == 1)
        #expect(check.errors.contains(reason), "\(check.errors)")
    }

    @Test(arguments: [
        (#""content":"we agreed on five""#, #""content":"we agreed on six""#), (#""by":"7""#, #""by":"8""#),
        (#""change":"edited""#, #""change":"restored""#), ("message:guild/10/1001", "message:guild/10/1002"),
    ])
    func anAlteredHistoryDoesNotHold(text: String, other: String) throws {
        let document = try tool("history", "L", "message:1001", "--json", "--prove").output
        let range = try #require(document.range(of: text))
        try folder.write(document.replacingCharacters(in: range, with: other), to: "p.json")
        #expect(try tool("prove", "--check", "p.json").exitCode == 1)
    }

    @Test func theProofOfADeleteHasTheEventWithTheLastText() throws {
        let line = try tool("audit", "L", "--deletes", "--jsonl", "--prove").output
        let basis = try JSONValue.parse(line)["basis"]?.array
        #expect(basis?.map { $0["sequence"]?.string } == ["4"])
        let check = try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(line.utf8))
        #expect(check.exitCode == 0)
        #expect(check.output.hasPrefix("holds: "))
        #expect(!check.output.contains("not covered: before"))
    }

    /// What a decoder file keeps of one event and reads in another is in the proof of the other.
    @Test func aProofHasTheEventsWhoseValuesItsEventReads() throws {
        let file = #"""
            decoder: rooms/1
            rules:
            - {when: {/type: people}, each: /people, do: [{keep: {name: /name}, of: /id}]}
            - {when: {/type: history, dir: out}, keep: {room: /room}, of: /request}
            - when: {/type: answer}
              each: /posts
              do:
              - replace: message
                at: {channel: {kept: room, of: ^/request}, id: /id}
                with: {author: /by, authorName: {kept: name, of: /by}, content: /text}
            samples:
            - {payload: '{}', gives: '[]'}

            """#
        let payloads = [
            ("in", #"{"type":"people","people":[{"id":"u1","name":"Ada"},{"id":"u2","name":"Bo"}]}"#),
            ("out", #"{"type":"history","room":"lab","request":7}"#),
            ("in", #"{"type":"answer","request":7,"posts":[{"id":"1","by":"u1","text":"hi"}]}"#),
            ("in", #"{"type":"answer","request":7,"posts":[{"id":"1","by":"u1","text":"hello"}]}"#),
        ]
        let lines = payloads.enumerated().map { place, payload in
            let raw = JSONValue.string(payload.1).text
            return #"{"t_ms":\#(1_767_225_600_000 + place),"dir":"\#(payload.0)","raw":\#(raw)}"#
        }
        try folder.write(lines.joined(separator: "\n"), to: "rooms.ndjson")
        try folder.write(file, to: "rooms.decoder.yaml")
        let command = "ingest R capture rooms.ndjson --kind ws --as app --decoder rooms.decoder.yaml"
        _ = try ToolRun.run(command.split(separator: " ").map(String.init), in: folder)
        let document = try tool("history", "R", "message:1", "--json", "--prove").output
        #expect(document.contains("hello") && document.contains("Ada"))
        let check = try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(document.utf8))
        #expect(check.exitCode == 0, "\(check.output) \(check.errors)")
        let forged = document.replacingOccurrences(of: #""authorName":"Ada""#, with: #""authorName":"Eve""#)
        #expect(forged != document)
        #expect(try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(forged.utf8)).exitCode == 1)
    }

    /// A line cannot say of its own members that they are not covered.
    @Test(arguments: ["after.content", "after", "change", "entity", "by", "sequence", "nonsense"])
    func aListOfWhatIsNotCoveredIsNotTaken(member: String) throws {
        let line = try tool("audit", "L", "--edits", "--jsonl", "--prove").output
        let forged = line.replacingOccurrences(of: "we agreed on five", with: "we agreed on six")
        for text in [line, forged] {
            var object = try #require(try JSONValue.parse(text).object)
            object["notCovered"] = .array([.string(member)])
            let check = try ToolRun.run(
                ["prove", "--check", "-"],
                in: folder,
                input: Data(JSONValue.object(object).text.utf8)
            )
            #expect(check.exitCode == 1, "\(check.output)")
        }
    }

    /// The end of a channel or a guild ends the messages in it: the proof has the events that put them there.
    @Test(arguments: [
        #"{"op":0,"s":9,"t":"CHANNEL_DELETE","d":{"id":"10","guild_id":"1"}}"#,
        #"{"op":0,"s":9,"t":"GUILD_DELETE","d":{"id":"1"}}"#,
    ])
    func theEndOfAChannelOrGuildIsProvedOfItsMessages(end: String) throws {
        let frames = SampleCaptures.gateway(messages: 3) + SampleCaptures.line(90, end)
        try folder.write(frames, to: "end.ndjson")
        _ = try tool("ingest", "E", "capture", "end.ndjson", "--kind", "gateway", "--as", "guild")
        let audit = try tool("audit", "E", "--deletes", "--jsonl", "--prove").output
        let lines = audit.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        let history = try tool("history", "E", "message:1002", "--json", "--prove").output
        for text in lines + [history] {
            #expect(!text.contains("notCovered"))
            let check = try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(text.utf8))
            #expect(check.exitCode == 0, "\(check.errors)")
            #expect(!check.output.contains("entity") && !check.output.contains("before"), "\(check.output)")
            for (one, other) in [("message:guild/10/100", "message:guild/11/100"), ("message 2", "message 4")]
            where text.contains(one) {
                let forged = text.replacingOccurrences(of: "\"\(one)", with: "\"\(other)")
                let refused = try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(forged.utf8))
                #expect(refused.exitCode == 1, "\(one)")
            }
        }
    }

    @Test func whatNoProvedEventSaysIsNamed() throws {
        let line = try tool("audit", "L", "--deletes", "--jsonl", "--prove").output
        var object = try #require(try JSONValue.parse(line).object)
        object["basis"] = nil
        object["by"] = .string("eve")
        let input = Data(JSONValue.object(object).text.utf8)
        let people = try ToolRun.run(["prove", "--check", "-"], in: folder, input: input)
        #expect(people.exitCode == 0)
        #expect(people.output.contains("not covered: before of entry 1\n"))
        #expect(people.output.contains("not covered: by of entry 1\n"))
        let answer = try JSONValue.parse(
            try ToolRun.run(["prove", "--check", "-", "--json"], in: folder, input: input).output
        )
        let members = answer["notCovered"]?.array?.first?["members"]?.array?.compactMap(\.string)
        #expect(members.map(Set.init) == ["before", "by"])
        #expect(try tool("help", "prove").output.contains("not covered"))
    }

    @Test func whatStandsAroundTheEntriesIsNotCovered() throws {
        let found = try tool("history", "L", "--match", "promise", "--json", "--prove").output
        let check = try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(found.utf8))
        #expect(check.exitCode == 0)
        #expect(check.output.contains("not covered: holds of entry 1\n"))
        #expect(check.output.hasSuffix("not covered: what other events say of the same things\n"))
        let other = found.replacingOccurrences(of: "message:guild/10/1002", with: "message:guild/10/1001")
        let forged = try ToolRun.run(["prove", "--check", "-"], in: folder, input: Data(other.utf8))
        #expect(forged.exitCode == 1)
    }

    @Test func aProofWithoutItsEventProvesNoEntry() throws {
        let line = try tool("audit", "L", "--deletes", "--jsonl", "--prove").output
        var object = try #require(try JSONValue.parse(line).object)
        var proof = try #require(object["proof"]?.object)
        (proof["event"], proof["leaf"], proof["salt"]) = (nil, nil, nil)
        object["proof"] = .object(proof)
        let check = try ToolRun.run(
            ["prove", "--check", "-"],
            in: folder,
            input: Data(JSONValue.object(object).text.utf8)
        )
        #expect(check.exitCode == 1)
        #expect(check.errors.contains("it has no event, only a leaf hash"))
    }

    private func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    // MARK: Random logs

    /// Every member of every line of a random log of each app is altered in turn. The check says no, or names the member
    /// as not covered.
    @Test(arguments: ["retrocast", "sidebar", "vibechannel", "vibestatus", "punchlist"])
    func noAlteredMemberOfARandomLogGetsAFalseYes(app: String) throws {
        let stream = EventStream(of: try EventStream.lists(of: app), seed: 4_301, mutatingBytes: false)
        let (refused, open) = try Self.alter(TemporaryLog(stream.events.map(\.draft)), app)
        #expect(refused > open * 2, "nearly all that is shown is covered")
    }

    /// Entries that tell only what changed, and things of which the log says more than a proof has room for.
    @Test(arguments: ["a large row", "a large task", "a task behind others", "a member with many roles"])
    func noAlteredMemberOfALargeThingGetsAFalseYes(name: String) throws {
        var traffic = CostTraffic()
        let long = String(repeating: "long ", count: 1_000)
        switch name {
        case "a large row":
            traffic.row("INSERT", #"{"id":"a","long":"\#(long)","n":0,"m":0}"#)
            for number in 1...12 {
                traffic.row("UPDATE", #"{"id":"a","n":\#(number),"m":\#(number / 3)}"#)
                if number == 6 { traffic.row("UPDATE", #"{"id":"a","deleted_at":"2026-02-01T00:00:00Z"}"#) }
            }
        case "a member with many roles":
            traffic.member(5, roles: Array(0..<100))
            for number in 0..<12 {
                traffic.dispatch("GUILD_ROLE_DELETE", #"{"guild_id":"9","role_id":"\#(number)"}"#)
            }
        default:
            for number in 0..<2 { traffic.task("INSERT", number, createdAt: number) }
            let column = name == "a large task" ? #","long":"\#(long)""# : ""
            traffic.row("INSERT", #"{"id":"z","title":"t","status":"completed","n":0\#(column)}"#, table: "tasks")
            for number in 1...12 {
                let value = number % 4 == 0 ? "null" : "\(number)"
                traffic.row("UPDATE", #"{"id":"z","n":\#(value),"m":\#(number / 3)}"#, table: "tasks")
            }
        }
        _ = try Self.alter(TemporaryLog(traffic.events.map { try $0.draft() }), name)
    }

    /// Alters every member of every line in turn; how many alterations were refused, and how many of members that are not
    /// covered.
    private static func alter(_ log: TemporaryLog, _ name: String) throws -> (refused: Int, open: Int) {
        let lines = try Self.lines(of: log, count: Self.lineCount)
        try #require(lines.count > 4)
        var (refused, open) = (0, 0)
        for line in lines {
            let whole = try #require(Self.check(line))
            #expect(whole.holds, "\(whole.reason)")
            let uncovered = whole.open.flatMap(\.members)
            for mutation in Self.mutations(of: line) {
                let check = try #require(Self.check(mutation.line))
                if !check.holds {
                    refused += 1
                    continue
                }
                open += 1
                let named = check.open.flatMap(\.members) + uncovered
                #expect(
                    named.contains { Self.isSame($0, mutation.member) },
                    "\(name): \(mutation.member) of \(JSONValue.object(line).text)"
                )
            }
        }
        print("\(name): \(lines.count) lines, \(refused) alterations refused, \(open) of members that are not covered")
        return (refused, open)
    }

    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
    private static let lineCount = isLong ? 400 : 16

    /// Lines of `audit` and `history` as the commands make them, with their proofs.
    private static func lines(of log: TemporaryLog, count: Int) throws -> [JSONObject] {
        try log.store.read { session in
            let state = try Replay.logState(of: session)
            var lines: [JSONObject] = []
            let surroundings = Surroundings(in: state)
            try state.forEachChange(
                of: AuditOptions.auditable,
                where: { _ in true },
                last: count,
                earlier: EntryProof.basisMax,
                includes: { _ in true }
            ) { lines.append(try AuditLine($0, provedWithin: surroundings, in: session).json) }
            var histories: [JSONObject] = []
            try state.forEachHistory { thing, entries in
                guard histories.count < count else { return }
                for (place, shown) in HistoryPrinter.objects(of: thing, entries).enumerated().suffix(2) {
                    let proof = try EntryProof(
                        of: shown,
                        of: thing,
                        at: entries[place].sequence,
                        after: entries[..<place].suffix(EntryProof.basisMax).map(\.sequence),
                        within: surroundings,
                        in: session
                    )
                    var line = shown
                    line["entity"] = .string(thing.description)
                    for member in try proof.members().members { line[member.name] = member.value }
                    histories.append(line)
                }
            }
            return lines + histories
        }
    }

    private static func check(_ line: JSONObject) -> ProvedEntries? {
        ProvedEntries(Array(JSONValue.object(line).text.utf8), forEnvelope: false, read: EntryProof.check)
    }

    /// A member is named by itself, by what it is part of, or by a part.
    private static func isSame(_ named: String, _ member: String) -> Bool {
        let name = named.split(separator: " ").first.map(String.init) ?? named
        return name == member || member.hasPrefix(name + ".") || name.hasPrefix(member + ".") || name == "entity"
    }

    private struct Mutation {
        let member: String
        let line: JSONObject
    }

    /// The line with each member altered, each taken away, and a member too many.
    private static func mutations(of line: JSONObject) -> [Mutation] {
        var shown = line
        for name in EntryReading.proofMembers { shown[name] = nil }
        let altered = mutations(of: shown, within: "").map { member, object in
            var whole = object
            for name in EntryReading.proofMembers { whole[name] = line[name] }
            return Mutation(member: member, line: whole)
        }
        var more = line
        more["verdict"] = .string("guilty")
        // Whoever forges a member also lists it, and all others, as not covered.
        let listed = altered.map { mutation in
            var whole = mutation.line
            let names = shown.members.map(\.name) + [mutation.member]
            whole["notCovered"] = .array(Set(names).sorted().map { .string($0) })
            return Mutation(member: mutation.member, line: whole)
        }
        return altered + listed + [Mutation(member: "verdict", line: more)]
    }

    private static func mutations(of object: JSONObject, within path: String) -> [(member: String, object: JSONObject)]
    {
        var found: [(String, JSONObject)] = []
        for member in object.members {
            let name = path + member.name
            var altered = object
            altered[member.name] = other(than: member.value)
            found.append((name, altered))
            // Without it less is shown, nothing where it is empty, and of how long a status lasted only neighbours tell.
            if name != "dwellMilliseconds", name != "entity", member.value.object?.members.isEmpty != true {
                altered[member.name] = nil
                found.append((name, altered))
            }
            guard let inner = member.value.object else { continue }
            for (part, mutated) in mutations(of: inner, within: name + ".") {
                altered[member.name] = .object(mutated)
                found.append((part, altered))
            }
        }
        return found
    }

    private static func other(than value: JSONValue) -> JSONValue {
        switch value {
        case .null: .bool(true)
        case .bool(let truth): .bool(!truth)
        case .number: .string("another")
        case .string(let text): .string(text + "0")
        case .array(let values): .array(values + [.string("more")])
        case .object: .string("another")
        }
    }
}
