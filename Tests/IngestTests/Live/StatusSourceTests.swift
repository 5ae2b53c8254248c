#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite struct StatusSourceTests {
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

    @Test func whatHappenedWhileNobodyLookedIsAGapThatTheNextLookCloses() async throws {
        let bench = try LiveBench()
        try put("vibestatus-a.json", "1")
        try await bench.record(source())
        try await bench.record(source())
        await bench.stop()
        let gaps = try bench.events().filter { $0.kind == "recorder.gap/1" }
        #expect(gaps.map { $0.attribute("gap") } == ["open", "close", "open"])
        #expect(gaps[1].text.contains("\"closes\":\"snapshot\""))
        #expect(gaps[0].key + "/closed" == gaps[1].key)
    }

    @Test(arguments: modes.indices)
    func everyStateThatStaysIsSeen(_ mode: Int) async throws {
        let bench = try LiveBench()
        let live = try source(Self.modes[mode])
        let task = Task { try await bench.record(live) }
        func wait(_ last: String) async throws {
            for _ in 0..<4_000 where observations(try bench.events()).last != last {
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
        for _ in 0..<2_000 where observations(try bench.events()).count < 2 {
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
        while try count() < 20_002 { try await Task.sleep(for: .milliseconds(10)) }
        task.cancel()
        _ = try await task.value
        await bench.stop()
        #expect(observations(try bench.events()).contains("write vibestatus-back.json back"))
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
