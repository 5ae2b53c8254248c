import EventLog
import Foundation
import TestSupport
import Testing

@testable import JSON

/// A chat of one's own, from a capture to threads, as docs/decoders.md has it, and what other commands make of it.
@Suite struct DecoderCommandTests {
    private let folder: TemporaryDirectory
    private let log: String

    init() throws {
        folder = try TemporaryDirectory()
        log = folder.path("bug.eventlog")
    }

    /// The blocks of a kind in the page.
    private static func blocks(_ kind: String) throws -> [String] {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/decoders.md"), encoding: .utf8)
        return page.components(separatedBy: "```\(kind)\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    @discardableResult
    private func run(_ arguments: String..., fails code: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == code, "\(arguments): \(run.output) \(run.errors)")
        return run
    }

    private func record() throws {
        try Data(try #require(Self.blocks("json").first).utf8).write(to: URL(filePath: folder.path("frames.ndjson")))
        try Data(try #require(Self.blocks("yaml").first).utf8).write(
            to: URL(filePath: folder.path("chat.decoder.yaml"))
        )
        try run("ingest", log, "capture", folder.path("frames.ndjson"), "--kind", "ws", "--as", "chat")
    }

    private func set() throws {
        try record()
        try run("decoder", log, "set", "chat", folder.path("chat.decoder.yaml"))
    }

    @Test func thePageLeadsFromACaptureToThreads() throws {
        try record()
        let before = try run("replay", log)
        #expect(before.errors.contains("no decoder file reads source chat (ws.frame/1)"))
        #expect(before.errors.contains("logtool decoder infer \(log) --source chat -o FILE"))
        #expect(before.errors.contains("logtool decoder \(log) set chat FILE"))
        let check = try run("decoder", "check", folder.path("chat.decoder.yaml"), log)
        #expect(check.output.contains("1 of 1 samples"))
        #expect(check.output.contains("takes 2, the first at 1"))
        try run("decoder", log, "set", "chat", folder.path("chat.decoder.yaml"))
        let replay = try run("replay", log)
        #expect(!replay.errors.contains("no decoder file"))
        #expect(replay.output.contains("deleted message: hi"))
        #expect(replay.output.contains("└─ bo: hello"))
        let document = try JSONValue.parse(try run("replay", log, "--json").output)
        #expect(document["decoders"]?["chat"]?["name"]?.string == "room/1")
        #expect(try run("decoder", log).output.contains("chat  room/1"))
        #expect(try run("decoder", log, "show", "chat").output == (try Self.blocks("yaml")[0]))
        let explained = try run("decoder", "explain", log, "3", "--json")
        #expect(try JSONValue.parse(explained.output)["changes"]?.array?.count == 1)
        let reads = try JSONValue.parse(try run("decoder", "explain", log, "2", "--json").output)["reads"]?.array ?? []
        #expect(reads.contains { $0["member"]?.string == "replyTo" && $0["from"]?.string == "/answers" })
        #expect(reads.contains { $0["member"]?.string == "channel" && $0["value"]?.string == "r1" })
        #expect(reads.allSatisfy { $0["line"] == .int(10) && $0["effect"]?.string == "make message" })
        #expect(try run("decoder", "explain", log, "2").output.contains("    content from /text: \"hello\""))
        #expect(try run("history", log, "message:chat/r1/a").output.contains("deleted"))
        #expect(try run("audit", log, "--deletes").output.contains("hi"))
        try run("verify", log, "--deep")
    }

    /// A file that is proposed leads to the same threads, from the capture and from the log.
    @Test func aProposedFileLeadsToThreads() throws {
        try record()
        let path = folder.path("proposed.decoder.yaml")
        let proposed = try run("decoder", "infer", folder.path("frames.ndjson"), "--source", "chat", "-o", path)
        #expect(proposed.errors.contains("looked at 3 of 3 events"))
        let document = try JSONValue.parse(try run("decoder", "infer", log, "--json").output)
        #expect(document["file"]?.string == (try String(contentsOf: URL(filePath: path), encoding: .utf8)))
        #expect(try run("decoder", "check", path, log).output.contains("2 of 2 samples"))
        try run("decoder", log, "set", "chat", path)
        let replay = try run("replay", log)
        #expect(replay.output.contains("deleted message: hi"))
        #expect(replay.output.contains("└─ bo: hello"))
        try run("decoder", "infer", log, "--source", "none", fails: 2)
        try run("decoder", "check", path, "-o", path, fails: 2)
    }

    /// A file counts at every point, and states that were kept with another are made anew.
    @Test func anotherFileReadsEveryPointAnew() throws {
        try set()
        let first = try run("replay", log, "--digest", "--at", "2").output
        let text = try Self.blocks("yaml")[0].replacing("author: /by", with: "author: /key")
        try Data(text.utf8).write(to: URL(filePath: folder.path("other.decoder.yaml")))
        try run("decoder", log, "set", "chat", folder.path("other.decoder.yaml"))
        #expect(try run("replay", log, "--digest", "--at", "2").output != first)
        try run("decoder", log, "set", "chat", folder.path("chat.decoder.yaml"))
        #expect(try run("replay", log, "--digest", "--at", "2").output == first)
        let again = try run("decoder", log, "set", "chat", folder.path("chat.decoder.yaml"))
        #expect(again.output.contains("is read so already"))
        try run("decoder", log, "unset", "chat")
        #expect(try run("replay", log, "--json").output.contains("\"messages\":[]"))
    }

    /// What is made of the log is read as the log is.
    @Test func copiesAndPartsAreReadAlike() throws {
        try set()
        let digest = try run("replay", log, "--digest").output
        try run("export", log, "-o", folder.path("log.jsonl"))
        try run("import", folder.path("imported.eventlog"), folder.path("log.jsonl"))
        try run("backup", log, folder.path("copy.eventlog"))
        for other in ["imported.eventlog", "copy.eventlog"] {
            #expect(try run("replay", folder.path(other), "--digest").output == digest)
        }
        // A part, too, is read by the file of the log.
        try run("export", log, "-o", folder.path("part.jsonl"), "--channel", "r1", "--to", "2")
        try run("import", folder.path("part.eventlog"), folder.path("part.jsonl"))
        #expect(try run("replay", folder.path("part.eventlog")).output.contains("bo: hello"))
        try run(
            "shrink",
            log,
            "--when",
            "exists(deletedMessages[content=\"hi\"])",
            "-o",
            folder.path("small.eventlog")
        )
        #expect(try run("replay", folder.path("small.eventlog")).output.contains("× hi"))
        try run("freeze", log, "-o", folder.path("fixture"))
        try run("check", folder.path("fixture"))
        let shown = folder.path("anonymous.eventlog")
        #expect(try run("anonymize", log, "-o", shown).output.contains("decoders    whole files"))
        let replay = try run("replay", shown).output
        #expect(replay.contains("└─ ") && !replay.contains("hello") && !replay.contains("ada"))
        try run(
            "shrink",
            log,
            "--when",
            "exists(deletedMessages[content=\"hi\"])",
            "--anonymize",
            "-o",
            folder.path("small-shown.eventlog")
        )
        #expect(try run("replay", folder.path("small-shown.eventlog")).output.contains("× "))
        try run("rebuild", log, "--to", folder.path("cache.sqlite"))
        #expect(try run("sql", log, "SELECT count(*) FROM messages").output.contains("1"))
    }

    /// An entry of a source that a decoder file reads is proved with the act that holds the file.
    @Test(arguments: [["history", "message:chat/r1/a", "--json"], ["audit", "--jsonl"]])
    func whatIsShownOfItIsProved(question: [String]) throws {
        try set()
        let shown = try ToolRun.run([question[0], log] + question.dropFirst() + ["--prove"], in: folder).output
        let path = folder.path("proof.json")
        try Data(shown.utf8).write(to: URL(filePath: path))
        let check = try run("prove", "--check", path, "--json")
        #expect(try JSONValue.parse(check.output)["holds"]?.bool == true)
        #expect(check.output.contains("\"decoder\""))
        #expect(shown.contains("\"ada\""))
        try Data(shown.replacing("\"ada\"", with: "\"eve\"").utf8).write(to: URL(filePath: path))
        try run("prove", "--check", path, fails: 1)
    }

    @Test func faultsAreNamed() throws {
        try record()
        let path = folder.path("bad.decoder.yaml")
        try Data("decoder: chat/1\nrules:\n- make: post\n".utf8).write(to: URL(filePath: path))
        let fault = try run("decoder", "check", path, fails: 2)
        #expect(fault.errors.contains("line 3: make takes one of message"))
        let wrong = try Self.blocks("yaml")[0].replacing("\"id\":\"a\"}}]'", with: "\"id\":\"b\"}}]'")
        try Data(wrong.utf8).write(to: URL(filePath: path))
        #expect(try run("decoder", "check", path, fails: 1).output.contains("the sample gives"))
        #expect(try run("decoder", log, "set", "chat", path, fails: 1).errors.contains("gives"))
        #expect(try run("decoder", log, "show", "chat", fails: 1).errors.contains("it has none"))
        try run("decoder", "explain", log, "1", fails: 1)
        try run("decoder", fails: 2)
        try run("decoder", log, "sett", "chat", path, fails: 2)
    }
}
