import TestSupport
import Testing

@testable import logtool

@Suite struct CompletionTests {
    @Test(arguments: [
        (["events", "--", "--source"], ["logtool", "events", "L", "--source", ""], ["guild"]),
        (["events", "--", "--kind"], ["logtool", "events", "L", "--kind", ""], ["gateway.frame/1"]),
        (["replay", "--", "--source"], ["logtool", "replay", "L", "--source", ""], ["guild"]),
        (["diff", "--", "--source"], ["logtool", "diff", "L@3", "L", "--source", ""], ["guild"]),
        (["events", "--", "--source"], ["logtool", "events", "nowhere", "--source", ""], []),
    ])
    func namesAreReadFromTheLog(place: [String], words: [String], expected: [String]) throws {
        let folder = try TemporaryDirectory()
        try folder.makeLog(messages: 1)
        let index = String(words.count - 1)
        let run = try ToolRun.run(["---completion"] + place + [index, "0"] + words, in: folder)
        #expect(run.errors.isEmpty)
        #expect(run.output.split(separator: "\n").map(String.init) == expected)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func theScriptKnowsProfilesAndHelpTopics(shell: String) throws {
        let script = try ToolRun.run(["--generate-completion-script", shell], in: TemporaryDirectory()).output
        #expect(script.contains("retrocast-web"))
        for name in Help.commandNames { #expect(script.contains(name)) }
    }
}
