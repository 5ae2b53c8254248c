import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

@Suite(.hangGuard) struct MCPCommandTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 60)
    }

    private static let accepted: JSONValue = .object([
        "action": .string("accept"), "content": .object(["confirm": .bool(true)]),
    ])

    @Test(
        arguments: [
            ("replay", [:], ["replay", "L", "--json"]),
            (
                "events", ["last": .int(30), "payload": .bool(true)],
                ["events", "L", "--jsonl", "-n", "30", "--payload"]
            ),
            ("diff", ["from": .string("10"), "to": .string("60")], ["diff", "L@10", "L@60", "--jsonl"]),
            (
                "sql", ["statement": .string("SELECT * FROM messages")],
                ["sql", "L", "SELECT * FROM messages", "--jsonl"]
            ),
        ] as [(String, JSONObject, [String])]
    )
    func pagesMakeUpWhatTheCommandPrints(tool: String, given: JSONObject, command: [String]) throws {
        let peer = try AgentPeer(["L", "--page-bytes", "1000"], in: folder)
        var answer = try peer.call(tool, given)
        var (text, pages) = ("", 1)
        while true {
            #expect(!answer.isError)
            #expect(answer.texts[1].utf8.count <= 1000)
            text += answer.texts[1]
            guard let cursor = answer.cursor else { break }
            answer = try peer.call(tool, ["cursor": .string(cursor)])
            pages += 1
        }
        #expect(pages > 1)
        #expect(text == (try ToolRun.run(command, in: folder)).output)
        #expect(try peer.end() == 0)
    }

    /// No text of an agent becomes an option, another log or a path.
    @Test func aTextIsNeverAnOption() throws {
        let peer = try AgentPeer(["L", "--writes-into", "."], in: folder)
        peer.confirmation = Self.accepted
        let tools = try peer.ask("tools/list")["tools"]?.array ?? []
        #expect(tools.count == AgentTool.reading.count + AgentTool.writing.count)
        for tool in AgentTool.reading + AgentTool.writing {
            for parameter in tool.parameters where parameter.kind == .string {
                for text in ["--version", "/etc/passwd"] {
                    var given: JSONObject = [parameter.name: .string(text)]
                    for other in tool.parameters where other.isRequired && other.name != parameter.name {
                        given[other.name] = .string(other.name == "name" ? "made" : "count(messages) > 1")
                    }
                    let answer = try peer.call(tool.name, given)
                    let all = answer.texts.joined()
                    #expect(!all.contains("USAGE") && !all.contains(ProgramIdentity.version), "\(tool.name) \(given)")
                    #expect(!all.contains("root:"), "\(tool.name) \(given)")
                }
            }
        }
        #expect(try peer.call("stats", ["log": .string("../L")]).isError)
        #expect(try peer.call("stats", ["other": .null]).isError)
        #expect(try peer.call("events", ["last": .string("1")]).isError)
        #expect(try peer.call("events", ["match": .string("a\u{0}b")]).isError)
    }

    @Test func whatWritesIsConfirmed() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "out"),
            withIntermediateDirectories: false
        )
        let peer = try AgentPeer(["L", "--writes-into", "out"], in: folder)
        #expect(try peer.call("freeze", ["name": .string("one")]).isError)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).isEmpty)
        #expect(peer.questions.count == 1)
        #expect(peer.questions.first?.contains("--name=one") ?? false)
        peer.confirmation = Self.accepted
        #expect(try !peer.call("freeze", ["name": .string("two"), "at": .string("20")]).isError)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")) == ["two"])
        #expect(try peer.call("freeze", ["name": .string("../three")]).isError)
        #expect(peer.questions.count == 2)

        let mute = try AgentPeer(["L", "--writes-into", "out"], in: folder, capabilities: .object([:]))
        #expect(try mute.call("freeze", ["name": .string("four")]).isError)
        let reader = try AgentPeer(["L"], in: folder)
        #expect(try reader.ask("tools/call", .object(["name": .string("freeze")]))["code"] == .int(-32602))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("out")) == ["two"])
    }

    @Test func whatIsNoRequestIsRefused() throws {
        let peer = try AgentPeer(["L"], in: folder)
        for (line, code) in [
            ("nonsense", -32700), ("[1]", -32600), (#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":7,"method":"resources/list"}"#, -32601),
            (#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ingest"}}"#, -32602),
            (String(repeating: "[", count: 5 << 20), -32700),
        ] {
            try peer.say(line)
            #expect(try peer.line()["error"]?["code"] == .int(code))
        }
        #expect(try peer.ask("ping") == .object([:]))
        #expect(try peer.end() == 0)
    }

    /// A call that nobody waits for any more is ended and gets no answer; the next one does.
    @Test func aCallIsCancelled() throws {
        let peer = try AgentPeer(["L"], in: folder)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        let call: JSONValue = .object([
            "jsonrpc": .string("2.0"), "id": .string("slow"), "method": .string("tools/call"),
            "params": .object(["name": .string("sql"), "arguments": .object(["statement": .string(endless)])]),
        ])
        try peer.say(call.canonicalText)
        try peer.say(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}"#)
        #expect(try peer.ask("ping") == .object([:]))
        #expect(try peer.end() == 0)
    }

    @Test func aLongCallIsEnded() throws {
        let peer = try AgentPeer(["L", "--timeout", "1s"], in: folder)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        let answer = try peer.call("sql", ["statement": .string(endless)])
        #expect(answer.isError)
        #expect(answer.texts.first?.contains("took longer") ?? false)
    }

    private static let python = ProcessInfo.processInfo.environment["EVENTLOG_PYTHON"] ?? "/usr/bin/python3"

    private static func status(of arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static let hasClient = (try? status(of: ["-c", "import mcp"])) == 0

    /// The client of the protocol's own authors.
    @Test(.enabled(if: hasClient, "it needs the package mcp of PyPI; EVENTLOG_PYTHON names a Python that has it"))
    func aClientOfOthersCallsTheTools() throws {
        let script = PackageRoot.url.appending(path: "Fixtures/peers/mcp_client.py").path
        let arguments = [script, try ToolRun.executable.path, folder.path("L"), folder.url.path]
        #expect(try Self.status(of: arguments) == 0)
    }
}
