#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

/// Directories and repositories that grow step by step, by a key or by requests.
@Suite(.hangGuard) struct PlayStepTests {
    let bench: PlayBench
    /// What the file holds, one after another; at last it vanishes.
    private let texts = [#"{"state":"idle"}"#, #"{"state":"working"}"#, #"{"state":"needs_input"}"#]

    init() throws {
        bench = try PlayBench()
    }

    private func makeStatusLog(_ name: String) throws {
        let drafts = try (texts + [nil]).enumerated().map { place, text in
            DraftEvent(
                recordedAt: Timestamp(seconds: 1_767_225_600 + Int64(place)),
                source: try SourceName("status"),
                kind: try EventKind("status.file/1"),
                key: try EventKey("c1/\(place)"),
                attributes: try Attributes([
                    Attributes.Pair(name: "path", value: "/tmp/vibestatus-a.json"),
                    Attributes.Pair(name: "op", value: text == nil ? "remove" : "write"),
                ]),
                payload: Array((text ?? "").utf8)
            )
        }
        try bench.makeLog(name, drafts)
    }

    private func content(_ path: String) -> String? {
        FileManager.default.contents(atPath: bench.folder.path(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func wait(until condition: () throws -> Bool) async throws {
        while try !condition() {
            try Task.checkCancellation()
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func waitForPosition(_ given: Int, at address: String) async throws {
        try await wait { try bench.get(address, "/_play/position").contains(#""given":\#(given)"#) }
    }

    private func git(_ words: String...) throws -> String {
        let run = try ToolRun.run(words, in: bench.folder, program: URL(filePath: "/usr/bin/git"))
        #expect(run.exitCode == 0, "git \(words): \(run.errors)")
        return run.output
    }

    @Test func eachLineOnATerminalReleasesOneEvent() async throws {
        try makeStatusLog("A")
        let terminal = try PseudoTerminal(columns: 80)
        let player = try ToolProcess(
            ["play", "A", "--as", "files", "--to", "watched", "--step", "--json"],
            in: bench.folder,
            input: terminal.device
        )
        for text in texts {
            terminal.type("\n")
            try await wait { content("watched/vibestatus-a.json") == text }
        }
        #expect(player.isRunning)
        terminal.type("\n")
        let run = player.wait()
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains(#""given":4"#), "\(run.output)")
        #expect(content("watched/vibestatus-a.json") == nil)
    }

    @Test func aDirectoryIsSteppedAndWatchedByRequests() async throws {
        try makeStatusLog("A")
        let words = ["--as", "files", "--to", "watched", "--step", "--listen", "127.0.0.1:0"]
        let (player, address) = try await bench.play("A", words)
        #expect(try bench.get(address, "/_play/position").contains(#""given":0"#))
        #expect(content("watched/vibestatus-a.json") == nil)
        _ = try bench.get(address, "/_play/step?n=2", method: "POST")
        try await waitForPosition(2, at: address)
        #expect(content("watched/vibestatus-a.json") == texts[1])
        let digest = try ToolRun.run(["replay", "A", "--at", "2", "--digest"], in: bench.folder).output.prefix(64)
        #expect(try bench.get(address, "/_play/state").contains(#""digest":"\#(digest)""#))
        #expect(try bench.get(address, "/_play/report").contains(#""divergences":["#))
        for count in ["0", "-1", "x", "1000001"] {
            let answer = try bench.get(address, "/_play/step?n=\(count)", method: "POST")
            #expect(answer.contains("n is a number from 1 to 1000000"), "\(count): \(answer)")
        }
        for path in ["/_play/step", "/_play/nothing"] {
            #expect(try bench.get(address, path).contains("play has GET /_play/position"), "\(path)")
        }
        #expect(try bench.get(address, "/vibestatus-a.json").contains("the recording has no answer to this"))
        #expect(try bench.get(address, "/_play/position").contains(#""given":2"#))
        _ = try bench.get(address, "/_play/step?n=2", method: "POST")
        #expect(player.wait().exitCode == 0)
        #expect(content("watched/vibestatus-a.json") == nil)
    }

    @Test func aRepositoryIsClonedAndPulledAsItGrows() async throws {
        let source = bench.folder.path("source")
        let script = """
            set -e; export GIT_CONFIG_GLOBAL=/dev/null; git init -q -b vibechannel '\(source)'; cd '\(source)'
            git config user.name Ada; git config user.email ada@example.org
            for n in 1 2 3; do
              mkdir -p general; printf 'text %s\\n' $n > general/m$n.md; git add -A
              GIT_AUTHOR_DATE="2026-01-01T00:0$n:00Z" GIT_COMMITTER_DATE="2026-01-01T00:0$n:30Z" git commit -qm "message $n"
            done
            """
        let shell = try ToolRun.run(["-c", script], in: bench.folder, program: URL(filePath: "/bin/sh"))
        #expect(shell.exitCode == 0, "\(shell.errors)")
        let ingest = ["ingest", "A", "git", source, "--branch", "vibechannel", "--as", "vibe"]
        #expect(try ToolRun.run(ingest, in: bench.folder).exitCode == 0)
        let words = ["--as", "git", "--to", "play.git", "--step", "--listen", "127.0.0.1:0"]
        let (player, address) = try await bench.play("A", words)
        _ = try bench.get(address, "/_play/step", method: "POST")
        try await waitForPosition(1, at: address)
        _ = try git("clone", "-q", "-b", "vibechannel", "play.git", "clone")
        #expect(try git("-C", "clone", "log", "--format=%s") == "message 1\n")
        _ = try bench.get(address, "/_play/step?n=2", method: "POST")
        #expect(player.wait().exitCode == 0)
        _ = try git("-C", "clone", "pull", "-q", "--ff-only")
        let format = "--format=%s|%an|%ae|%at|%ct"
        #expect(try git("-C", "clone", "log", format) == git("-C", source, "log", format))
        #expect(try git("-C", "clone", "ls-tree", "-r", "HEAD") == git("-C", source, "ls-tree", "-r", "HEAD"))
    }
}
#endif
