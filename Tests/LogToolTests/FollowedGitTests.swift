#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// `ingest git --follow`: a repository that others push to.
@Suite(.hangGuard) struct FollowedGitTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func commitsThatArePushedLaterAreRecordedAndSoIsAForcePush() async throws {
        try git("init", "--quiet", "--bare", "remote.git")
        try git("clone", "--quiet", "remote.git", "work")
        try commit("one")
        let tool = try ToolProcess(
            ["ingest", "L", "git", "remote.git", "--branch", "chat", "--as", "vibe", "--follow", "--interval", "20ms"],
            in: folder
        )
        try await wait { $0.count == 1 }
        #expect(try status().contains(#""running":true"#))
        try commit("two")
        try await wait { $0.count == 2 }
        try git("-C", "work", "reset", "--quiet", "--hard", "HEAD~1")
        try commit("three")
        try await wait { $0.last?.hasPrefix("rewrite/") == true }
        #expect(tool.end(SIGTERM).exitCode == 143)
        #expect(try keys().count == 4)
        #expect(try status().contains(#""running":false"#))
        let once = ["ingest", "L", "git", "remote.git", "--branch", "chat", "--as", "vibe"]
        let again = try ToolRun.run(once, in: folder)
        #expect(again.exitCode == 0)
        #expect(try keys().count == 4)
    }

    @Test(arguments: [
        ["git", "nowhere", "--follow"], ["sse", "http://127.0.0.1:1/", "--token-env", "NO_SUCH", "--follow"],
        ["github", "o/r", "--token-file", "nowhere", "--follow"], ["status", "nowhere", "--follow"],
        ["gateway", "ws://127.0.0.1:1/", "--token-env", "NO_SUCH", "--follow"],
        ["realtime", "ws://127.0.0.1:1/", "--table", "notes", "--api-key-env", "NO_SUCH", "--follow"],
        ["sse", "https://127.0.0.1:1/", "--ca-file", "nowhere", "--follow"],
        ["cloudkit", "iCloud.a", "--token-file", "nowhere", "--api-token-env", "NO_SUCH", "--follow"],
    ])
    func aSourceThatCannotBeUsedLeavesNoLog(arguments: [String]) throws {
        let run = try ToolRun.run(["ingest", "L"] + arguments, in: folder)
        #expect(run.exitCode == 2, "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
    }

    @Test func aRecorderThatWasKilledIsShownAsNotRunning() async throws {
        try FileManager.default.createDirectory(atPath: folder.path("d"), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: URL(filePath: folder.path("d/vibestatus-a.json")))
        let tool = try ToolProcess(["ingest", "L", "status", "d", "--as", "vibe", "--follow"], in: folder)
        try await wait { $0.contains("c1/1") }
        #expect(try status().contains(#""connected":true"#))
        #expect(tool.end(SIGKILL).exitCode == SIGKILL)
        #expect(try status().contains(#""connected":false"#))
        let text = try ToolRun.run(["status", "L"], in: folder).output
        #expect(text.contains("not running: killed while connected") && text.contains("1 open gap"), "\(text)")
        #expect(try status().contains(#""gaps":1"#))
        let gaps = try ToolRun.run(["gaps", "L"], in: folder).output.split(separator: "\n")
        #expect(gaps.count == 1 && gaps.first?.hasSuffix("to now  vibe  stopped") == true, "\(gaps)")
        // Whoever runs again says itself what it missed.
        let again = try ToolProcess(["ingest", "L", "status", "d", "--as", "vibe", "--follow"], in: folder)
        try await wait { $0.contains("gap/c2/1/closed") }
        #expect(try !ToolRun.run(["gaps", "L"], in: folder).output.contains("to now"))
        #expect(again.end(SIGTERM).exitCode == 143)
    }
}

extension FollowedGitTests {
    private func git(_ arguments: String...) throws {
        let names = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=chat"]
        let run = try ToolRun.run(["git"] + names + arguments, in: folder, program: URL(filePath: "/usr/bin/env"))
        try #require(run.exitCode == 0, "\(run.errors)")
    }

    private func commit(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.path("work/a.md")))
        try git("-C", "work", "add", "-A")
        try git("-C", "work", "commit", "--quiet", "-m", text)
        try git("-C", "work", "push", "--quiet", "--force", "origin", "HEAD:chat")
    }

    private func status() throws -> String {
        try ToolRun.run(["status", "L", "--jsonl"], in: folder).output
    }

    private func keys() throws -> [String] {
        guard let store = try? EventStore.open(at: folder.path("L")) else { return [] }
        return try store.read { session in
            var keys: [String] = []
            guard session.head > .zero else { return [] }
            try session.forEachEvent(in: SequenceNumber(1)...session.head) {
                keys.append($0.key?.rawValue ?? "")
                return true
            }
            return keys
        }
    }

    private func wait(_ condition: ([String]) -> Bool) async throws {
        while try !condition(keys()) {
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
#endif
