import EventLog
import Foundation
import Ingest
import Projections
import TestSupport
import Testing

@testable import logtool

@Suite struct ExportedEventsTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(arguments: Scenario.all.filter(\.hasEvents))
    func theEventsOfAScenarioGiveItsState(scenario: Scenario) throws {
        let file = scenario.folder.appending(path: "events.ndjson").path
        var events = ExportedEvents(operation: "import", object: file)
        try events.add(LineReader(file))
        let path = folder.path("L")
        let first = try events.record { try EventStore.openOrCreate(at: path) }
        #expect(first.appended > 0)
        let again = try events.record { try EventStore.openOrCreate(at: path) }
        #expect(again.appended == 0)
        #expect(again.duplicates == first.appended + first.duplicates)
        var state = try EventStore.open(at: path).read { try Replay.logState(of: $0) }
        #expect(Golden.difference(state.document().lines + "\n", from: scenario.golden()) == nil)
    }

    @Test(arguments: [["import", "L"], ["ingest", "L", "capture"]])
    func bothCommandsTakeThem(command: [String]) throws {
        let file = PackageRoot.scenarios.appending(path: "punchlist-two-sources-of-one-list/events.ndjson").path
        let run = try ToolRun.run(command + [file], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.errors.isEmpty)
        let listed = try ToolRun.run(["events", "L", "--jsonl", "--payload"], in: folder).output
        #expect(listed.split(separator: "\n").count == 4)
        try folder.write(listed, to: "listed.ndjson")
        _ = try ToolRun.run(["import", "M", "listed.ndjson"], in: folder)
        #expect(try digest("M") == digest("L"))
    }

    /// A look at the first line of a pipe would take it away from the reader.
    @Test(arguments: [["import", "L"], ["ingest", "L", "capture"]])
    func aPipeIsReadOnce(command: [String]) throws {
        let name = command[0] == "import" ? "events.ndjson" : "capture.ndjson"
        let scenario = command[0] == "import" ? "punchlist-two-sources-of-one-list" : "punchlist-bare-arrays"
        let file = PackageRoot.scenarios.appending(path: "\(scenario)/\(name)")
        let bytes = try Data(contentsOf: file)
        try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
        let pipe = URL(filePath: folder.path("pipe"))
        Thread.detachNewThread { try? bytes.write(to: pipe) }
        let run = try ToolRun.run(command + ["pipe", "--json"], in: folder)
        #expect(run.exitCode == 0, "\(run.errors)")
        let whole = try ToolRun.run([command[0], "M"] + command.dropFirst(2) + [file.path, "--json"], in: folder)
        #expect(run.output == whole.output)
    }

    @Test func actsAreLeftToTheirLog() throws {
        try folder.makeLog(messages: 40, isLarge: true)
        _ = try ToolRun.run(["compact", "L", "--keep", "1"], in: folder)
        let listed = try ToolRun.run(["events", "L", "--jsonl", "--payload"], in: folder).output
        try folder.write(listed, to: "listed.ndjson")
        let run = try ToolRun.run(["import", "M", "listed.ndjson", "--json"], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output.contains(#""skipped":1"#))
    }

    @Test func aFaultyLineAppendsNothing() throws {
        try folder.makeLog(messages: 2)
        let listed = try ToolRun.run(["events", "L", "--jsonl", "--payload"], in: folder).output
        try folder.write(listed + #"{"sequence":"9","source":"guild"}"# + "\n", to: "listed.ndjson")
        let run = try ToolRun.run(["import", "M", "listed.ndjson"], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("line 5"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("M")))
    }

    @Test func anotherNameMustNotMixKeys() throws {
        let file = PackageRoot.scenarios.appending(path: "punchlist-two-sources-of-one-list/events.ndjson").path
        let mixed = try ToolRun.run(["ingest", "L", "capture", file, "--as", "list"], in: folder)
        #expect(mixed.exitCode == 2)
        #expect(mixed.errors.contains("leave out --as"))
    }

    private func digest(_ log: String) throws -> String {
        try ToolRun.run(["replay", log, "--digest"], in: folder).output
    }
}

extension Scenario {
    /// Whether the scenario has events that no decoder file reads: an import takes none.
    fileprivate var hasEvents: Bool {
        let file = folder.appending(path: "events.ndjson").path
        return FileManager.default.fileExists(atPath: file) && (try? decoders.sources.isEmpty) == true
    }
}
