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
        #expect(try tool("verify", "L", "--json").output.contains(#""root":""#))
    }

    @Test func damagedDerivedDataIsRemovedAndSaid() throws {
        let cache = folder.url.appending(path: "L/cache-000001")
        try? FileManager.default.removeItem(at: cache)
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: false)
        try Data(repeating: 7, count: 16_384).write(to: cache.appending(path: "data.mdb"))
        let run = try tool("verify", "L", "--json")
        #expect(run.exitCode == 0)
        #expect(run.output.contains(#""derivedDamage":"page 0 of the data file: it is no meta page""#))
        #expect(run.errors.contains("removed derived data"))
        #expect(!FileManager.default.fileExists(atPath: cache.path))
        #expect(try !tool("verify", "L", "--json").output.contains("derivedDamage"))
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

    @Test func whatIsRightIsSalvaged() throws {
        let file = try #require(dataFile)
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("message 2".utf8)))
        bytes[place.lowerBound] = UInt8(ascii: "M")
        bytes.replaceSubrange(0..<8192, with: Data(count: 8192))
        try bytes.write(to: file)
        let run = try tool("salvage", "L", "-o", "saved", "--json")
        #expect(run.exitCode == 3)
        #expect(run.output.hasPrefix(#"{"held":4,"dropped":0,"lost":[{"from":"4","to":"4"}],"doubts":["#))
        #expect(run.output.contains(#"["no meta page can be read, so nothing counts the events"],"head":"5""#))
        #expect(try tool("verify", "saved").exitCode == 0)
        #expect(try tool("replay", "saved").output.contains("message 3"))
        #expect(try tool("salvage", "saved", "-o", "again").exitCode == 0)
        #expect(try tool("salvage", "saved", "-o", "again").exitCode == 2)
    }

    /// What is cut off would be mapped and lie behind the file's end: pages are looked at before anything is opened.
    @Test func aFileThatEndsEarlyEndsWith3() throws {
        let file = try #require(dataFile)
        let bytes = try Data(contentsOf: file)
        for count in [0, 100, 4096, 8192, 12_288, bytes.count / 2] {
            try bytes.prefix(count).write(to: file)
            let run = try tool("verify", "L", "--json")
            #expect(run.output.hasPrefix(#"{"intact":false,"#))
            #expect(!run.output.contains(#""root""#))
            #expect(run.exitCode == 3, "cut to \(count) bytes: \(run.errors)")
            #expect(run.errors.contains("page "))
        }
        try bytes.write(to: file)
        #expect(try tool("verify", "L").exitCode == 0)
    }

    @Test func anEmptiedPageNeverStopsTheCheckByASignal() throws {
        let file = try #require(dataFile)
        let bytes = try Data(contentsOf: file)
        var damaged = 0
        for page in stride(from: 0, to: bytes.count, by: 4096) {
            var altered = bytes
            altered.replaceSubrange(page..<min(page + 4096, bytes.count), with: repeatElement(0, count: 4096))
            try altered.write(to: file)
            let code = try tool("verify", "L").exitCode
            #expect(code == 3 || code == 0, "page \(page / 4096)")
            if code == 3 { damaged += 1 }
        }
        print("emptied pages: \(bytes.count / 4096) tried, \(damaged) reported")
        #expect(damaged >= 4)
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
