#if Recorders
import Foundation
import Synchronization

@testable import Ingest

/// GitHub's REST API over a real repository, as far as a recorder asks: what it leaves out is left out here too (time
/// zones, the line ends at a message's end).
final class FakeGitHub: Sendable {
    private let path: String
    private let cache = Mutex<[String: String]>([:])

    init(_ path: String) {
        self.path = path
    }

    /// The answer to a request; the rate limit's fields are added by whoever tests them.
    func answer(_ request: ScriptedServer.Request) throws -> ScriptedServer.Answer {
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.count >= 3, parts[0] == "repos", parts[1] == "o", parts[2] == "r" else { return Self.missing }
        switch Array(parts.dropFirst(3)) {
        case []: return try Self.json(["default_branch": "main"])
        case let rest where rest.starts(with: ["git", "ref", "heads"]):
            return try ref(rest.dropFirst(3).joined(separator: "/"), request)
        case let rest where rest.count == 3 && rest[0] == "git": return try object(rest[1], rest[2])
        case ["commits"]: return try list(request)
        case let rest where rest.count == 2 && rest[0] == "compare": return try compare(rest[1])
        default: return Self.missing
        }
    }

    static let missing = ScriptedServer.Answer.text(404, #"{"message":"Not Found"}"#)

    private func git(_ arguments: String...) throws -> String {
        try GitScratch.run(["-C", path] + arguments)
    }

    private func ref(_ branch: String, _ request: ScriptedServer.Request) throws -> ScriptedServer.Answer {
        guard let tip = try? git("rev-parse", "--verify", "--quiet", "refs/heads/\(branch)") else {
            let isEmpty = try git("for-each-ref").isEmpty
            return isEmpty ? .text(409, #"{"message":"Git Repository is empty."}"#) : Self.missing
        }
        let etag = "W/\"\(tip)\""
        let headers = [
            "ETag": etag, "Cache-Control": "private, max-age=60, s-maxage=60", "Vary": "Accept, Authorization",
        ]
        if request.headers["if-none-match"] == etag { return .full(304, headers) }
        return try Self.json(["ref": "refs/heads/\(branch)", "object": ["sha": tip, "type": "commit"]], headers)
    }

    private func list(_ request: ScriptedServer.Request) throws -> ScriptedServer.Answer {
        let count = Int(request.query["per_page"] ?? "") ?? 30
        let page = Int(request.query["page"] ?? "") ?? 1
        let ids = try git(
            "rev-list",
            "--date-order",
            "--max-count=\(count)",
            "--skip=\((page - 1) * count)",
            request.query["sha"] ?? "HEAD"
        )
        return try Self.json(
            try ids.split(separator: "\n").map { id in
                let commit = try commit(String(id))
                return ["sha": String(id), "parents": commit["parents"] ?? [], "commit": commit]
            }
        )
    }

    private func object(_ kind: String, _ id: String) throws -> ScriptedServer.Answer {
        guard (try? git("cat-file", "-e", id)) != nil else { return Self.missing }
        switch kind {
        case "commits": return try Self.json(try commit(id))
        case "trees": return try Self.json(["sha": id, "tree": try tree(id), "truncated": false])
        case "blobs":
            let bytes = try bytes("blob", id)
            let content = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return try Self.json(["sha": id, "size": bytes.count, "encoding": "base64", "content": content])
        default: return Self.missing
        }
    }

    private func compare(_ range: String) throws -> ScriptedServer.Answer {
        let ends = range.components(separatedBy: "...")
        let isAhead = (try? git("merge-base", "--is-ancestor", ends[0], ends[1])) != nil
        return try Self.json(["status": isAhead ? "ahead" : "diverged"])
    }

    private func tree(_ id: String) throws -> [[String: Any]] {
        try git("ls-tree", "-l", "-z", id).split(separator: "\0").map { line in
            let fields = line.prefix { $0 != "\t" }.split(separator: " ", omittingEmptySubsequences: true)
            var entry: [String: Any] = [
                "path": String(line[line.index(after: line.firstIndex(of: "\t") ?? line.startIndex)...]),
                "mode": String(fields[0]), "type": String(fields[1]), "sha": String(fields[2]),
            ]
            if let size = Int(fields[3]) { entry["size"] = size }
            return entry
        }
    }

    private func commit(_ id: String) throws -> [String: Any] {
        let text = String(decoding: try bytes("commit", id), as: UTF8.self)
        let halves = text.components(separatedBy: "\n\n")
        let head = halves[0].components(separatedBy: "\n")
        var message = halves.dropFirst().joined(separator: "\n\n")
        while message.hasSuffix("\n") { message.removeLast() }
        func values(_ name: String) -> [String] {
            head.filter { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
        }
        return [
            "sha": id, "message": message, "tree": ["sha": values("tree")[0]],
            "parents": values("parent").map { ["sha": $0] },
            "author": Self.person(values("author")[0]), "committer": Self.person(values("committer")[0]),
            "verification": ["verified": false, "payload": NSNull()],
        ]
    }

    private static func person(_ line: String) -> [String: Any] {
        let fields = line.split(separator: " ")
        let date = Date(timeIntervalSince1970: Double(fields[fields.count - 2]) ?? 0)
        let format = ISO8601DateFormatter()
        let rest = fields.dropLast(2).joined(separator: " ")
        let name = rest.components(separatedBy: " <")[0]
        let email = rest.components(separatedBy: "<")[1].dropLast()
        return ["name": name, "email": String(email), "date": format.string(from: date)]
    }

    private func bytes(_ type: String, _ id: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-C", path, "cat-file", type, id]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Array(data)
    }

    static func json(_ value: Any, _ headers: [String: String] = [:]) throws -> ScriptedServer.Answer {
        let data = try JSONSerialization.data(withJSONObject: value)
        return .full(200, headers.merging(["Content-Type": "application/json"]) { first, _ in first }, Array(data))
    }
}

extension ScriptedServer.Answer {
    /// The same with more header fields.
    func adding(_ more: [String: String]) -> ScriptedServer.Answer {
        guard case .full(let status, let headers, let body) = self else { return self }
        return .full(status, headers.merging(more) { _, new in new }, body)
    }
}
#endif
