import EventLog
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc

/// The first, second, third … write of a log's life fails, as on a full disk or a dying one.
///
/// `EVENTLOG_LONG_TESTS=1` tries each of the first 200 places; otherwise every tenth.
@Suite struct FullDiskTests {
    private static let folderVariable = "EVENTLOG_FULL_DISK_TEST"

    @Test(.enabled(if: TracedRun.isAvailable, "it needs a library that is loaded before others"))
    func everyFailingWriteIsAClearErrorAndNothingIsLost() throws {
        let directory = try TemporaryDirectory()
        let root = directory.path("logs")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let run = try TracedRun(
            "FullDiskTests/livesThroughFailingWrites",
            environment: [Self.folderVariable: root],
            root: root,
            trace: nil
        )
        #expect(run.exitCode == 0, "\(run.output.suffix(4_000))")
        let summary = run.output.split(separator: "\n").first { $0.hasPrefix("failing writes: ") }
        print(summary ?? "no summary")
        #expect(summary != nil)
    }

    /// What the process does whose writes fail: one whole life of a log for each place.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[folderVariable] != nil))
    func livesThroughFailingWrites() throws {
        let root = try #require(ProcessInfo.processInfo.environment[Self.folderVariable])
        let faults = try #require(WriteFaults())
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        var tried = 0
        var refused = 0
        for place in stride(from: 1, through: 200, by: isLong ? 1 : 10) {
            for (error, isShort) in [(ENOSPC, true), (ENOSPC, false), (EIO, false)] {
                var life = Life(path: "\(root)/\(place)-\(error)-\(isShort)")
                faults.arm(place, error: error, isShort: isShort)
                try life.run()
                faults.arm(0, error: 0, isShort: false)
                tried += 1
                refused += life.refusals
                try life.check(label: "write \(place), error \(error)")
            }
        }
        print("failing writes: \(tried) tried, \(refused) calls refused, 0 acknowledged events lost")
        #expect(refused > tried / 4)
    }

    /// A short life of a log in which every refused call is made again.
    private struct Life {
        let path: String
        var refusals = 0
        var acknowledged: [SequenceNumber] = []
        var dropped: Set<SequenceNumber> = []

        init(path: String) {
            self.path = path
        }

        mutating func run() throws {
            let path = path
            let store = try again { try EventStore.openOrCreate(at: path) }
            for batch in 0..<12 {
                let drafts = try (0..<3).map {
                    try DraftEvent.sample(
                        batch,
                        key: "\(batch)/\($0)",
                        payload: String(repeating: "p", count: batch * 700)
                    )
                }
                let result = try again { try store.append(drafts) }
                acknowledged += result.sequences
                guard batch == 7 else { continue }
                let sequences = [2, 3, 7] as [UInt64]
                _ = try again {
                    let plan = try RewritePlan.dropping(sequences, decidedAt: store.read { $0.head })
                    // A refusal may come after the switch: then they are gone already.
                    if try store.read({ try $0.event(at: SequenceNumber(2)) }) == nil { return }
                    _ = try store.rewrite(plan) { _ in }
                }
                dropped.formUnion(sequences.map { SequenceNumber($0) })
            }
        }

        /// Only one write fails, so the second call works; what it says of the first is that nothing was done.
        private mutating func again<Result>(_ body: () throws -> Result) throws -> Result {
            do {
                return try body()
            } catch let error as EventLogError {
                refusals += 1
                #expect(error.code == .io, "\(error)")
                #expect(!error.reason.isEmpty)
                return try body()
            }
        }

        func check(label: String) throws {
            let store = try EventStore.open(at: path)
            let report = try store.verify()
            #expect(report.isIntact, "\(label): \(report.damage?.description ?? "")")
            try store.read { session in
                for sequence in acknowledged where !dropped.contains(sequence) {
                    let isThere = try session.event(at: sequence) != nil
                    #expect(isThere, "\(label): sequence \(sequence)")
                }
            }
            #expect(try store.append([.sample(1, key: "later")]).appended == 1)
        }
    }
}

/// The functions of the library `WriteTrace`, where it is loaded.
private struct WriteFaults {
    private typealias Arm = @convention(c) (Int, Int32, Int32) -> Void
    private let function: Arm

    init?() {
        guard let symbol = dlsym(nil, "write_trace_arm") else { return nil }
        function = unsafeBitCast(symbol, to: Arm.self)
    }

    func arm(_ place: Int, error: Int32, isShort: Bool) {
        function(place, error, isShort ? 1 : 0)
    }
}
#endif
