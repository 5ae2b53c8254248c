import TestSupport
import Testing

@testable import Projections
@testable import logtool

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("replya", "replay"), ("repaly", "replay"), ("evnts", "events"), ("stat", "stats"), ("diffs", "diff"),
        ("compcat", "compact"), ("xyz", nil), ("to", nil), ("rep", nil), ("status", "status"),
    ])
    func onlyWhatIsNearIsSuggested(word: String, expected: String?) {
        #expect(Suggestion.nearest(to: word, among: Help.commandNames) == expected)
    }

    @Test(arguments: [
        (["replya"], "unknown command \"replya\"; did you mean \"replay\"?"),
        (["help", "histroy"], "unknown command \"histroy\"; did you mean \"history\"?"),
        (["frobnicate"], "unknown command \"frobnicate\"; see"),
        (["events", "L", "--soruce", "x"], "unknown option '--soruce'; did you mean '--source'?"),
        (["stats", "L", "--to", "x"], "unknown option '--to'; see"),
        (["verify", "L", "--rot"], "unknown option '--rot'; did you mean '--root'?"),
    ])
    func aSlipIsAnsweredWithWhatWasMeant(arguments: [String], expected: String) throws {
        let run = try ToolRun.run(arguments, in: TemporaryDirectory())
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(expected))
    }
}
