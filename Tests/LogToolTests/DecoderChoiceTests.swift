import EventLog
import Foundation
import JSON
import Projections
import TestSupport
import Testing

/// Which decoder file reads a source: the one in force, another for one command, and what a compaction leaves of the choice.
@Suite struct DecoderChoiceTests {
    private static let file = """
        decoder: room/1
        rules:
        - replace: message
          at: {channel: /room, id: /id}
          with: {author: /by, content: /text}
        samples:
        - payload: '{"room":"r","id":"1","by":"a","text":"t"}'
          gives: '[{"message":{"channel":"r","id":"1","author":"a","content":"t"}}]'
        """
    /// Takes the text for the author.
    private static let other = file.replacing("author: /by", with: "author: /text")
        .replacing(#""author":"a""#, with: #""author":"t""#)

    private let folder: TemporaryDirectory
    private let log: String
    private let paths: (file: String, other: String)

    init() throws {
        folder = try TemporaryDirectory()
        log = folder.path("bug.eventlog")
        paths = (folder.path("room.decoder.yaml"), folder.path("other.decoder.yaml"))
        try Data(Self.file.utf8).write(to: URL(filePath: paths.file))
        try Data(Self.other.utf8).write(to: URL(filePath: paths.other))
    }

    @discardableResult
    private func run(_ arguments: String..., fails code: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == code, "\(arguments): \(run.output) \(run.errors)")
        return run
    }

    private func record(_ ids: Range<Int>, as source: String = "chat", text: String = "t") throws {
        let lines = ids.map { id in
            let payload = JSONValue.string(#"{"room":"r","id":"\#(id)","by":"ada","text":"\#(text)\#(id)"}"#)
                .canonicalText
            return #"{"t_ms":\#(1_767_225_600_000 + id * 1000),"dir":"in","raw":\#(payload)}"#
        }
        let path = folder.path("\(source)-\(text)\(ids.lowerBound).ndjson")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        try run("ingest", log, "capture", path, "--kind", "ws", "--as", source)
    }

    private func author(_ arguments: String...) throws -> String? {
        let state = try JSONValue.parse(try ToolRun.run(arguments, in: folder).output)
        return state["messages"]?.array?.first?["author"]?.string
    }

    /// What a compaction kept of what it dropped has the reading of the file in force then (C18).
    @Test func afterACompactionAnotherFileIsRefused() throws {
        try record(1..<900)
        try run("decoder", log, "set", "chat", paths.file)
        // Nothing was dropped yet.
        try run("decoder", log, "set", "chat", paths.other)
        try run("decoder", log, "set", "chat", paths.file)
        try run("compact", log, "--keep", "2")
        let digest = try run("replay", log, "--digest").output
        for arguments in [["set", "chat", paths.other], ["unset", "chat"]] {
            let refused = try ToolRun.run(["decoder", log] + arguments, in: folder)
            #expect(refused.exitCode == 4)
            #expect(refused.errors.contains("a compaction dropped events of it that room/1 ("))
            #expect(refused.errors.contains("--force"))
        }
        try run("replay", log, "--decoder", paths.other, fails: 4)
        try run("decoder", log, "set", "chat", paths.file)
        #expect(try run("replay", log, "--digest").output == digest)

        // The refusal comes before anything is recorded.
        try record(2000..<2001, as: "else")
        let lines = folder.path("chat-t1.ndjson")
        let head = try run("root", log, "--json").output
        try run("ingest", log, "capture", lines, "--kind", "ws", "--as", "chat", "--decoder", paths.other, fails: 4)
        #expect(try run("root", log, "--json").output == head)

        // A copy by export refuses it, too.
        try run("export", log, "-o", folder.path("log.jsonl"))
        try run("import", folder.path("copy.eventlog"), folder.path("log.jsonl"))
        try run("decoder", folder.path("copy.eventlog"), "set", "chat", paths.other, fails: 4)

        try run("decoder", log, "set", "chat", paths.other, "--force")
        #expect(try author("replay", log, "--json") == "t898")
        // The file by which the dropped events were read needs no force.
        try run("decoder", log, "set", "chat", paths.file)
        #expect(try run("replay", log, "--digest", "--source", "chat").exitCode == 0)
        #expect(try author("replay", log, "--json") == "ada")
    }

    /// Of a source that nothing reads, a compaction drops nothing: the first file is free.
    @Test func aSourceThatNothingReadIsFree() throws {
        try record(1..<9)
        try record(1000..<1900, as: "read")
        try run("decoder", log, "set", "read", paths.file)
        try run("compact", log, "--keep", "2")
        try run("decoder", log, "set", "chat", paths.other)
        try run("decoder", log, "set", "read", paths.other, fails: 4)
        // A second compaction, of other events, forgets nothing of the first.
        try record(2000..<2900)
        try run("compact", log, "--keep", "2")
        try run("decoder", log, "set", "read", paths.other, fails: 4)
        try run("decoder", log, "set", "chat", paths.file, fails: 4)
    }

    /// An act that comes while a compaction runs stops it.
    @Test func anActThatComesBetweenStopsACompaction() throws {
        try record(1..<9)
        let store = try EventStore.open(at: log)
        let source = try SourceName("chat")
        try Decoders.set(try DecoderFile(Self.file), for: source, in: store, at: Timestamp(seconds: 1_800_000_000))
        var isSet = false
        #expect {
            try Compaction.run(
                store,
                policy: RetentionPolicy(messagesPerChannel: 2),
                now: Timestamp(seconds: 1_900_000_000)
            ) { _, _ in
                if isSet { return }
                isSet = true
                _ = try? Decoders.set(
                    try DecoderFile(Self.other),
                    for: source,
                    in: store,
                    at: Timestamp(seconds: 1_800_000_001)
                )
            }
        } throws: { "\($0)".contains("came after the decision at 9") }
        #expect(isSet)
        #expect(try author("replay", log, "--json") == "t1")
    }

    /// A file for one command changes neither the log nor what is kept beside it.
    @Test func aFileStandsInForOneCommand() throws {
        try record(1..<9)
        #expect(try run("replay", log, "--decoder", paths.file).output.contains("ada: t1"))
        try run("decoder", log, "set", "chat", paths.file)
        try record(8..<9, text: "again")
        let head = try run("root", log, "--json").output
        #expect(try author("replay", log, "--json", "--decoder", paths.other) == "t1")
        #expect(try author("replay", log, "--json", "--decoder", "chat=\(paths.other)") == "t1")
        #expect(try author("replay", log, "--json") == "ada")
        let document = try JSONValue.parse(try run("replay", log, "--json", "--decoder", paths.other).output)
        #expect(document["decoders"]?["chat"]?["sha256"]?.string == (try DecoderFile(Self.other)).hash.hex)
        #expect(try run("root", log, "--json").output == head)

        // Every command that reads a state follows it.
        #expect(try run("history", log, "message:chat/r/1", "--decoder", paths.other).output.contains("t1"))
        #expect(try run("audit", log, "--decoder", paths.other).output.contains("again8"))
        let test = #"exists(messages[author="t4"])"#
        #expect(try run("bisect", log, "--when", test, "--decoder", paths.other).output.contains("4"))
        try run("bisect", log, "--when", test, fails: 1)
        let small = folder.path("small.eventlog")
        try run("shrink", log, "--when", test, "-o", small, "--decoder", paths.other)
        #expect(try author("replay", small, "--json") == "t4")
        let fixture = folder.path("fixture")
        try run("freeze", log, "-o", fixture, "--decoder", paths.other)
        try run("check", fixture)
        let cache = folder.path("cache.sqlite")
        try run("rebuild", log, "--to", cache, "--decoder", paths.other)
        try run("rebuild", log, "--to", cache, "--check", fails: 1)
        try run("rebuild", log, "--to", cache, "--check", "--decoder", paths.other)
        try run("diff", log, log, "--decoder", paths.other)
        try run("profiles", log, "--decoder", paths.other)
        try run("events", log, "--entity", "message:chat/r/1", "--decoder", paths.other)
    }

    private static let commands: [(command: [String], code: Int32)] = [
        (["replay"], 0), (["diff"], 0), (["bisect", "--when", "exists(messages)"], 1), (["audit"], 0),
        (["history", "message:r/1"], 1), (["shrink", "--when", "exists(messages)", "-o", "small"], 1),
        (["profiles"], 0),
    ]

    /// Every command whose answer is empty because nothing reads the log says so.
    @Test(arguments: commands) func whatNothingReadsIsTold(command: [String], code: Int32) throws {
        try record(1..<4)
        var arguments = [command[0], log] + command.dropFirst()
        if command[0] == "diff" { arguments = ["diff", log + "@1", log] }
        let told = try ToolRun.run(arguments, in: folder)
        #expect(told.exitCode == code)
        #expect(told.errors.contains("no decoder file reads source chat (ws.frame/1): it gives no state"))
        #expect(told.errors.components(separatedBy: "no decoder file reads").count == 2)
        #expect(try !ToolRun.run(arguments + ["--quiet"], in: folder).errors.contains("no decoder file"))
    }

    @Test func aFileThatMayMeanSeveralSourcesNamesOne() throws {
        try record(1..<3)
        try record(10..<12, as: "second")
        let run = try run("replay", log, "--decoder", paths.file, fails: 2)
        #expect(run.errors.contains("several sources may be meant (chat, second); write --decoder SOURCE="))
        #expect(try self.run("replay", log, "--decoder", "second=\(paths.file)").output.contains("t10"))
        try self.run("replay", log, "--decoder", "chat=\(folder.path("none.yaml"))", fails: 2)
        try self.run("history", log, "message:r/1", "--decoder", paths.file, "--json", "--prove", fails: 2)
        try self.run("decoder", log, "show", "chat", "--force", fails: 2)
    }
}
