import Foundation
import Projections
import TestSupport

/// A client of `logtool mcp` that says each line itself. For one thread.
final class AgentPeer {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var rest = Data()
    private var last = 0
    /// What the server asks, and how it is answered.
    private(set) var questions: [String] = []
    var confirmation: JSONValue = .object(["action": .string("decline")])

    /// - Parameter capabilities: what the client says that it can do.
    init(
        _ arguments: [String],
        in folder: TemporaryDirectory,
        capabilities: JSONValue = .object(["elicitation": .object([:])])
    ) throws {
        process.executableURL = try ToolRun.executable
        process.arguments = ["mcp"] + arguments
        process.currentDirectoryURL = folder.url
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
        try process.run()
        let parameters: JSONValue = .object([
            "protocolVersion": .string("2025-06-18"), "capabilities": capabilities,
            "clientInfo": .object(["name": .string("test"), "version": .string("1")]),
        ])
        _ = try ask("initialize", parameters)
        try say(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    func say(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The next line that the server says.
    func line() throws -> JSONValue {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                let line = Array(rest[..<end])
                rest = Data(rest[(end + 1)...])
                return try JSONValue.parse(line)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            rest.append(more)
        }
    }

    /// Sends a request and waits for its answer, a result or an error. Answers what the server asks meanwhile.
    func ask(_ method: String, _ parameters: JSONValue = .object([:])) throws -> JSONValue {
        last += 1
        let id = JSONValue.int(last)
        let request: JSONValue = .object([
            "jsonrpc": .string("2.0"), "id": id, "method": .string(method), "params": parameters,
        ])
        try say(request.canonicalText)
        while true {
            let said = try line()
            if said["method"]?.string == "elicitation/create" {
                questions.append(said["params"]?["message"]?.string ?? "")
                let answer: JSONValue = .object([
                    "jsonrpc": .string("2.0"), "id": said["id"], "result": confirmation,
                ])
                try say(answer.canonicalText)
                continue
            }
            if said["id"] == id { return said["result"] ?? said["error"] ?? .null }
        }
    }

    /// Calls a tool; its texts, and the cursor for more.
    func call(
        _ tool: String,
        _ arguments: JSONObject = [:]
    ) throws -> (texts: [String], isError: Bool, cursor: String?) {
        let result = try ask("tools/call", .object(["name": .string(tool), "arguments": .object(arguments)]))
        return (
            result["content"]?.array?.compactMap { $0["text"]?.string } ?? [],
            result["isError"]?.bool ?? true, result["_meta"]?["eventlog/cursor"]?.string
        )
    }

    /// Closes the client's end and waits.
    func end() throws -> Int32 {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
