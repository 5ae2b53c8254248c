#if Recorders
import Dispatch
import EventLog
import Foundation
import JSON
import TestSupport
import Testing

@testable import Ingest

@Suite(.hangGuard) struct StatusSourceTests {
    private let files: TemporaryDirectory
    private static let patterns = ["vibestatus-*.json"]
    static let modes = [StatusSource.Mode.watching, .polling(milliseconds: 5)]

    init() throws {
        files = try TemporaryDirectory()
    }

    private func source(_ mode: StatusSource.Mode = .once) throws -> StatusSource {
        try StatusSource(directory: files.url.path, patterns: Self.patterns, name: SourceName("vs"), mode: mode)
    }

    private func put(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: files.path(name)))
    }

    /// `op name content` of each observation.
    private func observations(_ events: [RecordedEvent]) -> [String] {
        events.filter { $0.kind == "status.file/1" }.map { event in
            let name = (event.attribute("path") ?? "").split(separator: "/").last ?? ""
            return "\(event.attribute("op") ?? "") \(name) \(event.text)"
        }
    }

    @Test func filesThatAreThereAtTheStartAreRecordedOnceThroughRestarts() async throws {
        let bench = try LiveBench()
        try put("vibestatus-a.json", "{\"state\":\"idle\"}\n")
        try put("vibestatus-prompt-a.json", "{}")
        try put("other.json", "no")
        try put("vibestatus-e.json", "")
        try FileManager.default.createSymbolicLink(
            atPath: files.path("vibestatus-link.json"),
            withDestinationPath: files.path("vibestatus-a.json")
        )
        try FileManager.default.createDirectory(
            atPath: files.path("vibestatus-d.json"),
            withIntermediateDirectories: false
        )
        mkfifo(files.path("vibestatus-p.json"), 0o600)
        try await bench.record(source())
        try await bench.record(source())
        let first = [
            "write vibestatus-a.json {\"state\":\"idle\"}\n", "write vibestatus-e.json ",
            "write vibestatus-prompt-a.json {}",
        ]
        #expect(observations(try bench.events()) == first)
        try put("vibestatus-e.json", "{")
        try FileManager.default.removeItem(atPath: files.path("vibestatus-a.json"))
        try await bench.record(source())
        await bench.stop()
        #expect(observations(try bench.events()) == first + ["write vibestatus-e.json {", "remove vibestatus-a.json "])
        let keys = try bench.events().filter { $0.kind == "status.file/1" }.map(\.key)
        #expect(keys == ["c1/1", "c1/2", "c1/3", "c3/1", "c3/2"])
    }

    /// No two names are written alike, and each is known again.
    @Test func aNameWithABytesSpellingInItIsNoOtherName() async throws {
        let bench = try LiveBench()
        let names: [[UInt8]] = [
            Array("vibestatus-%E9".utf8) + [0xE9], Array("vibestatus-".utf8) + [0xE9] + Array("%E9".utf8),
        ]
        for name in names {
            let path = (Array((files.url.path + "/").utf8) + name + Array(".json".utf8) + [0]).map {
                CChar(bitPattern: $0)
            }
            let file = open(path, O_CREAT | O_WRONLY, 0o600)
            #expect(file >= 0)
            close(file)
        }
        try await bench.record(source())
        try await bench.record(source())
        await bench.stop()
        let paths = try bench.events().filter { $0.kind == "status.file/1" }.map { $0.attribute("path") ?? "" }
        #expect(
            paths.map { String($0.split(separator: "/").last ?? "") }.sorted() == [
                "vibestatus-%25E9%E9.json", "vibestatus-%E9%25E9.json",
            ]
        )
    }

    @Test func whatHappenedWhileNobodyLookedIsAGapThatTheNextLookCloses() async throws {
        let bench = try LiveBench()
        try put("vibestatus-a.json", "1")
        try await bench.record(source())
        try await bench.record(source())
        await bench.stop()
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open"])
        #expect(try gaps.at(1).text.contains("\"closes\":\"snapshot\""))
        #expect(try gaps.at(0).key + "/closed" == gaps.at(1).key)
    }

    @Test(arguments: modes.indices)
    func everyStateThatStaysIsSeen(_ mode: Int) async throws {
        let bench = try LiveBench()
        let live = try source(Self.modes[mode])
        let task = Task { try await bench.record(live) }
        func wait(_ last: String) async throws {
            while observations(try bench.events()).last != last {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        let path = files.path("vibestatus-a.json")
        try put("vibestatus-a.json", "")
        try await wait("write vibestatus-a.json ")
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data("{\"sta".utf8))
        try await wait("write vibestatus-a.json {\"sta")
        try handle.write(contentsOf: Data("te\":1}".utf8))
        try handle.close()
        try await wait("write vibestatus-a.json {\"state\":1}")
        try put("new", "{2}")
        #expect(rename(files.path("new"), path) == 0)
        try await wait("write vibestatus-a.json {2}")
        try FileManager.default.removeItem(atPath: path)
        try await wait("remove vibestatus-a.json ")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hostname")
        // Moved into place: a file that is written there may be seen empty first.
        try put("new", "z")
        #expect(rename(files.path("new"), files.path("vibestatus-z.json")) == 0)
        try await wait("write vibestatus-z.json z")
        task.cancel()
        _ = try await task.value
        await bench.stop()
        #expect(
            observations(try bench.events()) == [
                "write vibestatus-a.json ", "write vibestatus-a.json {\"sta", "write vibestatus-a.json {\"state\":1}",
                "write vibestatus-a.json {2}", "remove vibestatus-a.json ", "write vibestatus-z.json z",
            ]
        )
    }

    @Test func aRewriteWithTheSameBytesIsAnObservationOfItsOwn() async throws {
        let bench = try LiveBench()
        let live = try source(.watching)
        try put("vibestatus-a.json", "same")
        let task = Task { try await bench.record(live) }
        while observations(try bench.events()).count < 1 { try await Task.sleep(for: .milliseconds(2)) }
        try put("new", "same")
        #expect(rename(files.path("new"), files.path("vibestatus-a.json")) == 0)
        while observations(try bench.events()).count < 2 {
            try await Task.sleep(for: .milliseconds(2))
        }
        task.cancel()
        _ = try await task.value
        await bench.stop()
        #expect(observations(try bench.events()).count == 2)
    }

    @Test func tenThousandFilesAreSeenAndTheDirectoryMayGoAndComeBack() async throws {
        let bench = try LiveBench()
        let live = try source(.watching)
        for number in 0..<10_000 {
            let descriptor = open(files.path("vibestatus-\(number).json"), O_CREAT | O_WRONLY, 0o600)
            write(descriptor, "x", 1)
            close(descriptor)
        }
        let task = Task { try await bench.record(live) }
        func count() throws -> Int { Int(try bench.log.store.read { $0.head }.rawValue) }
        while try count() < 10_001 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(rename(files.url.path, files.url.path + "-away") == 0)
        while try count() < 20_001 { try await Task.sleep(for: .milliseconds(10)) }
        try FileManager.default.removeItem(atPath: files.url.path + "-away")
        try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: true)
        try put("new", "back")
        #expect(rename(files.path("new"), files.path("vibestatus-back.json")) == 0)
        while try observations(bench.events()).last != "write vibestatus-back.json back" {
            try await Task.sleep(for: .milliseconds(10))
        }
        task.cancel()
        _ = try await task.value
        await bench.stop()
    }

    /// A folder that comes again is watched a moment later: what was replaced in it until then is nobody's.
    @Test func aFolderThatIsMadeAgainIsAGapUntilItIsWatched() async throws {
        let bench = try LiveBench()
        let live = try source(.watching)
        let task = Task { try await bench.record(live) }
        func wait(_ condition: ([RecordedEvent]) -> Bool) async throws {
            while !condition(try bench.events()) { try await Task.sleep(for: .milliseconds(5)) }
        }
        try put("vibestatus-a.json", "1")
        try await wait { observations($0).last?.hasSuffix("1") == true }
        try FileManager.default.removeItem(at: files.url)
        try await wait { observations($0).last == "remove vibestatus-a.json " }
        let made = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
        try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: true)
        try put("new", "2")
        #expect(rename(files.path("new"), files.path("vibestatus-a.json")) == 0)
        try await wait { $0.contains { $0.attribute("gap") == "close" } }
        task.cancel()
        _ = try await task.value
        await bench.stop()
        let events = try bench.events()
        #expect(observations(events).last == "write vibestatus-a.json 2")
        let gap = try #require(try span(events.first { $0.attribute("gap") == "close" }))
        #expect(gap.reason == "unwatched" && gap.from <= made && made <= gap.to)
    }

    /// Reason, beginning and end of a gap that is closed.
    private func span(_ event: RecordedEvent?) throws -> (reason: String, from: Timestamp, to: Timestamp)? {
        let tree = event.flatMap { JSONValue(received: $0.payload) }
        guard let reason = tree?["reason"]?.string, let from = tree?["from"]?.string, let to = tree?["to"]?.string,
            let begin = Timestamp(rfc3339: from), let end = Timestamp(rfc3339: to)
        else { return nil }
        return (reason, begin, end)
    }

    #if canImport(Glibc)
    /// What a writer does and how many versions are lost where each file is looked at only after all of it.
    @Test(arguments: [
        (["put 1"], 0), (["put 1", "put 2"], 1), (["write 1"], 0), (["write 1", "write 2"], 1),
        (["put 1", "remove"], 1), (["write 1", "remove"], 1), (["put 1", "remove", "put 2"], 1),
        (["link", "unlink"], 0), (["begin 1", "remove"], 1), (["begin 1"], 0),
        (["put 1", "away"], 1),
    ])
    func aVersionThatIsReplacedBeforeItIsReadIsTold(_ steps: [String], lost: Int) throws {
        let watch = try #require(DirectoryWatch())
        #expect(watch.add(files.url.path))
        let directory = StatusDirectory(path: files.url.path, patterns: Self.patterns, now: { Timestamp(seconds: 1) })
        let path = files.path("vibestatus-a.json")
        // Files that their writer has not closed yet.
        var open: [Int32] = []
        defer { for descriptor in open { close(descriptor) } }
        for step in steps {
            let words = step.split(separator: " ")
            switch words[0] {
            case "put":
                try put("new", String(words[1]))
                #expect(rename(files.path("new"), path) == 0)
            case "write": try put("vibestatus-a.json", String(words[1]))
            case "begin":
                open.append(Foundation.open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
                #expect(Foundation.write(open[open.count - 1], String(words[1]), 1) == 1)
            case "away": #expect(rename(path, files.path("other")) == 0)
            case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "x")
            default: #expect(unlink(path) == 0)
            }
        }
        var count = 0
        for happening in watch.next(milliseconds: 1_000) {
            switch happening {
            case .changed(let name): if directory.matches(name) { directory.observe(name) { _ in } }
            case .written(let name): if directory.matches(name) { directory.observeWritten(name) { _ in } }
            case .finished(let name):
                if directory.matches(name), directory.observeFinished(name, { _ in }) { count += 1 }
            case .removed(let name):
                if directory.matches(name), directory.observeRemoved(name, { _ in }) { count += 1 }
            case .lost, .gone, .stopped: Issue.record("\(happening)")
            }
        }
        #expect((count > 0) == (lost > 0), "\(count)")
        #expect(watch.isQuiet)
    }

    /// A recorder that cannot go on reading, as one that is stopped, then finds more than the system keeps for it.
    @Test(arguments: [2, 4_000])
    func whatIsMissedWhileNobodyReadsIsAGapFromTheBeginning(_ count: Int) async throws {
        @Sendable func now() -> Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }
        // More than may wait: the watcher stands still until somebody takes it.
        try Data(count: 9 << 20).write(to: URL(fileURLWithPath: files.path("vibestatus-big.json")))
        let directory = StatusDirectory(path: files.url.path, patterns: Self.patterns, now: now)
        let watcher = StatusWatcher(directory, mode: .watching, now: now)
        defer { watcher.stop() }
        while watcher.inbox.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        let begin = now()
        for number in 1...count {
            let descriptor = open(files.path("new"), O_CREAT | O_WRONLY | O_TRUNC, 0o600)
            #expect(write(descriptor, "\(number)", 1) == 1)
            close(descriptor)
            #expect(rename(files.path("new"), files.path("vibestatus-a.json")) == 0)
        }
        let end = now()
        var gap: (loss: StatusWatcher.Loss, from: Timestamp)?
        var closed: Timestamp?
        while closed == nil, let findings = await watcher.inbox.take() {
            for finding in findings {
                switch finding {
                case .missed(let loss, let from, _): gap = (loss, from)
                case .scanned(let time): if gap != nil { closed = time }
                default: break
                }
            }
        }
        let missed = try #require(gap)
        // The first versions that are missed show before the system says that it told less than happened.
        #expect(count > 2 || missed.loss == .replaced)
        #expect(missed.from <= begin)
        #expect(try #require(closed) >= end)
    }
    #endif

    /// The clocks of file systems are coarse: two writes may leave the same size, file and time.
    @Test func aFileThatIsToldIsReadThoughItsMarkIsTheSame() throws {
        let directory = StatusDirectory(path: files.url.path, patterns: Self.patterns, now: { Timestamp(seconds: 1) })
        let path = files.path("vibestatus-a.json")
        var seen: [String] = []
        let deliver: (StatusObservation) -> Void = { observation in
            if case .whole(let bytes) = observation.content { seen.append(String(decoding: bytes, as: UTF8.self)) }
        }
        func write(_ text: String, at seconds: Int) throws {
            let handle: FileHandle
            if FileManager.default.fileExists(atPath: path) {
                handle = try #require(FileHandle(forWritingAtPath: path))
            } else {
                try put("vibestatus-a.json", text)
                handle = try #require(FileHandle(forWritingAtPath: path))
            }
            try handle.write(contentsOf: Data(text.utf8))
            try handle.close()
            let time = Date(timeIntervalSince1970: TimeInterval(seconds))
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        }
        let name = Array("vibestatus-a.json".utf8)
        try write("aaaa", at: 1_000)
        directory.observe(name, deliver)
        try write("bbbb", at: 1_000)
        directory.observe(name, deliver)
        directory.observe(name, deliver)
        // A look at all reads again what was written a moment before.
        let recent = Int(Date().timeIntervalSince1970)
        try write("cccc", at: recent)
        #expect(directory.scan(deliver))
        try write("dddd", at: recent)
        #expect(directory.scan(deliver))
        #expect(seen == ["aaaa", "bbbb", "cccc", "dddd"])
    }

    @Test func aNameThatIsNoUTF8IsEncodedAndKnownAgain() async throws {
        let bench = try LiveBench()
        let path = Array("\(files.url.path)/vibestatus-".utf8) + [0xFF] + Array(".json".utf8) + [0]
        let descriptor = open(path.map { CChar(bitPattern: $0) }, O_CREAT | O_WRONLY, 0o600)
        write(descriptor, "x", 1)
        close(descriptor)
        try await bench.record(source())
        try await bench.record(source())
        await bench.stop()
        #expect(observations(try bench.events()) == ["write vibestatus-%FF.json x"])
    }

    @Test func aDirectoryThatIsNotThereIsRefused() throws {
        #expect(throws: IngestError.self) {
            try StatusSource(directory: "/nonexistent/x", patterns: ["*"], name: SourceName("s"), mode: .once)
        }
    }
}
#endif
