import Clients
import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// From a log with a bug somewhere in it to a regression test of a few events: `bisect`, `shrink`, `freeze`, `check`.
///
/// `EVENTLOG_LONG_TESTS=1` hides each bug among 100,000 events, three times, and prints the table of `docs/benchmarks.md`;
/// `LOGTOOL_PROGRAM` names the program to measure, `PLANTED_BUG` a part of the names of the bugs to hide.
@Suite(.serialized) struct PlantedBugTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isLong = environment["EVENTLOG_LONG_TESTS"] != nil
    private static let noise = isLong ? 100_000 : 60

    private func document(_ arguments: [String], in folder: TemporaryDirectory, exitCode: Int32 = 0) throws -> JSONValue
    {
        let run = try ToolRun.run(arguments + ["--json"], in: folder)
        #expect(run.exitCode == exitCode, "\(arguments.joined(separator: " ")): \(run.errors)")
        return try JSONValue.parse(run.output)
    }

    private static let bugs = PlantedBug.all.filter { $0.name.contains(environment["PLANTED_BUG"] ?? " ") }
    private static let cases = (isLong ? [1, 2, 3] : [1]).flatMap { (seed: UInt64) in bugs.map { ($0, seed) } }

    @Test(arguments: cases)
    func aBugBecomesAFixture(bug: PlantedBug, seed: UInt64) throws {
        let folder = try TemporaryDirectory()
        let place = try bug.plant(in: folder, noise: Self.noise, seed: seed)

        let clock = ContinuousClock()
        let (begin, found) = (clock.now, try document(["bisect", "L"] + bug.bisectArguments, in: folder))
        let first = try #require(found["first"]?.string.flatMap { UInt64($0) })
        #expect(place.contains(first), "bisect found \(first), the bug is at \(place)")

        let (middle, before) = (clock.now, Self.processorSeconds)
        let shrunk = try document(["shrink", "L", "-o", "S"] + bug.shrinkArguments, in: folder)
        let work = Self.processorSeconds - before
        let (end, left) = (clock.now, try #require(shrunk["events"]?.number?.int64))
        #expect(left <= 10 && shrunk["minimal"]?.bool == true)
        #expect(end - middle < .seconds(60))
        try checkFixture(of: bug, in: folder)
        if Self.isLong { print(Self.row(bug, seed, shrunk, middle - begin, end - middle, work)) }
    }

    /// The fixture passes as the remote meant it, and fails for the client as long as the client shows something else.
    private func checkFixture(of bug: PlantedBug, in folder: TemporaryDirectory) throws {
        _ = try document(["freeze", "S", "-o", "F", "--profile", bug.profile.rawValue], in: folder)
        let right = try String(contentsOfFile: folder.path("F/expected.json"), encoding: .utf8)
        let corrected = right.replacingOccurrences(
            of: #""profile":"canonical""#,
            with: #""profile":"\#(bug.profile.rawValue)""#
        )
        try folder.write(corrected, to: "F/expected.\(bug.profile.rawValue).json")
        let failed = try document(["check", "F"], in: folder, exitCode: 1)
        let profiles = failed["fixtures"]?.array?.first?["differences"]?.array?.compactMap { $0["profile"]?.string }
        #expect(profiles == [bug.profile.rawValue])
        try FileManager.default.removeItem(atPath: folder.path("F/expected.\(bug.profile.rawValue).json"))
        _ = try document(["check", "F"], in: folder)
    }

    /// What the programs that ended have taken so far of all processors.
    private static var processorSeconds: Double {
        var spent = tms()
        _ = times(&spent)
        return Double(spent.tms_cutime + spent.tms_cstime) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func row(
        _ bug: PlantedBug,
        _ seed: UInt64,
        _ shrunk: JSONValue,
        _ bisecting: Duration,
        _ shrinking: Duration,
        _ work: Double
    ) -> String {
        let seconds = [bisecting, shrinking].map { String(format: "%.1f", $0 / .seconds(1)) }
        let cells = [
            "\(bug.name)", "\(seed)", seconds[0], shrunk["tests"]?.text ?? "", seconds[1], String(format: "%.1f", work),
            shrunk["events"]?.text ?? "",
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}
