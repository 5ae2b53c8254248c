#if Recorders
import EventLog
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite struct GitHubSourceTests {
    private let scratch: GitScratch

    init() throws {
        scratch = try GitScratch()
    }

    private func source(
        _ server: ScriptedServer,
        branch: String? = "main",
        token: TokenSource? = nil,
        follows: Bool = false
    ) throws -> GitHubSource {
        GitHubSource(
            try .init("o/r", branch: branch, api: server.url),
            name: try SourceName("vibe"),
            token: token,
            follows: follows
        )
    }

    /// The list of a directory that GitHub cuts off can never be recorded: the recorder ends, and says why.
    @Test func aRecorderThatGivesUpClosesItsLinkWithTheReason() async throws {
        try scratch.write("general/a.md", "a")
        try scratch.commit("first")
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { request in
            guard request.path.contains("/git/trees/") else { return try github.answer(request) }
            return try FakeGitHub.json(["tree": [] as [String], "truncated": true])
        }
        let bench = try LiveBench()
        let error = await #expect(throws: IngestError.self) { try await bench.record(source(server, follows: true)) }
        await server.stop()
        await bench.stop()
        #expect(error?.code == .brokenRepository)
        let closed = try #require(try bench.events().first { $0.attribute("link") == "close" })
        let reason = closed.attribute("reason") ?? ""
        #expect(reason.hasPrefix("gave up: directory") && reason.hasSuffix("cannot be read whole"), "\(reason)")
    }

    /// What identifies an event apart from when it was received.
    private func contents(_ events: [RecordedEvent]) -> [String] {
        events.filter { $0.kind.hasPrefix("git.") }.map { "\($0.kind) \($0.key) \($0.text)" }
    }

    private func expectSame(_ github: LiveBench, _ clone: TemporaryLog) throws {
        let (left, right) = (contents(try github.events()), contents(try clone.events()))
        #expect(left.count == right.count)
        for (a, b) in zip(left, right) where a != b {
            Issue.record("github: \(a.prefix(1_500))\nclone: \(b.prefix(1_500))")
            return
        }
    }

    /// A history with all that makes a difference.
    private func makeHistory() throws {
        try scratch.write("general/a.md", "---\nfrom: ada\n---\nhi \u{00FC} \"q\"\n")
        try scratch.write("bin", [0, 1, 2])
        try scratch.write("big.txt", String(repeating: "0123456789abcdef\n", count: 80_000))
        try scratch.commit("first\n\nbody\n\n\nend")
        chmod(scratch.path + "/bin", 0o755)
        try scratch.commit("mode")
        try scratch.git("checkout", "-q", "-b", "side", "HEAD~1")
        try scratch.write("general/b.md", "side")
        try scratch.commit("side")
        try scratch.write("deep/er/c.md", "c")
        try scratch.commit("deeper")
        try scratch.git("checkout", "-q", "main")
        try scratch.write("general/d.md", "main")
        try scratch.commit("main")
        try scratch.git("merge", "-q", "--no-ff", "-m", "merge", "side")
        try scratch.git("mv", "general/a.md", "general/moved.md")
        try scratch.commit("renamed")
        try FileManager.default.removeItem(atPath: scratch.path + "/deep")
        try FileManager.default.createSymbolicLink(atPath: scratch.path + "/deep", withDestinationPath: "general")
        try scratch.commit("a directory becomes a link")
        try scratch.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", "no line end")
    }

    @Test func theEventsAreThoseOfACloneByteForByteAndRecordingBothWaysDoublesNothing() async throws {
        try makeHistory()
        let bench = try LiveBench()
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { try github.answer($0) }
        let summary = try await bench.record(source(server, branch: nil))
        let clone = try TemporaryLog()
        let byGit = try Recorder.record(GitSource(scratch), into: clone.store)
        #expect(summary.appended == byGit.appended)
        try expectSame(bench, clone)
        #expect(try Recorder.record(GitSource(scratch), into: bench.log.store).appended == 0)
        let again = try await bench.record(source(server))
        #expect(again.appended == 0)
        await server.stop()
        await bench.stop()
    }

    @Test func branchesThatMoveDieAndComeAgainAreRecordedAsByAClone() async throws {
        let bench = try LiveBench()
        let clone = try TemporaryLog()
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { try github.answer($0) }
        func step() async throws {
            try await bench.record(source(server))
            _ = try Recorder.record(GitSource(scratch), into: clone.store)
            try expectSame(bench, clone)
        }
        try scratch.write("a.md", "1")
        let one = try scratch.commit("one")
        try await step()
        try scratch.write("a.md", "2")
        let two = try scratch.commit("two")
        try await step()
        try scratch.git("reset", "-q", "--hard", one)
        try await step()
        try scratch.git("reset", "-q", "--hard", two)
        try await step()
        try scratch.git("commit", "-q", "--amend", "-m", "two again")
        try await step()
        try scratch.git("checkout", "-q", "--orphan", "fresh")
        try scratch.write("b.md", "new root")
        try scratch.commit("root")
        try scratch.git("branch", "-q", "-M", "fresh", "main")
        try await step()
        #expect(try bench.events().count { $0.kind == "git.rewrite/1" } == 4)
        await server.stop()
        await bench.stop()
    }

    /// A text is six times as long in JSON if it is all control characters. Of this one there is no room, and it must not
    /// take room from the next.
    @Test func whatFitsIntoADocumentIsWhatGitPutsThere() async throws {
        let (bench, clone) = (try LiveBench(), try TemporaryLog())
        try scratch.write("a.txt", [UInt8](repeating: 0x01, count: 3 << 20))
        try scratch.write("b.txt", [UInt8](repeating: 0x62, count: 14 << 20))
        try scratch.write("c.txt", [UInt8](repeating: 0x01, count: 200 << 10))
        try scratch.write("d.txt", [UInt8](repeating: 0x01, count: 200 << 10))
        try scratch.commit("large")
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { try github.answer($0) }
        try await bench.record(source(server))
        _ = try Recorder.record(GitSource(scratch), into: clone.store)
        try expectSame(bench, clone)
        await server.stop()
        await bench.stop()
    }

    @Test func historiesLongerThanAPageAreWalkedToTheirRoot() async throws {
        let (bench, clone) = (try LiveBench(), try TemporaryLog())
        for number in 1...130 {
            try scratch.git("commit", "-q", "--allow-empty", "-m", "\(number)")
        }
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { try github.answer($0) }
        try await bench.record(source(server))
        _ = try Recorder.record(GitSource(scratch), into: clone.store)
        try expectSame(bench, clone)
        #expect(server.requests.filter { $0.path.hasSuffix("/commits") }.count == 2)
        await server.stop()
        await bench.stop()
    }

    @Test func nothingNewCostsOneConditionalRequestAndNoEvent() async throws {
        let bench = try LiveBench()
        try scratch.write("a.md", "1")
        try scratch.commit("one")
        let github = FakeGitHub(scratch.path)
        let polls = Counter()
        let server = try await ScriptedServer.start { request in
            if request.headers["if-none-match"] != nil { polls.add() }
            return try github.answer(request)
        }
        try await bench.record(source(server, follows: true)) { _ in polls.count >= 3 }
        await server.stop()
        await bench.stop()
        #expect(contents(try bench.events()).count == 1)
        #expect(try bench.events().filter { $0.kind == "recorder.http/1" }.isEmpty)
        #expect(bench.waits.all.contains(.seconds(10)))
        let links = try bench.events().filter { $0.kind == "recorder.link/1" }.map(\.key)
        #expect(links == ["c1/open", "c1/close"])
    }

    @Test func aPushCostsWhatIsNewInItAndNothingMore() async throws {
        let bench = try LiveBench()
        for number in 1...40 {
            try scratch.write("general/\(number).md", "\(number)")
            try scratch.commit("\(number)")
        }
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { try github.answer($0) }
        try await bench.record(source(server))
        let before = server.requests.count
        try scratch.write("general/new.md", "new")
        try scratch.commit("new")
        try await bench.record(source(server))
        await server.stop()
        await bench.stop()
        // The tip, the list, two directories of each of the two commits, and the file.
        #expect(server.requests.count - before <= 7, "\(server.requests.dropFirst(before).map(\.path))")
        #expect(contents(try bench.events()).count == 41)
    }

    @Test(arguments: ["{\"ref\":\"refs/hea", "<html>busy</html>", "", "[]", "{\"object\":{\"sha\":\"x\"}}"])
    func anAnswerThatNamesNoCommitIsAFailureLikeOthers(_ body: String) async throws {
        let bench = try LiveBench()
        try scratch.write("a.md", "1")
        try scratch.commit("one")
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { request in
            [1, 2, 5].contains(request.number) ? .text(200, body) : try github.answer(request)
        }
        try await bench.record(source(server, follows: true)) { contents($0).count == 1 && server.requests.count > 6 }
        await server.stop()
        #expect(contents(try bench.events()).count == 1)
        let faults = try bench.events().filter { $0.kind == "recorder.http/1" }
        #expect(Set(faults.map { $0.attribute("status") }) == ["200"])
        #expect(faults.allSatisfy { $0.attribute("reason") != nil })
        #expect(try bench.texts("recorder.gap/1").contains { $0.contains("unreachable") })

        let always = try await ScriptedServer.start { _ in .text(200, body) }
        let once = try LiveBench()
        await #expect(throws: IngestError.self) { try await once.record(source(always)) }
        #expect(always.requests.count < 10)
        await always.stop()
        await once.stop()
        await bench.stop()
    }

    @Test func limitsAreKeptAndTold() async throws {
        let bench = try LiveBench(now: { Timestamp(seconds: 1_000) })
        try scratch.write("a.md", "1")
        try scratch.commit("one")
        let github = FakeGitHub(scratch.path)
        @Sendable func rate(_ remaining: Int) -> [String: String] {
            ["X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "\(remaining)", "X-RateLimit-Reset": "1500"]
        }
        let server = try await ScriptedServer.start { request in
            switch request.number {
            case 1: .text(403, "{}", rate(0))
            case 2: .text(429, "{}", ["Retry-After": "7"])
            case 3: .text(403, #"{"message":"You have exceeded a secondary rate limit"}"#)
            case 4: .text(500, "oops")
            case 5: .pieces(200, ["Content-Type": "application/json"], [Array("{\"obj".utf8)], isCut: true)
            case 6: try github.answer(request).adding(rate(1_000))
            case 7: try github.answer(request).adding(rate(249))
            default: try github.answer(request).adding(rate(4_000))
            }
        }
        try await bench.record(source(server))
        await server.stop()
        await bench.stop()
        #expect(bench.waits.all.map(\.components.seconds) == [501, 7, 240, 1, 2, 501])
        #expect(contents(try bench.events()).count == 1)
        let statuses = try bench.events().filter { $0.kind == "recorder.http/1" }
        #expect(statuses.map { $0.attribute("status") } == ["403", "429", "403", "500"])
        #expect(try statuses.at(0).attribute("reset") == "1500")
        #expect(try statuses.at(1).attribute("retry-after") == "7")
        let levels = try bench.events().filter { $0.kind == "recorder.limit/1" }
        #expect(levels.map { $0.attribute("level") } == ["paused", "warning", "paused", "normal"])
        #expect(levels.map { $0.attribute("used") } == ["100", "80", "95", "20"])
    }

    @Test func anExpiredTokenIsReadAgainAndOneThatDoesNotDoEndsTheRun() async throws {
        let bench = try LiveBench()
        try scratch.write("a.md", "1")
        try scratch.commit("one")
        let tokens = Mutex(0)
        let token = TokenSource {
            tokens.withLock { count in
                count += 1
                return "s3cret\(count)"
            }
        }
        let github = FakeGitHub(scratch.path)
        let server = try await ScriptedServer.start { request in
            request.headers["authorization"] == "Bearer s3cret2" ? try github.answer(request) : .text(401, "{}")
        }
        try await bench.record(source(server, token: token))
        #expect(contents(try bench.events()).count == 1)
        await #expect(throws: IngestError.self) { try await bench.record(source(server, token: token)) }
        await server.stop()
        await bench.stop()
        #expect(try !bench.everything().contains("s3cret"))
    }

    @Test(arguments: [403, 404, 409, 422, 451])
    func aRefusalOrAnAbsenceIsToldAndRecorded(_ status: Int) async throws {
        let bench = try LiveBench()
        let server = try await ScriptedServer.start { _ in .text(status, #"{"message":"No"}"#) }
        await #expect(throws: IngestError.self) { try await bench.record(source(server)) }
        await server.stop()
        await bench.stop()
        #expect(try bench.events().map { $0.attribute("status") } == ["\(status)"])
    }

    @Test func aBranchThatIsDeletedIsWaitedFor() async throws {
        let bench = try LiveBench()
        try scratch.write("a.md", "1")
        try scratch.commit("one")
        let github = FakeGitHub(scratch.path)
        let phase = Mutex(0)
        let server = try await ScriptedServer.start { request in
            if phase.withLock({ $0 }) == 1, request.path.contains("/ref/") { return FakeGitHub.missing }
            return try github.answer(request)
        }
        let live = try source(server, follows: true)
        let task = Task { try await bench.record(live) }
        func wait(_ condition: ([RecordedEvent]) -> Bool) async throws {
            while !condition(try bench.events()) { try await Task.sleep(for: .milliseconds(5)) }
        }
        try await wait { contents($0).count == 1 }
        phase.withLock { $0 = 1 }
        try await wait { $0.contains { $0.attribute("status") == "404" } }
        try scratch.write("a.md", "2")
        try scratch.commit("two")
        phase.withLock { $0 = 0 }
        try await wait { contents($0).count == 2 }
        task.cancel()
        _ = try await task.value
        await server.stop()
        await bench.stop()
        #expect(contents(try bench.events()).count == 2)
        #expect(try bench.events().filter { $0.kind == "recorder.http/1" }.count == 1)
    }

    @Test func idsAreGitsOwn() {
        #expect(GitObjectHash.id(type: "blob", []) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
        #expect(GitObjectHash.id(type: "blob", Array("hello\n".utf8)) == "ce013625030ba8dba906f756967f9e9ca394464a")
        #expect(GitObjectHash.id(type: "tree", []) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    }
}
#endif
