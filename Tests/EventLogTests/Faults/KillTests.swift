import EventLog
import Foundation
import TestSupport
import Testing

/// Processes that append to one log are killed at any moment: what was acknowledged is there, and nothing is half.
@Suite struct KillTests {
    /// That of `LogWorker`.
    private static let batchSize: UInt64 = 3
    private static let isLong = ProcessInfo.processInfo.environment["EVENTLOG_LONG_TESTS"] != nil

    @Test func everyAcknowledgedBatchSurvivesKill9() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("L")
        let store = try EventStore.openOrCreate(at: path)
        let rounds = Self.isLong ? 1000 : 30
        var (acknowledged, lost, reads) = (0, 0, 0)
        for round in 0..<rounds {
            let reader = try Worker("read", path)
            let writers = try (0..<2).map { try Worker("append", path, "\(round)/\($0)") }
            let sequences = try writers.enumerated().flatMap { index, writer in
                try writer.killed(afterLines: 1 + (round * 7 + index * 5) % 9).sequences
            }
            let reading = try reader.killed(afterLines: round % 3)
            #expect(!reading.text.contains("TORN"), "round \(round): \(reading.text)")
            acknowledged += sequences.count
            reads += reading.sequences.count
            lost += try missing(sequences, store)
            if round % 100 == 99 { print("kill -9: \(round + 1) rounds, \(acknowledged) batches, \(lost) lost") }
            // A check reads everything; the log grows with every round.
            guard round % 5 == 4 else { continue }
            let report = try store.verify()
            #expect(report.isIntact, "round \(round): \(report.damage.map(String.init(describing:)) ?? "")")
        }
        print("kill -9: \(rounds) rounds, \(acknowledged) batches acknowledged, \(lost) lost; \(reads) whole readings")
        #expect(lost == 0 && acknowledged >= rounds && reads > 0)
        #expect(try store.append([.sample(1, key: "last")]).appended == 1)
    }

    /// How many of these sequences the log does not hold.
    private func missing(_ sequences: [SequenceNumber], _ store: EventStore) throws -> Int {
        try store.read { session in
            #expect(session.head.rawValue.isMultiple(of: Self.batchSize))
            return try sequences.count { try $0 > session.head || session.event(at: $0) == nil }
        }
    }

    /// A reader that is stopped while the log is compacted goes on in what it read, and holds up nobody.
    @Test func aSuspendedReaderGoesOnAfterACompaction() throws {
        let directory = try TemporaryDirectory()
        let store = try EventStore.openOrCreate(at: directory.path("L"))
        _ = try store.append((1...300).map { try .sample($0, key: "k\($0)") })
        let reader = try Worker("stop", store.path)
        reader.waitUntilStopped()
        let dropped = Array(1...250) as [UInt64]
        _ = try store.rewrite(.dropping(dropped, decidedAt: SequenceNumber(300))) { _ in }
        #expect(try store.append([.sample(301)]).appended == 1)
        #expect(try reader.continued().contains("READ 300"))
        #expect(try store.verify().isIntact)
        #expect(try store.statistics().readers == 0)
    }
}

/// The program `LogWorker`, which lies beside the test bundle, as a process of its own.
private final class Worker {
    private let process = Process()
    private let pipe = Pipe()

    init(_ arguments: String...) throws {
        let bundle = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.executableURL = bundle.deletingLastPathComponent().appending(path: "LogWorker")
        process.arguments = arguments
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

    /// Kills the process once it has said so many lines; answers with all that it said, and what it acknowledged.
    func killed(afterLines count: Int) throws -> (text: String, sequences: [SequenceNumber]) {
        var text = ""
        while text.components(separatedBy: "ACK ").count <= count {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        kill(process.processIdentifier, SIGKILL)
        text += String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
        let sequences = lines.compactMap { line in
            line.hasPrefix("ACK ") ? UInt64(line.dropFirst(4)).map { SequenceNumber($0) } : nil
        }
        return (text, sequences)
    }
}
