import EventLog
import Foundation
import TestSupport
import Testing

/// What tests of `ship` and `pull` do with the program, in a folder with the log `L`.
protocol ShippingSuite {
    var folder: TemporaryDirectory { get }
}

extension ShippingSuite {
    func tool(_ arguments: String...) throws -> ToolRun { try ToolRun.run(arguments, in: folder) }

    @discardableResult
    func done(_ arguments: String...) throws -> String {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 0, "\(arguments): \(run.errors)")
        return run.output
    }

    /// Whether two logs have the same lines, but for what recorders resume from.
    func areSame(_ left: String, _ right: String) throws -> Bool {
        try done("export", left, "-q").split(separator: "\n").dropFirst()
            == done("export", right, "-q").split(separator: "\n").dropFirst()
    }

    func head(of log: String) throws -> Int {
        Int(try EventStore.open(at: folder.path(log)).read { $0.head.rawValue })
    }

    func append(_ range: Range<Int>, to log: String = "L") throws {
        let frames = range.map { number in
            let member =
                #""id":"\#(9000 + number)","channel_id":"10","author_id":"5","content":"more","created_at":"2026-03-01T12:00:01Z""#
            return SampleCaptures.line(number, #"{"op":0,"s":\#(number),"t":"MESSAGE_CREATE","d":{\#(member)}}"#)
        }
        try folder.write(frames.joined(), to: "more")
        try done("ingest", log, "capture", "more", "--kind", "gateway", "--as", "more\(range.lowerBound)")
    }

    /// Kills both ends at random times, again and again: what is there holds, and the next run of each goes on.
    ///
    /// - Parameter rounds: how often each end is killed.
    func killBothEnds(_ ship: [String], _ pull: [String], rounds: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let time = try ContinuousClock().measure { _ = try ToolRun.run(ship, in: folder) }
        for round in 0..<rounds {
            try append(round * 300 + 1..<round * 300 + 300)
            if round % 3 == 2 { try done("redact", "L", "--match", "message \(690 - round)", "--yes") }
            try ToolRun.killed(ship, in: folder, after: time, &random)
            try ToolRun.killed(pull, in: folder, after: time, &random)
            let now = try ToolRun.run(pull, in: folder)
            #expect(now.exitCode <= 1, "seed \(seed), round \(round): \(now.errors)")
            let again = try ToolRun.run(ship, in: folder)
            #expect(again.exitCode == 0, "seed \(seed), round \(round): \(again.errors)")
            let end = try ToolRun.run(pull, in: folder)
            #expect(end.exitCode == 0, "seed \(seed), round \(round): \(end.errors)")
            #expect(try areSame("L", "copy"), "seed \(seed), round \(round)")
        }
    }
}
