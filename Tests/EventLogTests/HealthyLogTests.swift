import EventLog
import Foundation
import TestSupport
import Testing

/// Everything that reads a healthy log, of whatever age, agrees about it: the log itself, `verify`, a backup, a copy of
/// the folder, a salvage, and a reader in Python that knows nothing but `docs/format.md`.
@Suite struct HealthyLogTests {
    /// How many logs are drawn: 40, or as many as `EVENTLOG_HEALTHY_LOGS` says.
    private static let count: UInt64 =
        ProcessInfo.processInfo.environment["EVENTLOG_HEALTHY_LOGS"].flatMap { UInt64($0) } ?? 40

    @Test(.enabled(if: PythonReader.isInstalled, "it needs python3-lmdb"), arguments: 0..<count)
    func everyReaderAgreesAboutAHealthyLog(seed: UInt64) throws {
        let aged = try AgedLog(ofSomeAge: seed)
        let name = "seed \(seed): \(aged.steps.map(\.rawValue).joined(separator: ", "))"
        let copies = try expectHealthy(aged.log.store, name)
        let expected = try aged.log.store.read { session in
            let root = try session.root(size: session.head.rawValue).hex
            return #"{"treeSize": "\#(session.head)", "root": "\#(root)"}"# + "\n"
        }
        // The files go with the last reference.
        try withExtendedLifetime((aged, copies)) {
            let paths = [aged.log.path] + copies.paths
            let read = try PythonReader.run(paths)
            #expect(read == String(repeating: expected, count: paths.count), "\(name)")
        }
    }

    /// Facts grow and shrink from one compaction to the next.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func aLogIsHealthyAfterEachOfThreeCompactions(seed: UInt64) throws {
        var aged = try AgedLog(seed: 1_000 + seed)
        for _ in 1...3 {
            for step in [.grow, .compact] as [AgedLog.Step] {
                try aged.take(step)
                try expectHealthy(aged.log.store, "seed \(1_000 + seed) after \(aged.steps.map(\.rawValue))")
            }
        }
    }

    /// An import into an earlier copy writes a new generation, and keeps the copy's own bookmarks.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func anImportIntoAnEarlierCopyIsHealthy(seed: UInt64) throws {
        var aged = try AgedLog(seed: 2_000 + seed)
        for step in [.grow, .compact, .grow] as [AgedLog.Step] { try aged.take(step) }
        let path = aged.log.directory.path("earlier")
        _ = try aged.log.store.backup(to: path)
        let size = try aged.log.store.read { $0.head.rawValue }
        while try aged.log.store.read({ $0.head.rawValue }) == size { try aged.take(.grow) }
        let (header, pieces) = try aged.log.store.read { session in
            var pieces: [LogPiece] = []
            try session.forEachPiece { pieces.append($0) }
            return (try session.header(), pieces)
        }
        let result = try EventStore.importLog(at: path, header: header) { log in
            for piece in pieces { try log.add(piece) }
        }
        #expect(result.appended == header.size - size && result.duplicates == size)
        let copy = try EventStore.open(at: path)
        try expectHealthy(copy, "seed \(2_000 + seed)")
        #expect(try copy.verify().root == aged.log.store.verify().root)
    }
}
