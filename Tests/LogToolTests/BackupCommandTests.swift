import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct BackupCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 40, isLarge: true)
    }

    @Test(arguments: [false, true])
    func theCopyIsTheSameLog(isCompacted: Bool) throws {
        if isCompacted { #expect(try tool("compact", "L", "--keep", "5").exitCode == 0) }
        let run = try tool("backup", "L", "copies/one")
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("copied and verified: sequences 1 to "))
        for command in [["root"], ["replay", "--digest"], ["verify"], ["events", "--jsonl", "--payload"]] {
            let arguments = command.dropFirst()
            let original = try ToolRun.run([command[0], "L"] + arguments, in: folder)
            let copy = try ToolRun.run([command[0], "copies/one"] + arguments, in: folder)
            #expect(original.exitCode == 0)
            #expect(original.output == copy.output)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("copies")) == ["one"])
    }

    @Test func whatIsThereIsNotOverwritten() throws {
        let root = try tool("root", "L").output
        #expect(try tool("backup", "L", "L").exitCode == 2)
        #expect(try tool("backup", "L", "c.ndjson").exitCode == 2)
        #expect(try tool("root", "L").output == root)
        #expect(try tool("backup", "nowhere", "copy").exitCode == 10)
    }

    @Test func aDamagedLogGivesNoCopy() throws {
        let file = URL(filePath: folder.path("L/gen-000001/data.mdb"))
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("message 2".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "M")
        try bytes.write(to: file)
        let run = try tool("backup", "L", "copy")
        #expect(run.exitCode == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == ["L", "c.ndjson"])
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
