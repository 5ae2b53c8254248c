import EventLog
import Foundation
import TestSupport
import Testing

/// A run is noted write by write; then the power fails at any of them, and the disk keeps what it must and some of what it
/// may. Everything that was acknowledged by then is there.
///
/// `EVENTLOG_LONG_TESTS=1` cuts at every write, with ten ways of luck instead of three.
@Suite struct PowerLossTests {
    private static let logVariable = "EVENTLOG_POWER_TEST_LOG"
    private static let dropped: Set<UInt64> = [2, 5, 6, 9]

    @Test(.enabled(if: TracedRun.isAvailable, "it needs a library that is loaded before others"))
    func everyAcknowledgedEventSurvivesAPowerLoss() throws {
        let directory = try TemporaryDirectory()
        let root = directory.path("disk")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let trace = try WriteTrace.recording(
            "PowerLossTests/appendsAndRewrites",
            environment: [Self.logVariable: root + "/L"],
            root: root,
            to: directory.path("trace")
        )
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        let step = isLong ? 1 : max(1, trace.steps.count / 60)
        var disk = SimulatedDisk(root: root)
        var cuts = 0
        var lost = 0
        for (index, write) in trace.steps.enumerated() {
            disk.apply(write)
            guard index % step == 0 || index == trace.steps.count - 1 else { continue }
            let seeds = (1...(isLong ? 8 : 1)).map { SimulatedDisk.Luck.some(seed: UInt64(index * 10 + $0)) }
            for (number, luck) in ([.nothing, .everything] + seeds).enumerated() {
                let path = directory.path("cut-\(index)-\(number)")
                try disk.restore(to: path, luck)
                lost += try Self.lostEvents(at: path + "/L", said: disk.said, label: "write \(index), \(luck)")
                try? FileManager.default.removeItem(atPath: path)
                cuts += 1
            }
        }
        #expect(trace.steps.contains { $0.isReserve }, "no zeros were written behind the last page")
        print("power loss: \(trace.steps.count) writes, \(cuts) cuts, \(lost) acknowledged events lost")
        #expect(lost == 0 && cuts > 100)
        #expect(disk.said.components(separatedBy: "ACK ").count > 30)
    }

    /// How many acknowledged events are not there; that the log is whole and can be appended to.
    private static func lostEvents(at path: String, said: String, label: String) throws -> Int {
        let acknowledged = said.split(separator: "\n").compactMap { line in
            line.hasPrefix("ACK ") ? UInt64(line.dropFirst(4)) : nil
        }
        do {
            let store =
                acknowledged.isEmpty ? try EventStore.openOrCreate(at: path) : try EventStore.open(at: path)
            let report = try store.verify()
            #expect(report.isIntact, "\(label): \(report.damage?.description ?? "")")
            let lost = try store.read { session in
                try acknowledged.count { sequence in
                    if sequence > session.head.rawValue { return true }
                    let event = try session.event(at: SequenceNumber(sequence))
                    return event == nil && !dropped.contains(sequence)
                }
            }
            #expect(lost == 0, "\(label)")
            #expect(try store.append([.sample(1, key: "after the power came back")]).appended == 1)
            return lost
        } catch {
            Issue.record("\(label): \(error)")
            return acknowledged.count
        }
    }

    /// What the noted process does: a birth, batches of many sizes, a rewrite, and as many small batches again as it takes
    /// until zeros are written behind the last page.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[logVariable] != nil))
    func appendsAndRewrites() throws {
        let path = try #require(ProcessInfo.processInfo.environment[Self.logVariable])
        let store = try EventStore.openOrCreate(at: path)
        for batch in 0..<48 {
            try Self.append(batch, to: store)
            guard batch == 14 else { continue }
            let plan = try RewritePlan.dropping(Self.dropped.sorted(), decidedAt: store.read { $0.head })
            _ = try store.rewrite(plan) { _ in }
        }
    }

    private static func append(_ batch: Int, to store: EventStore) throws {
        let drafts = try (0...batch % 4).map { number in
            let size = batch % 5 == 4 ? 9_000 : 40 * batch
            return try DraftEvent.sample(
                batch,
                key: "\(batch)/\(number)",
                payload: String(repeating: "p", count: size) + "\(batch)/\(number)"
            )
        }
        let lines = try store.append(drafts).sequences.map { "ACK \($0)\n" }.joined()
        FileHandle.standardError.write(Data(lines.utf8))
    }
}

extension WriteTrace.Step {
    fileprivate var isReserve: Bool {
        if case .wrote(_, _, let bytes, _) = self {
            bytes.count == 4_096 && bytes.allSatisfy { $0 == 0 }
        } else {
            false
        }
    }
}
