import EventLog
import Foundation
import Projections
import TestSupport
import Testing

/// Logs that past programs wrote, kept as text in `Fixtures/formats`: every later program replays them to the state that they gave.
@Suite struct PastKindTests {
    @Test(arguments: logs) func aPastLogGivesTheStateThatItGave(log: String) throws {
        let folder = try TemporaryDirectory()
        let store = try Self.open(log, in: folder)
        #expect(try store.verify().damage == nil)
        var state = try store.read { try Replay.logState(of: $0) }
        let golden = Self.formats.appending(path: log + ".json")
        let difference = Golden.difference(state.document().lines + "\n", from: golden)
        #expect(difference == nil, "\(difference ?? "")")
    }

    /// Decoders of today must read what programs of then wrote, kind by kind.
    @Test func everyKindIsInAPastLog() throws {
        let page = try String(contentsOf: PackageRoot.url.appending(path: "docs/events.md"), encoding: .utf8)
        let documented = page.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\| `([a-z.]+\/[0-9]+)` \|/).map { String($0.1) }
        }
        #expect(documented.count > 10)
        let folder = try TemporaryDirectory()
        var held: Set<String> = []
        for log in Self.logs {
            let kinds = try Self.open(log, in: folder).read { try $0.kindsBySource() }
            for kind in kinds.values.joined() { held.insert(kind.rawValue) }
        }
        #expect(Set(documented).subtracting(held) == [], "docs/evolution.md says how to freeze a log")
    }

    private static func open(_ log: String, in folder: TemporaryDirectory) throws -> EventStore {
        let path = folder.path(log.replacing("/", with: "-"))
        try PastLog.restore(formats.appending(path: log + ".hex"), to: path)
        return try EventStore.open(at: path)
    }

    private static let formats = PackageRoot.url.appending(path: "Fixtures/formats")

    /// `vN/NAME` of each log that has an expected state.
    private static let logs: [String] = {
        let paths = FileManager.default.enumerator(atPath: formats.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }()
}
