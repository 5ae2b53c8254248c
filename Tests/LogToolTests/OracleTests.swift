import EventLog
import Foundation
import TestSupport
import Testing

@testable import logtool

/// One log has one digest at every event, whoever folds it and under whatever circumstances (I10).
@Suite struct OracleTests {
    /// One way to fold a log that must not matter.
    private struct Circumstance {
        var name: String
        var environment: [String: String] = [:]
        var log = "L"
    }

    @Test func everyScenarioIsOneStateUnderAllCircumstances() throws {
        let folder = try TemporaryDirectory()
        let lists = try EventStream.whole(of: Scenario.all, in: folder)
        try Self.append(lists.flatMap { $0 }, to: folder.path("L"), batch: 1_000)
        try Self.append(lists.flatMap { $0 }, to: folder.path("one-by-one"), batch: 1)
        try expectOneDigestPerEvent(in: folder, label: "all scenarios")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aRandomLogIsOneStateUnderAllCircumstances(seed: UInt64) throws {
        print("seed \(seed)")
        let folder = try TemporaryDirectory()
        let events = Self.randomEvents(of: try EventStream.whole(of: Scenario.all, in: folder), seed: seed)
        try Self.append(events, to: folder.path("L"), batch: 1_000)
        try Self.append(events, to: folder.path("one-by-one"), batch: 1)
        try expectOneDigestPerEvent(in: folder, label: "seed \(seed)")
    }

    private static func randomEvents(of lists: [[RecordedEvent]], seed: UInt64) -> [RecordedEvent] {
        var random = SeededGenerator(seed: seed)
        var events: [RecordedEvent] = []
        for number in 0..<12 {
            let stream = EventStream(of: lists, seed: seed * 100 + UInt64(number), mutatingBytes: true)
            events += stream.events.map { $0.renamed(source: "app\(number % 3)") }
        }
        events.shuffle(using: &random)
        return events
    }

    private static func append(_ events: [RecordedEvent], to path: String, batch: Int) throws {
        let store = try EventStore.openOrCreate(at: path)
        for start in stride(from: 0, to: events.count, by: batch) {
            _ = try store.append(events[start..<min(start + batch, events.count)].map(\.draft))
        }
    }

    @Test func bothBuildsMakeTheSameStates() throws {
        guard let release = Self.program(in: ".build-core/release"), let debug = Self.program(in: ".build-core/debug")
        else { return print("note: no two builds of StateTrace; ./scripts/test --release makes them") }
        let folder = try TemporaryDirectory()
        let lists = try EventStream.whole(of: Scenario.all, in: folder)
        for seed in 1...3 as ClosedRange<UInt64> {
            print("seed \(seed)")
            try Self.append(Self.randomEvents(of: lists, seed: seed), to: folder.path("L\(seed)"), batch: 1_000)
        }
        let logs = (1...3).map { "L\($0)" }
        let runs = try [debug, release].map { try ToolRun.run(logs, in: folder, program: $0) }
        #expect(runs.allSatisfy { $0.exitCode == 0 }, "\(runs.map(\.errors))")
        #expect(runs[0].output.count > 10_000)
        let lines = runs.map { $0.output.split(separator: "\n") }
        let parted = zip(lines[0], lines[1]).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(parted == nil, "first parts at line \(parted?.offset ?? 0)")
        #expect(lines[0].count == lines[1].count)
    }

    private static func program(in build: String) -> URL? {
        let file = PackageRoot.url.appending(path: "\(build)/StateTrace")
        return FileManager.default.isExecutableFile(atPath: file.path) ? file : nil
    }

    private func expectOneDigestPerEvent(in folder: TemporaryDirectory, label: String) throws {
        var expected: (digests: [Substring], document: String)?
        for circumstance in Self.circumstances {
            let digests = try Self.run(["replay", circumstance.log, "--digest", "--each"], circumstance, in: folder)
                .split(separator: "\n")
            let document = try Self.run(["replay", circumstance.log, "--json"], circumstance, in: folder)
            guard let expected else {
                expected = (digests, document)
                #expect(digests.count > 10)
                continue
            }
            if let place = zip(digests, expected.digests).enumerated().first(where: { $0.element.0 != $0.element.1 }) {
                Issue.record("\(label), \(circumstance.name): first parts at \(place.element.0)")
            }
            #expect(digests.count == expected.digests.count, "\(label), \(circumstance.name)")
            #expect(document == expected.document, "\(label), \(circumstance.name)")
        }
    }

    private static func run(
        _ arguments: [String],
        _ circumstance: Circumstance,
        in folder: TemporaryDirectory
    ) throws -> String {
        let run = try ToolRun.run(
            arguments,
            in: folder,
            environment: circumstance.environment
        )
        #expect(run.exitCode == 0, "\(circumstance.name): \(run.errors)")
        return run.output
    }

    private static var circumstances: [Circumstance] {
        [
            Circumstance(name: "as it is"),
            Circumstance(name: "another hash seed"),
            Circumstance(name: "no hash seed", environment: ["SWIFT_DETERMINISTIC_HASHING": "1"]),
            Circumstance(name: "another time zone", environment: ["TZ": "Asia/Kolkata"]),
            Circumstance(name: "another locale", environment: ["LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"]),
            Circumstance(name: "appended one by one", log: "one-by-one"),
        ]
    }
}
