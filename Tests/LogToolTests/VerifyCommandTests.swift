import Foundation
import TestSupport
import Testing

@testable import logtool

@Suite struct VerifyCommandTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeLog(messages: 3)
    }

    @Test func aWholeLogEndsWith0() throws {
        let run = try tool("verify", "L")
        #expect(run.exitCode == 0)
        #expect(run.output.hasPrefix("intact: sequences 1 to 5, 5 whole, root "))
        #expect(try tool("verify", "L", "--json").output.hasPrefix(#"{"intact":true,"head":"5","whole":5"#))
    }

    @Test func aChangedPayloadEndsWith3() throws {
        let file = try #require(dataFile)
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("message 2".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "M")
        try bytes.write(to: file)
        let run = try tool("verify", "L")
        #expect(run.exitCode == 3)
        #expect(run.errors.contains("sequence 4"))
    }

    @Test func aKeptRootIsChecked() throws {
        try folder.write(tool("root", "L", "--json").output, to: "root.json")
        try folder.makeLog(messages: 5)
        #expect(try tool("verify", "L", "--against", "root.json").exitCode == 0)
        let hex = try #require(tool("root", "L").output.split(separator: " ").last).trimmingCharacters(in: .newlines)
        #expect(try tool("verify", "L", "--root", hex, "--size", "7").exitCode == 0)
        #expect(try tool("verify", "L", "--root", hex, "--size", "6").exitCode == 1)
        #expect(try tool("verify", "L", "--root", "abc", "--size", "6").exitCode == 2)
        #expect(try tool("verify", "L", "--against", "c.ndjson").exitCode == 2)
    }

    private var dataFile: URL? {
        let files = FileManager.default.enumerator(atPath: folder.path("L"))?.compactMap { $0 as? String } ?? []
        return files.first { $0.hasPrefix("gen-") && $0.hasSuffix("data.mdb") }
            .map { URL(filePath: folder.path("L/" + $0)) }
    }

    private func tool(_ arguments: String...) throws -> ToolRun {
        try ToolRun.run(arguments, in: folder)
    }
}
