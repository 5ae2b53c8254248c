import EventLog
import Foundation
import TestSupport
import Testing

/// Two builds of the program over random streams of every app: `scripts/compare-streams OLD NEW`. Not run without the two.
@Suite(.serialized) struct ProgramComparisonTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let programs = ["OLD", "NEW"].compactMap { environment["EVENTLOG_COMPARE_\($0)"] }
    private static let apps =
        environment["EVENTLOG_COMPARE_APP"].map { [$0] } ?? [
            "retrocast", "sidebar", "punchlist", "vibestatus", "vibechannel",
        ]
    private static let streams = environment["EVENTLOG_COMPARE_STREAMS"].flatMap { UInt64($0) } ?? 1000
    private static let batch: UInt64 = 100

    @Test(.enabled(if: programs.count == 2, "scripts/compare-streams names the programs"), arguments: apps)
    func bothBuildsReadTheSameStates(app: String) throws {
        let lists = try EventStream.lists(of: app)
        try #require(!lists.isEmpty, "there are scenarios of \(app)")
        let comparison = try ProgramComparison(
            old: URL(filePath: Self.programs[0]),
            new: URL(filePath: Self.programs[1]),
            app: app,
            lists: lists
        )
        for first in stride(from: 1, through: Self.streams, by: UInt64.Stride(Self.batch)) {
            let seeds = first..<min(first + Self.batch, Self.streams + 1)
            let difference = try comparison.firstDifference(seeds)
            try #require(difference == nil, "\(difference ?? "")")
        }
        print("\(app): \(Self.streams) streams are the same")
    }
}
