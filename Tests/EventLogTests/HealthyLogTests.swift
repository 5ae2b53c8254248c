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

    @Test(arguments: 0..<count)
    func everyReaderAgreesAboutAHealthyLog(seed: UInt64) throws {
        let aged = try AgedLog(ofSomeAge: seed)
        let name = "seed \(seed): \(aged.steps.map(\.rawValue).joined(separator: ", "))"
        let copies = try expectHealthy(aged.log.store, name)
        guard PythonReader.isInstalled else { return }
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
}
