#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// A recorder that was killed knows when it starts again until when it had listened, though nothing had come.
@Suite(.hangGuard) struct LifeMarksTests {
    enum Kind: String, CaseIterable {
        case sse, status, cloudkit, github
    }

    private let files: TemporaryDirectory
    private let scratch: GitScratch
    private let name: SourceName

    init() throws {
        files = try TemporaryDirectory()
        scratch = try GitScratch()
        name = try SourceName("quiet")
    }

    @Test(arguments: Kind.allCases)
    func afterAKillTheGapBeginsWithTheLastMarkOfLife(_ kind: Kind) async throws {
        let time = SteppedTime()
        let bench = try LiveBench(time: time)
        let (source, server) = try await start(kind)
        let task = Task { try await bench.record(source) }
        let start = time.now()
        let least = Timestamp(seconds: start.seconds + 120)
        while try alive(bench.log) ?? start < least { try await Task.sleep(for: .milliseconds(2)) }
        let log = try bench.killed(name)
        let mark = try #require(try alive(log))
        task.cancel()
        _ = try await task.value
        await bench.stop()
        // A mark is no event.
        #expect(
            try log.events().filter { $0.kind != "recorder.gap/1" && $0.kind != "git.commit/1" }.map(\.key) == [
                "c1/open"
            ]
        )

        time.pass(.seconds(10_000))
        let after = try LiveBench(log: log, time: time)
        let again = Task { try await after.record(source) }
        func gap() throws -> RecordedEvent? {
            try after.events().first { $0.attribute("gap") == "open" && $0.text.contains("stopped") }
        }
        while try gap() == nil { try await Task.sleep(for: .milliseconds(5)) }
        again.cancel()
        _ = try await again.value
        await after.stop()
        await server?.stop()
        let text = try #require(try gap()).text
        #expect(text.contains("\"from\":\"\(mark)\""), "\(text)")
    }

    /// What bookmarks alone do to a log: no event, and no more than one a minute.
    @Test func marksAreNoMoreThanOneAMinute() async throws {
        let time = SteppedTime()
        let bench = try LiveBench(time: time)
        let (source, server) = try await start(.sse)
        let task = Task { try await bench.record(source) }
        var marks: [Timestamp] = []
        while marks.count < 4 {
            let mark = try alive(bench.log)
            if let mark, mark != marks.last { marks.append(mark) }
            try await Task.sleep(for: .milliseconds(1))
        }
        task.cancel()
        _ = try await task.value
        await bench.stop()
        await server?.stop()
        for (earlier, later) in zip(marks, marks.dropFirst()) { #expect(later.seconds - earlier.seconds >= 60) }
    }

    /// Pauses are shortened. What measures a server's patience is not.
    @Test func aFasterClockSleepsLessAndMeasuresTheSame() async throws {
        let clock = LiveClock.machine(speed: 1e6, now: { Timestamp(seconds: 1) })
        var measured = Duration.zero
        let real = try await ContinuousClock().measure {
            let start = clock.elapsed()
            try await clock.sleep(.seconds(10_000))
            try await clock.tick(.seconds(1_000))
            measured = clock.elapsed() - start
        }
        #expect(measured <= real && measured >= .milliseconds(10))
        #expect(clock.speed == 1e6 && clock.noticingSteps { _ in }.speed == 1e6)
    }

    /// A machine that slept, or a process that was stopped, says nothing of a connection that may have died meanwhile.
    @Test func aRecorderThatStoodStillLeavesNoMark() async throws {
        let time = SteppedTime()
        let log = try TemporaryLog()
        let recorder = try Recorder(store: log.store, source: name)
        let clock = LiveClock(now: time.now, elapsed: time.elapsed, sleep: { _ in })
        var ticks = clock
        let count = Counter()
        ticks.tick = { duration in
            count.add()
            if count.count > 100 { throw CancellationError() }
            time.pass(count.count == 1 ? .seconds(3_600) : duration)
        }
        let bookmark = JournalBookmark(number: 1, gaps: [], lastInbound: nil, session: nil).bytes
        try await recorder.take(SourceBatch(bookmark: bookmark))
        try await recorder.flush()
        await LifeMarks(sink: recorder, clock: ticks).run()
        try await recorder.flush()
        #expect(try log.store.read { try $0.bookmark(of: name) } == bookmark)
    }
}

extension LifeMarksTests {
    private func start(_ kind: Kind) async throws -> (any LiveSource, ScriptedServer?) {
        switch kind {
        case .sse:
            let server = try await ScriptedServer.start { _ in
                .stream(["Content-Type": "text/event-stream"], AsyncStream { _ in })
            }
            return (try EventStreamSource(url: server.url, name: name, follows: true), server)
        case .status:
            return (
                try StatusSource(
                    directory: files.url.path,
                    patterns: ["*"],
                    name: name,
                    mode: .polling(milliseconds: 2)
                ),
                nil
            )
        case .cloudkit:
            let server = try await ScriptedServer.start { _ in .text(200, #"{"records":[]}"#) }
            let container = try CloudKitSource.Container("iCloud.com.example.app", api: server.url)
            let token = TokenSource { "t" }
            return (CloudKitSource(container, name: name, apiToken: token, webToken: token, follows: true), server)
        case .github:
            try scratch.write("a.md", "1")
            try scratch.commit("one")
            let github = FakeGitHub(scratch.path)
            let server = try await ScriptedServer.start { try github.answer($0) }
            let repository = try GitHubSource.Repository("o/r", branch: "main", api: server.url)
            return (GitHubSource(repository, name: name, follows: true), server)
        }
    }

    /// Until when a log's bookmark says that the recorder listened.
    private func alive(_ log: TemporaryLog) throws -> Timestamp? {
        guard let bytes = try log.store.read({ try $0.bookmark(of: name) }) else { return nil }
        if let bookmark = GitHubBookmark(bytes) { return bookmark.alive }
        return JournalBookmark(bytes: bytes).flatMap { $0.alive ?? $0.lastInbound }
    }
}
#endif
