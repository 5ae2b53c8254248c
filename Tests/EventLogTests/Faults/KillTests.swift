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
        let rounds = isLong ? 1000 : 30
        var acknowledged = 0
        var lost = 0
        for round in 0..<rounds {
            let reading = try Child(path, name: Self.readerName)
            let children = try (0..<2).map { try Child(path, name: "\(round)/\($0)") }
            let sequences = try children.enumerated().flatMap { index, child in
                try child.killed(afterLines: 1 + (round * 7 + index * 5) % 9)
            }
            _ = try reading.killed(afterLines: round % 3)
            acknowledged += sequences.count
            try reader.read { session in
                #expect(session.head.rawValue.isMultiple(of: UInt64(Self.batchSize)))
                for sequence in sequences where try sequence > session.head || session.event(at: sequence) == nil {
                    lost += 1
                }
            }
            // A check reads everything; the log grows with every round.
            guard round % 5 == 4 else { continue }
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
        if parts[1] == Self.readerName { return try Self.readWithoutEnd(store) }
        if parts[1] == Self.stoppedName { return try Self.readWithAStop(store) }
        for batch in 0..<100_000 {
            let drafts = try (0..<Self.batchSize).map {
                try DraftEvent.sample(batch, key: "\(parts[1])/\(batch)/\($0)")
            }
            let result = try store.append(drafts)
            FileHandle.standardError.write(Data("ACK \(result.first?.rawValue ?? 0)\n".utf8))
        }
    }

    /// Reads the whole log again and again; every prefix that is seen is one of whole batches without a hole.
    private static func readWithoutEnd(_ store: EventStore) throws {
        for _ in 0..<100_000 {
            let (head, seen) = try store.read { session in
                var seen: UInt64 = 0
                guard session.head > .zero else { return (session.head.rawValue, seen) }
                try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                    seen += event.sequence.rawValue == seen + 1 ? 1 : 0
                    return true
                }
                return (session.head.rawValue, seen)
            }
            guard seen == head, head.isMultiple(of: UInt64(batchSize)) else { return }
            FileHandle.standardError.write(Data("ACK \(head)\n".utf8))
        }
    }

    /// A reader that is stopped while the log is compacted goes on in what it read, and holds up nobody.
    @Test func aSuspendedReaderGoesOnAfterACompaction() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...300).map { try .sample($0, key: "k\($0)") })
        let reader = try Child(store.path, name: Self.stoppedName)
        reader.waitUntilStopped()
        let dropped = Array(1...250) as [UInt64]
        _ = try store.rewrite(.dropping(dropped, decidedAt: SequenceNumber(300))) { _ in }
        #expect(try store.append([.sample(301)]).appended == 1)
        #expect(try reader.continued().contains("READ 300"))
        #expect(try store.verify().isIntact)
        #expect(try store.statistics().readers == 0)
    }

    /// Stops itself within a read session, and reads on once it is continued.
    private static func readWithAStop(_ store: EventStore) throws {
        let count = try store.read { session in
            raise(SIGSTOP)
            var count = 0
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { _ in
                count += 1
                return true
            }
            return count
        }
        FileHandle.standardError.write(Data("READ \(count)\n".utf8))
    }

    private static let readerName = "reader"
    private static let stoppedName = "stopped"

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

        func waitUntilStopped() {
            var information = siginfo_t()
            waitid(P_PID, id_t(process.processIdentifier), &information, WSTOPPED | WNOWAIT)
        }

        /// Lets the stopped process go on to its end; answers with what it said.
        func continued() throws -> String {
            kill(process.processIdentifier, SIGCONT)
            let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return text
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
