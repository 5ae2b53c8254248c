import Clients
import Foundation
import Projections
import TestSupport
import Testing

@testable import logtool

/// Two readings of one log side by side.
@Suite struct FirstDifferenceTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        var frames = SampleCaptures.gateway(messages: 3)
        frames += SampleCaptures.line(8, SampleCaptures.message(2))
        frames += SampleCaptures.line(9, SampleCaptures.message(4))
        try folder.write(frames, to: "c.ndjson")
        let words = ["ingest", "L", "capture", "c.ndjson", "--as", "guild", "--kind", "gateway"]
        #expect(try ToolRun.run(words, in: folder).exitCode == 0)
    }

    private func run(_ line: String) throws -> ToolRun {
        try ToolRun.run(line.split(separator: " ").map(String.init), in: folder)
    }

    @Test func theFirstEventAfterWhichTwoReadingsPartIsNamed() throws {
        let run = try run("diff L L#retrocast-web --first --json")
        #expect(run.exitCode == 1, "\(run.errors)")
        // A diff at each point says the same.
        var first = 0
        repeat { first += 1 } while try first < 7 && self.run("diff L@\(first) L@\(first)#retrocast-web").exitCode == 0
        #expect(first < 7 && run.output.contains(#""first":"\#(first)""#), "\(run.output)")
        #expect(try self.run("diff L@\(first) L@1#retrocast-web --first").exitCode == 0)
    }

    @Test func readingsThatNeverPartAreSaidToBeTheSame() throws {
        let run = try run("diff L L#vibechannel-ios --first")
        #expect(run.exitCode == 0)
        #expect(run.output == "the two have the same after every event, and in the same order at the end\n")
        #expect(try self.run("diff L L#vibechannel-ios --first --json").output == "{\"same\":true}\n")
        #expect(try self.run("diff L L#retrocast-web --first --explain").exitCode == 2)
        #expect(try self.run("diff L s.json --first").exitCode == 2)
    }

    @Test func historiesAreThoseOfAProfile() throws {
        let canonical = try run("history L message:1002 --json")
        let client = try run("history L message:1002#2 --profile retrocast-web --json")
        #expect(canonical.exitCode == 0 && client.exitCode == 0, "\(client.errors)")
        #expect(try run("history L message:1002#2").exitCode == 1)
    }

    @Test func profilesAreListedWithTheirRulesAndCounted() throws {
        let list = try run("profiles --jsonl").output
        #expect(list.split(separator: "\n").count == Profile.allCases.count)
        #expect(list.hasPrefix(#"{"profile":"canonical","rules":[],"divergences":[]}"#))
        #expect(list.contains(#""createAlwaysAdds""#))
        let counts = try run("profiles L --jsonl").output
        #expect(counts.contains(#"{"profile":"vibechannel-ios","entities":0,"kinds":{}}"#), "\(counts)")
        #expect(counts.contains(#"{"profile":"retrocast-web","entities":"#))
        #expect(!counts.contains(#"{"profile":"retrocast-web","entities":0"#))
        let state = try run("diff L L#retrocast-web --jsonl").output
        let number = Set(state.split(separator: "\n").compactMap { $0.split(separator: "\"").dropFirst(3).first }).count
        #expect(counts.contains(#"{"profile":"retrocast-web","entities":\#(number),"#), "\(counts)\n\(state)")
    }

    @Test func anySetOfRulesIsAReading() throws {
        let run = try run("replay L --rules createAlwaysAdds,repeatsAreReadAgain --json")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains(#""profile":"repeatsAreReadAgain,createAlwaysAdds""#), "\(run.output.prefix(300))")
        #expect(run.output.contains("1002#2"))
        let wrong = try self.run("replay L --rules createAlwaysAdd")
        #expect(wrong.exitCode == 2 && wrong.errors.contains("createAlwaysAdds"), "\(wrong.errors)")
        #expect(try self.run("replay L --rules createAlwaysAdds --profile retrocast-web").exitCode == 2)
    }
}
