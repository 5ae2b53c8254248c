import Foundation
import Projections
import TestSupport
import Testing

@testable import CacheTables

@Suite struct CacheFileTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func theLinkLeadsToTheNewestFile() throws {
        let cache = CacheFile(path: folder.path("c.sqlite"))
        #expect(try cache.occupant() == .nothing)
        try cache.replace(write("one"))
        #expect(try cache.occupant() == .ours)
        #expect(try target == "c.sqlite.d/001.sqlite")
        try cache.replace(write("two"))
        #expect(try target == "c.sqlite.d/002.sqlite")
        #expect(try String(contentsOfFile: folder.path("c.sqlite"), encoding: .utf8) == "two")
    }

    @Test func aBuildThatFailsLeavesTheOldCache() throws {
        let cache = CacheFile(path: folder.path("c.sqlite"))
        try cache.replace(write("one"))
        #expect(throws: EngineError.self) {
            try cache.replace { path in
                try write("half")(path)
                throw EngineError("the disk is full")
            }
        }
        #expect(try String(contentsOfFile: folder.path("c.sqlite"), encoding: .utf8) == "one")
        #expect(try files == ["001.sqlite", "lock"])
    }

    @Test func whatAKilledRebuildLeftIsRemoved() throws {
        let cache = CacheFile(path: folder.path("c.sqlite"))
        try cache.replace(write("one"))
        try write("half")(folder.path("c.sqlite.d/007.sqlite.unfinished"))
        try cache.replace(write("two"))
        #expect(try !files.contains { $0.hasSuffix("unfinished") })
    }

    @Test func foreignFilesAreTold() throws {
        try write("precious")(folder.path("notes.sqlite"))
        #expect(try CacheFile(path: folder.path("notes.sqlite")).occupant() == .foreign)
        try FileManager.default.createSymbolicLink(atPath: folder.path("l.sqlite"), withDestinationPath: "notes.sqlite")
        #expect(try CacheFile(path: folder.path("l.sqlite")).occupant() == .foreign)
        #expect(throws: EngineError.self) { try CacheFile(path: folder.url.path).occupant() }
    }

    private func write(_ text: String) -> (String) throws -> Void {
        { try text.write(toFile: $0, atomically: false, encoding: .utf8) }
    }

    private var target: String {
        get throws { try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("c.sqlite")) }
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("c.sqlite.d")).sorted() }
    }
}
