import EventLog
import Foundation
import TestSupport
import Testing

/// Processes that append to one log are killed at any moment: what was acknowledged is there, and nothing is half.
@Suite struct KillTests {
    private static let logVariable = "EVENTLOG_KILL_TEST_LOG"
    private static let batchSize = 3

    @Test func everyAcknowledgedBatchSurvivesKill9() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        let reader = try EventStore.openOrCreate(at: path)
        let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil
        let rounds = isLong ? 1000 : 10
        var acknowledged = 0
        var lost = 0
        for round in 0..<rounds {
            let children = try (0..<2).map { try Child(path, name: "\(round)/\($0)") }
            let sequences = try children.enumerated().flatMap { index, child in
                try child.killed(afterLines: 1 + (round * 7 + index * 5) % 23)
            }
            acknowledged += sequences.count
            try reader.read { session in
                #expect(session.head.rawValue.isMultiple(of: UInt64(Self.batchSize)))
                for sequence in sequences where try sequence > session.head || session.event(at: sequence) == nil {
                    lost += 1
                }
            }
            let report = try reader.verify()
            #expect(report.isIntact, "round \(round): \(report.damage.map(String.init(describing:)) ?? "")")
        }
        print("kill -9: \(rounds) rounds, \(acknowledged) batches acknowledged, \(lost) lost")
        #expect(lost == 0 && acknowledged > 0)
        #expect(try reader.append([.sample(1, key: "last")]).appended == 1)
    }

    /// What a child process runs: appends batches without end and says each one's first sequence.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[logVariable] != nil))
    func appendsUntilKilled() throws {
        let value = try #require(ProcessInfo.processInfo.environment[Self.logVariable])
        let parts = value.split(separator: "|").map(String.init)
        let store = try EventStore.open(at: parts[0])
        for batch in 0..<100_000 {
            let drafts = try (0..<Self.batchSize).map {
                try DraftEvent.sample(batch, key: "\(parts[1])/\(batch)/\($0)")
            }
            let result = try store.append(drafts)
            FileHandle.standardError.write(Data("ACK \(result.first?.rawValue ?? 0)\n".utf8))
        }
    }

    private final class Child {
        private let process = Process()
        private let pipe = Pipe()

        init(_ path: String, name: String) throws {
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--testing-library", "swift-testing", "--filter", "KillTests/appendsUntilKilled"]
            var environment = ProcessInfo.processInfo.environment
            environment[KillTests.logVariable] = "\(path)|\(name)"
            process.environment = environment
            process.standardError = pipe
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            pipe.fileHandleForWriting.closeFile()
        }

        /// Kills the process once it has acknowledged so many batches; answers with all that it acknowledged.
        func killed(afterLines count: Int) throws -> [SequenceNumber] {
            var text = ""
            while text.components(separatedBy: "ACK ").count <= count {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty { break }
                text += String(decoding: data, as: UTF8.self)
            }
            kill(process.processIdentifier, SIGKILL)
            text += String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1).compactMap { line in
                line.hasPrefix("ACK ") ? UInt64(line.dropFirst(4)).map { SequenceNumber($0) } : nil
            }
        }
    }
}
