import Foundation
import TestSupport
import Testing

@testable import logtool

/// The way from a git repository to a state, as a person goes it.
@Suite struct GitRepositoryTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try git("init", "--quiet", "--initial-branch", "main", "chat")
        try post("general/1-ada.md", "ada", "Hello", at: "2026-01-19T09:00:00Z")
        try post("general/2-bob.md", "bob", "Hi", at: "2026-01-19T09:01:00Z", replyTo: "1-ada")
    }

    @Test func theChatIsShownAsTreesAndIngestingAgainAppendsNothing() throws {
        #expect(try tool("ingest", "L", "git", "chat", "--as", "chat", "--json").output.hasPrefix(#"{"appended":2,"#))
        #expect(try tool("ingest", "L", "git", "chat", "--as", "chat", "--json").output.hasPrefix(#"{"appended":0,"#))
        let text = try tool("replay", "L").output
        #expect(text.contains("general  2 messages, folder in chat"))
        #expect(text.contains("  2026-01-19 09:00  ada: Hello\n"))
        #expect(text.contains("  2026-01-19 09:01  └─ bob: Hi\n"))
    }

    @Test func anEditAndADeleteShowInTheHistory() throws {
        try post("general/2-bob.md", "bob", "Hi there", at: "2026-01-19T09:02:00Z", replyTo: "1-ada")
        try git("-C", "chat", "rm", "--quiet", "general/1-ada.md")
        try commit("cyd", at: "2026-01-19T09:03:00Z")
        _ = try tool("ingest", "L", "git", "chat", "--as", "chat")
        let edit = try tool("history", "L", "message:general/2-bob")
        #expect(edit.output.contains("edited"))
        #expect(edit.output.contains("\"Hi\" → \"Hi there\""))
        let delete = try tool("history", "L", "message:1-ada")
        #expect(delete.output.contains("deleted"))
        #expect(delete.output.contains("by cyd"))
        #expect(try tool("replay", "L").output.contains("deleted message: Hello"))
        #expect(try tool("diff", "L@2", "L").exitCode == 1)
    }

    @Test func whatIsNoChatIsIngestedAllTheSame() throws {
        try Data([0xFF, 0x00, 0x80]).write(to: URL(filePath: folder.path("chat/binary.bin")))
        try post("general/broken.md", "ada", "no front matter follows", at: "nonsense")
        let run = try tool("ingest", "L", "git", "chat", "--as", "chat")
        #expect(run.exitCode == 0)
        #expect(try tool("replay", "L").output.contains("issues  1 event"))
    }

    @Test func aRepositoryWhoseObjectsLieElsewhereNeedsToBeAllowed() throws {
        try git("clone", "--quiet", "--shared", "chat", "shared")
        let refused = try tool("ingest", "L", "git", "shared")
        #expect(refused.exitCode == 2)
        #expect(
            refused.errors == "logtool: ingest git \"shared\": an alternate leads outside the repository's folder; "
                + "use --allow-alternates if you trust whoever owns it\n"
        )
        #expect(!FileManager.default.fileExists(atPath: folder.path("L")))
        let allowed = try tool("ingest", "L", "git", "shared", "--allow-alternates", "--json")
        #expect(allowed.output.hasPrefix(#"{"appended":2,"#))
        #expect(try tool("ingest", "M", "capture", "x", "--allow-alternates").exitCode == 2)
    }

    private func post(_ file: String, _ author: String, _ text: String, at time: String, replyTo: String? = nil) throws
    {
        let path = folder.path("chat/" + file)
        let parent = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        let reply = replyTo.map { "reply_to: \($0)\n" } ?? ""
        try folder.write("---\nfrom: \(author)\ndate: \(time)\n\(reply)---\n\(text)\n", to: "chat/" + file)
        try commit(author, at: time == "nonsense" ? "2026-01-19T10:00:00Z" : time)
    }

    private func commit(_ author: String, at time: String) throws {
        try git("-C", "chat", "add", "--all")
        try git(
            "-C",
            "chat",
            "-c",
            "user.name=\(author)",
            "-c",
            "user.email=\(author)@example.org",
            "commit",
            "--quiet",
            "--message",
            "change",
            environment: ["GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time]
        )
    }

    private func git(_ arguments: String..., environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        process.currentDirectoryURL = folder.url
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder.url.path,
            "GIT_CONFIG_NOSYSTEM": "1",
        ].merging(environment) { _, given in given }
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
