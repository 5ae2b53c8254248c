import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct UsageTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test(arguments: [
        ["frob"], ["help", "frob"], ["events"], ["events", "--frob", "L"], ["events", "L", "--from", "yesterday"],
        ["ingest", "L"], ["ingest", "L", "svn", "R"], ["ingest", "L", "git", "R", "--kind", "sse"],
        ["ingest", "L", "git", "R", "--wait", "soon"], ["ingest", "L", "capture", "F", "--branch", "b"],
        ["ingest", "L", "git", "R", "--as", "logtool"], ["events", "L", "--json", "--jsonl"],
    ])
    func aCommandLineThatCannotBeUnderstoodEndsWith2(arguments: [String]) throws {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("logtool: "))
        #expect(run.errors.contains("see: logtool help"))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test func withoutACommandTheCommandsAreListed() throws {
        let run = try ToolRun.run([], in: folder)
        #expect(run.exitCode == 2)
        #expect(run.output.isEmpty)
        for name in Help.commandNames { #expect(run.errors.contains("\n  \(name) ")) }
    }

    /// A number below 0 is no option of its own.
    @Test(arguments: [
        (["compact", "L", "--keep", "-1"], "0 or more"),
        (["play", "L", "--speed", "-1"], "a number such as 1 or 20, or max"),
    ])
    func aNumberOutOfRangeIsToldWhatIsAllowed(arguments: [String], allowed: String) throws {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 2)
        #expect(run.errors.contains(allowed))
    }

    @Test func theVersionIsOneLine() throws {
        let run = try ToolRun.run(["--version"], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output == "logtool 0.1.0\n")
    }

    @Test(arguments: [["help"]] + Help.commandNames.map { ["help", $0] })
    func helpBeginsWithExamplesAndIsKept(arguments: [String]) throws {
        let run = try ToolRun.run(arguments, in: folder)
        #expect(run.exitCode == 0)
        #expect(run.errors.isEmpty)
        #expect(run.output.hasPrefix("EXAMPLES:\n  logtool "))
        let name = arguments.dropFirst().first ?? "logtool"
        let golden = PackageRoot.url.appending(path: "Fixtures/cli/help/\(name).txt")
        #expect(Golden.difference(run.output, from: golden) == nil)
    }

    @Test(arguments: Help.commandNames)
    func theHelpOptionGivesTheSameText(command: String) throws {
        let long = try ToolRun.run([command, "--help"], in: folder)
        #expect(try ToolRun.run(["help", command], in: folder).output == long.output)
        #expect(try ToolRun.run([command, "-h"], in: folder).output == long.output)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsAreMadeForEachShell(shell: String) throws {
        let run = try ToolRun.run(["--generate-completion-script", shell], in: folder)
        #expect(run.exitCode == 0)
        #expect(run.output.contains("ingest"))
    }
}
